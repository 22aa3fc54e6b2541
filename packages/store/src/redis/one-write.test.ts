import { startRedis } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { connect, inOneWrite, whenReady } from '../index.ts'

test('commands of several askers leave together, also where one of them throws', async () => {
  const server = await startRedis()
  const redis = connect({ url: server.url, name: 'test' })
  await whenReady(redis)
  const { answers, corked } = inOneWrite(redis, () => ({
    answers: [redis.incr('a'), redis.pipeline().incr('b').exec(), redis.incr('a')],
    corked: redis.stream.writableCorked,
  }))
  expect([corked, redis.stream.writableCorked]).toEqual([1, 0])
  expect(await Promise.all(answers)).toEqual([1, [[null, 1]], 2])
  const fails = () => {
    throw new Error('asked wrongly')
  }
  expect(() => inOneWrite(redis, fails)).toThrow('asked wrongly')
  expect(redis.stream.writableCorked).toBe(0)
  redis.disconnect()
  await server.stop()
})

test('a connection that is not there yet is no obstacle', async () => {
  const redis = connect({ url: 'redis://127.0.0.1:1', name: 'test' })
  redis.on('error', () => undefined)
  expect(inOneWrite(redis, () => 'asked')).toBe('asked')
  redis.disconnect()
})
