import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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
 * ioredis kept each command, with its reply, until the whole heap was collected (infra/patches). A command leaves this
 * much in every round. Other work of the process, such as code that is compiled, at times adds a third of a megabyte to
 * a round, and seldom frees as much. So the round with the second smallest growth counts.
 */
test('answered commands leave memory with the young generation', async () => {
  const server = await startRedis()
  const redis = connect({ url: server.url, name: 'test' })
  await whenReady(redis)
  await redis.set('key', 'x'.repeat(1_000))
  redis.defineCommand('readByScript', { numberOfKeys: 1, lua: "return redis.call('GET', KEYS[1])" })
  const { readByScript } = redis as unknown as { readByScript(key: string): Promise<string> }
  const asks = [
    () => redis.get('key'),
    () => readByScript.call(redis, 'key'),
    () => redis.multi().get('key').exec(),
  ]
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void
  const oldBytes = () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ??
    Number.NaN
  const grown: number[] = []
  for (const ask of asks) {
    const rounds: number[] = []
    while (rounds.length < 5) {
      collect({ type: 'major' })
      const before = oldBytes()
      for (let n = 0; n < 500; n++) await ask()
      collect({ type: 'minor' })
      collect({ type: 'minor' })
      rounds.push((oldBytes() - before) / 500)
    }
    grown.push(rounds.toSorted((a, b) => a - b)[1] ?? Number.NaN)
  }
  for (const bytes of grown) expect(bytes).toBeLessThan(200)
  redis.disconnect()
  await server.stop()
})
