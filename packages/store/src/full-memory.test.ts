/** Beside the scripts of lanes and queues: what ends accepted messages, or frees memory, runs in a full one. */
import { startRedis, type TestRedis } from '@fantail/test-kit'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Counts, connect, takeRole, whenReady } from './index.ts'

const MEMORY_BYTES = 16 * 1_048_576
let server: TestRedis
let redis: Redis
beforeAll(async () => {
  server = await startRedis({ args: ['--maxmemory', String(MEMORY_BYTES)] })
  redis = connect({ url: server.url, name: 'test' })
  await whenReady(redis)
  await redis.setrange('ballast', MEMORY_BYTES, 'x')
  await expect(redis.set('more', '1')).rejects.toThrow('OOM')
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

test('a message of a deleted topic is counted, so that its job can end', async () => {
  const counts = new Counts(redis)
  await counts.add('discarded:topicDeleted')
  await counts.add('discarded:topicDeleted')
  expect(await counts.read()).toEqual({ 'discarded:topicDeleted': 2 })
})

test('a role is taken by one process at a time, so that the sweep for old deliveries runs', async () => {
  const taken = await Promise.all([1, 2, 3].map(() => takeRole(redis, 'sweep', 60_000)))
  expect(taken.filter(Boolean)).toHaveLength(1)
})
