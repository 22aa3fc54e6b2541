import { createLogger } from '@fantail/runtime'
import { connect, type Redis, readNow, SHARD_COUNT, shardBase, skewKey, whenReady } from '@fantail/store'
import { startRedis, type TestRedis, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createShardClocks } from './set-back-clocks.ts'

const HOUR_MS = 3_600_000
const SHARD = 7
const OTHER_SHARD = 40

let server: TestRedis
let redis: Redis
beforeAll(async () => {
  server = await startRedis()
  redis = connect({ url: server.url, name: 'test' })
  await whenReady(redis)
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

async function setRedisTime(aheadMs: number): Promise<void> {
  for (let shard = 0; shard < SHARD_COUNT; shard++) await redis.set(skewKey(shardBase(shard)), aheadMs)
}

const log = createLogger({ service: 'test', level: 'silent' })

test('a clock of Redis that is set back is made up for in every shard, once, whoever sees it', async () => {
  await setRedisTime(HOUR_MS)
  const workers = [createShardClocks(redis, log), createShardClocks(redis, log)]
  const before = await readNow(redis, SHARD)
  for (const clocks of workers) clocks.tell(SHARD, before)
  await setRedisTime(0)
  for (const clocks of workers) clocks.tell(SHARD, await readNow(redis, SHARD))
  const isMadeUpFor = async () => (await readNow(redis, OTHER_SHARD)) >= before
  await waitFor(isMadeUpFor, { what: 'the shards to go on' })
  for (const shard of [SHARD, OTHER_SHARD]) {
    const now = await readNow(redis, shard)
    expect(now - before).toBeGreaterThanOrEqual(0)
    expect(now - before).toBeLessThan(10_000)
  }
  for (const clocks of workers) expect(clocks.now() - before).toBeLessThan(10_000)
})

test('a worker that begins with a clock of its own that is ahead changes nothing', async () => {
  const clocks = createShardClocks(redis, log)
  const before = await readNow(redis, SHARD)
  clocks.tell(SHARD, before - HOUR_MS)
  expect(clocks.now()).toBeLessThan(before - HOUR_MS + 10_000)
  clocks.tell(SHARD, before)
  expect(await readNow(redis, SHARD)).toBeLessThan(before + 10_000)
})
