/** Lanes on the Redis of a test file. It is emptied before each test, and has one slice. */
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach } from 'vitest'
import { claimsOf, SHARD, skew, takeFrom, writeSlice } from './lane.fixture.ts'
import { Lanes } from './lanes.ts'
import type { RetryState, SettleTo } from './records/lane-records.ts'

export type TestClaim = ReturnType<typeof claimsOf>[number]

/** The state of a delivery that has failed once, as it is parked. */
export const failedOnce = (error: string | null = 'http_500'): RetryState => ({
  kind: 'retry',
  attempts: 1,
  statusCode: 500,
  error,
})
export const asRetry = (state = failedOnce(), delayMs = 0) => ({ as: 'retry', delayMs, state }) as const

export async function useLanes(slice: Parameters<typeof writeSlice>[1] = {}) {
  const { server, redis } = await useRedis()
  const lanes = new Lanes(redis)
  let aheadMs = 0
  beforeEach(async () => {
    aheadMs = 0
    await redis.flushall()
    await writeSlice(redis, slice)
  })
  return {
    server,
    redis,
    lanes,
    /** Moves Redis's time by `ms`, forwards or back. */
    later: async (ms: number) => {
      aheadMs += ms
      await skew(redis, aheadMs)
    },
    /** All that is due, claimed. */
    claimDue: async () => claimsOf(await takeFrom(lanes)),
    settleAll: (claims: TestClaim[], to: SettleTo) =>
      lanes.settle(
        SHARD,
        claims.map((claim) => ({ ...claim, to })),
      ),
  }
}
