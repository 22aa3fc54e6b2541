import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeAll, expect, test } from 'vitest'
import { makeMessage, parkAll, writeLane, writeSlice } from './lane.fixture.ts'
import { Lanes } from './lanes.ts'
import type { ParkAs } from './records/lane-records.ts'

/**
 * Just below a power of two, hash tables are well filled, and just above it they are half empty. This number is in
 * between.
 */
const DELIVERIES = 12_000
const CHUNK = 1_000

const { redis } = await useRedis()
beforeAll(async () => {
  await writeSlice(redis)
})

async function usedBytes(): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
}

/** Bytes that a delivery adds if its message is already stored for another lane. */
async function bytesPerDelivery(park: ParkAs): Promise<number> {
  const lanes = new Lanes(redis)
  const [first, second] = [await writeLane(redis), await writeLane(redis)]
  const messages = Array.from({ length: DELIVERIES }, () => makeMessage())
  const parkIn = async (id: string, as?: ParkAs) => {
    for (let i = 0; i < DELIVERIES; i += CHUNK) await parkAll(lanes, [id], messages.slice(i, i + CHUNK), as)
  }
  await parkIn(first)
  const before = await usedBytes()
  await parkIn(second, park)
  return ((await usedBytes()) - before) / DELIVERIES
}

test('a waiting delivery costs at most 150 bytes, one with a retry state at most 230', async () => {
  const why = { cause: 'backoff', delayMs: 60_000 } as const
  const state = { kind: 'retry', attempts: 12, statusCode: 503, error: null, why } as const
  const fresh = await bytesPerDelivery({ as: 'fresh' })
  const retry = await bytesPerDelivery({ as: 'retry', delayMs: 60_000, state })
  expect(fresh).toBeLessThanOrEqual(150)
  expect(retry).toBeLessThanOrEqual(230)
})
