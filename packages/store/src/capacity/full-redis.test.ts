/**
 * Scripts outside of lanes and queues that must run when Redis is full. They finish accepted messages, or free memory.
 */
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeAll, expect, test } from 'vitest'
import { Counts, connect, takeRole } from '../index.ts'

const MEMORY_BYTES = 16 * 1_048_576
const { redis } = await useRedis({ connect, args: ['--maxmemory', String(MEMORY_BYTES)] })
beforeAll(async () => {
  await redis.setrange('ballast', MEMORY_BYTES, 'x')
  await expect(redis.set('more', '1')).rejects.toThrow('OOM')
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
