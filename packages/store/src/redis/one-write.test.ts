import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
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

/**
 * ioredis kept each command, with its reply, until the whole heap was collected (infra/patches). A process of its own
 * measures that, because in a process that has run other tests V8 may create objects in the old generation from the
 * start.
 */
test('answered commands leave memory with the young generation', async () => {
  const server = await startRedis()
  const measure = fileURLToPath(new URL('./answered-commands.fixture.ts', import.meta.url))
  const words = ['--expose-gc', '--conditions=@fantail/source', measure, server.url]
  const { stdout } = await promisify(execFile)(process.execPath, words)
  const grown = JSON.parse(stdout) as number[]
  expect(grown).toHaveLength(3)
  for (const bytes of grown) expect(bytes).toBeLessThan(200)
  await server.stop()
})
