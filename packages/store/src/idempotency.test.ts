import { startRedis, type TestRedis } from '@fantail/test-kit'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, Idempotency, idempotencyKey, whenReady } from './index.ts'

const TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders'
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

test('the first claim of a key wins and holds for a day', async () => {
  const keys = new Idempotency(redis)
  const values = Array.from({ length: 8 }, (_, i) => ({ h: 'same', ids: [`id-${i}`] }))
  const winners = await Promise.all(values.map((value) => keys.claim(TOPIC, 'k', JSON.stringify(value))))
  expect(new Set(winners.map((winner) => winner.ids[0])).size).toBe(1)
  expect(await keys.find(TOPIC, 'k')).toEqual(winners[0])
  const seconds = await redis.ttl(idempotencyKey(TOPIC, 'k'))
  expect(seconds).toBeGreaterThan(86_300)
  expect(seconds).toBeLessThanOrEqual(86_400)
})

test('a key of one topic means nothing to another', async () => {
  const keys = new Idempotency(redis)
  await keys.claim(TOPIC, 'mine', JSON.stringify({ h: 'a', ids: ['1'] }))
  expect(await keys.find(`${TOPIC}-2`, 'mine')).toBeNull()
})
