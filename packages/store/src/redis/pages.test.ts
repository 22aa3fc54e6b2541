import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { decodeCursor, encodeCursor, SHARD_COUNT, shardBase, shardOf } from '../index.ts'
import { listNames } from './pages.ts'

const key = (base: string) => `${base}names`

const { redis } = await useRedis()

test('names of all shards come in one order, also where one shard has most of them', async () => {
  const names = Array.from({ length: 1_500 }, (_, i) => `n${String(i).padStart(4, '0')}`)
  for (const [i, name] of names.entries()) {
    const shard = i < 200 ? SHARD_COUNT - 1 : shardOf(name)
    await redis.zadd(key(shardBase(shard)), 0, name)
  }
  for (const limit of [1, 10, 101]) {
    const found: string[] = []
    for (;;) {
      const page = await listNames(redis, { key, prefix: '', after: found.at(-1) ?? '', limit })
      found.push(...page)
      if (page.length < limit) break
    }
    expect(found).toEqual(names)
  }
  const some = await listNames(redis, { key, prefix: 'n01', after: 'n0109', limit: 500 })
  expect(some).toEqual(names.slice(110, 200))
  expect(await listNames(redis, { key, prefix: 'n01', after: 'a', limit: 1 })).toEqual(['n0100'])
})

test('a cursor gives back what was put into it', () => {
  const parts = ['arn:aws:sns:us-east-1:000000000000:a', '3', 'é"']
  expect(decodeCursor(encodeCursor(parts), 3)).toEqual(parts)
  expect(() => decodeCursor(encodeCursor(parts), 2)).toThrow('cursor')
})
