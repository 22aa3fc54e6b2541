import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { decodeCursor, encodeCursor, SHARD_COUNT, shardBase, shardOf } from '../index.ts'
import { listNames } from './pages.ts'

const key = (base: string) => `${base}names`

const { redis } = await useRedis()

test('names of all shards come in one order, also where one shard has most of them', async () => {
  const names = Array.from({ length: 1_500 }, (_, i) => `n${String(i).padStart(4, '0')}`)
  const write = redis.pipeline()
  for (const [i, name] of names.entries()) {
    const shard = i < 200 ? SHARD_COUNT - 1 : shardOf(name)
    write.zadd(key(shardBase(shard)), 0, name)
  }
  await write.exec()
  // Pages of one name ask all shards, so they are used only near the end of the large shard and of all names.
  const walks = [
    { limit: 1, from: 180, to: 220 },
    { limit: 1, from: 1_480, to: 1_500 },
    { limit: 10, from: 0, to: 1_500 },
    { limit: 101, from: 0, to: 1_500 },
  ]
  for (const { limit, from, to } of walks) {
    const found: string[] = []
    for (let page = ['']; page.length > 0 && found.length < to - from; ) {
      page = await listNames(redis, { key, prefix: '', after: found.at(-1) ?? names[from - 1] ?? '', limit })
      found.push(...page)
    }
    expect(found).toEqual(names.slice(from, to))
  }
  expect(await listNames(redis, { key, prefix: '', after: 'n1499', limit: 1 })).toEqual([])
  const some = await listNames(redis, { key, prefix: 'n01', after: 'n0109', limit: 500 })
  expect(some).toEqual(names.slice(110, 200))
  expect(await listNames(redis, { key, prefix: 'n01', after: 'a', limit: 1 })).toEqual(['n0100'])
})

test('a cursor gives back what was put into it', () => {
  const parts = ['arn:aws:sns:us-east-1:000000000000:a', '3', 'é"']
  expect(decodeCursor(encodeCursor(parts), 3)).toEqual(parts)
  expect(() => decodeCursor(encodeCursor(parts), 2)).toThrow('cursor')
})
