import { waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { connect, readTopicBytes, StorageGuard, shardBase } from '../index.ts'
import { topicBytesKey } from '../keys/keys.ts'
import { parseMemory } from './storage-guard.ts'

const { redis } = await useRedis({ connect, args: ['--maxmemory', '32mb'] })

test('refuses from three quarters of maxmemory and admits again below', async () => {
  const states: string[] = []
  const guard = new StorageGuard({ redis, onState: (state) => states.push(state) })
  await guard.admit()
  await redis.setrange('ballast', 26_000_000, 'x')
  const refusal = await waitFor(() => refused(guard), { what: 'a refusal' })
  expect(refusal).toMatchObject({ code: 'storage_full', status: 503, retryAfterSeconds: 5 })
  await redis.del('ballast')
  await waitFor(async () => (await refused(guard)) === undefined, { what: 'to be admitted again' })
  expect(states).toEqual(['full', 'free'])
})

test('a dead letter is refused only where dead letters have used up what they may', async () => {
  let usedBytes = 100
  const info = async () => `used_memory:${usedBytes}\r\nmaxmemory:100\r\n`
  let now = 0
  const guard = new StorageGuard({ redis: { info } as unknown as Redis, now: () => now })
  await guard.admitDeadLetter()
  await expect(refused(guard)).resolves.toMatchObject({ code: 'storage_full' })
  usedBytes = 105
  now += 2_000
  await expect(guard.admitDeadLetter()).rejects.toMatchObject({ code: 'storage_full', status: 503 })
  usedBytes = 104
  now += 2_000
  await guard.admitDeadLetter()
})

test('samples at most four times a second, and never without publishes', async () => {
  let now = 0
  let samples = 0
  const info = async () => {
    samples += 1
    return 'used_memory:1\r\nmaxmemory:100\r\n'
  }
  const guard = new StorageGuard({ redis: { info } as unknown as Redis, now: () => now })
  await guard.admit()
  for (now = 1; now <= 1_000; now += 1) await guard.admit()
  expect(samples).toBe(4)
})

test('the limit is maxmemory, else the setting, else half of the host', () => {
  const info = (maxmemory: number) =>
    `used_memory:10\r\nused_memory_rss:11\r\ntotal_system_memory:1000\r\nmaxmemory:${maxmemory}\r\n`
  expect(parseMemory(info(400), 300)).toEqual({ usedBytes: 10, limitBytes: 400 })
  expect(parseMemory(info(0), 300)).toEqual({ usedBytes: 10, limitBytes: 300 })
  expect(parseMemory(info(0))).toEqual({ usedBytes: 10, limitBytes: 500 })
})

test('a Redis that is away refuses nothing here', async () => {
  const info = async () => {
    throw new Error('Connection is closed.')
  }
  const guard = new StorageGuard({ redis: { info } as unknown as Redis })
  await expect(guard.admit()).resolves.toBeUndefined()
})

async function refused(guard: StorageGuard): Promise<unknown> {
  try {
    await guard.admit()
    return undefined
  } catch (error) {
    return error
  }
}

test('a topic that fills more than its share is refused alone, until it has been drained', async () => {
  let now = 0
  const bytes = new Map([
    ['greedy', 20],
    ['modest', 18],
  ])
  const info = async () => 'used_memory:40\r\nmaxmemory:100\r\n'
  const redis = { info } as unknown as Redis
  const guard = new StorageGuard({ redis, topicBytes: async () => bytes, now: () => now })
  await guard.admit()
  expect(() => guard.admit('greedy')).toThrow(expect.objectContaining({ code: 'rate_limited', status: 429 }))
  expect(guard.admit('modest')).toBeUndefined()
  bytes.set('greedy', 10)
  now += 1_001
  await guard.admit('modest')
  expect(guard.admit('greedy')).toBeUndefined()
})

test('bytes of a topic are added up over the shards', async () => {
  await redis.hset(topicBytesKey(shardBase(0)), { a: 5 })
  await redis.hset(topicBytesKey(shardBase(47)), { a: 7, b: 1 })
  expect(Object.fromEntries(await readTopicBytes(redis))).toEqual({ a: 12, b: 1 })
})
