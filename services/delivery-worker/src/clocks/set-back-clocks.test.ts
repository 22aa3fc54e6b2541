import { createLogger } from '@fantail/runtime'
import { connect, readNow, SHARD_COUNT, shardBase } from '@fantail/store'
import { aheadKey, skewKey, waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { createShardClocks } from './set-back-clocks.ts'

const HOUR_MS = 3_600_000
const SHARD = 7
const OTHER_SHARD = 40

// One test keeps Redis busy. On a busy machine this may last longer than a command's usual time-out.
const { redis } = await useRedis({ connect: (options) => connect({ ...options, commandTimeoutMs: null }) })
beforeEach(() => redis.flushall())

async function setRedisTime(aheadMs: number): Promise<void> {
  for (let shard = 0; shard < SHARD_COUNT; shard++) await redis.set(skewKey(shardBase(shard)), aheadMs)
}

const log = createLogger({ service: 'test', level: 'silent' })

test('a clock of Redis that was set back is corrected in every shard, once, by any worker', async () => {
  await setRedisTime(HOUR_MS)
  const workers = [createShardClocks(redis, log), createShardClocks(redis, log)]
  const before = await readNow(redis, SHARD)
  for (const clocks of workers) clocks.report(SHARD, before)
  await setRedisTime(0)
  for (const clocks of workers) clocks.report(SHARD, await readNow(redis, SHARD))
  const isMadeUpFor = async () => (await readNow(redis, OTHER_SHARD)) >= before
  await waitFor(isMadeUpFor, { what: 'the shards to go on' })
  for (const shard of [SHARD, OTHER_SHARD]) {
    const now = await readNow(redis, shard)
    expect(now - before).toBeGreaterThanOrEqual(0)
    expect(now - before).toBeLessThan(10_000)
  }
  for (const clocks of workers) expect(clocks.now() - before).toBeLessThan(10_000)
})

test('all shards go on together, however long Redis takes for them', async () => {
  await setRedisTime(HOUR_MS)
  // Before every script for a shard, a command keeps Redis busy for about a millisecond. More would cut the connection
  // on a busy machine.
  const slow = new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      const command = value.bind(target) as (...args: unknown[]) => unknown
      if (name !== 'catch-up-1Buffer') return command
      return (...args: unknown[]) => {
        void target.eval('for _ = 1, 100000 do end', 0)
        return command(...args)
      }
    },
  })
  const clocks = createShardClocks(slow, log)
  clocks.report(SHARD, await readNow(redis, SHARD))
  await setRedisTime(0)
  const aheads = async () => {
    const found = Array.from({ length: SHARD_COUNT }, (_, shard) => redis.get(aheadKey(shardBase(shard))))
    return new Set(await Promise.all(found))
  }
  clocks.report(SHARD, await readNow(redis, SHARD))
  await waitFor(async () => !(await aheads()).has(null), { what: 'the shards to go on' })
  expect((await aheads()).size).toBe(1)
})

test('a worker whose own clock is ahead changes nothing', async () => {
  const clocks = createShardClocks(redis, log)
  const before = await readNow(redis, SHARD)
  clocks.report(SHARD, before - HOUR_MS)
  expect(clocks.now()).toBeLessThan(before - HOUR_MS + 10_000)
  clocks.report(SHARD, before)
  expect(await readNow(redis, SHARD)).toBeLessThan(before + 10_000)
})
