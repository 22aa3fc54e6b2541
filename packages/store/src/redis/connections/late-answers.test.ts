import { standStill } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { connect, connectTo, whenReady } from '../../index.ts'

const { server } = await useRedis()

test.each([
  { name: 'the timeout of a command', commandTimeoutMs: 50, pauseMs: 120 },
  { name: 'the silence that replaces a connection', commandTimeoutMs: null, pauseMs: 2_100 },
])('a pause beyond $name loses no answer', async ({ commandTimeoutMs, pauseMs }) => {
  const redis = connect({ url: server.url, name: 'test', commandTimeoutMs })
  await whenReady(redis)
  let closed = 0
  redis.on('close', () => closed++)
  const answer = redis.ping()
  standStill(pauseMs)
  expect(await answer).toBe('PONG')
  expect(await redis.ping()).toBe('PONG')
  expect(closed).toBe(0)
  redis.disconnect()
})

test('a command without an answer still fails', async () => {
  const redis = connectTo({ url: server.url, name: 'test', commandTimeoutMs: 50 }, '')
  await whenReady(redis)
  await expect(redis.blpop('nothing', 0)).rejects.toThrow('Command timed out')
  redis.disconnect()
})
