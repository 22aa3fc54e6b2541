import { FantailError } from '@fantail/contracts'
import { connect, whenReady } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, onTestFinished, test } from 'vitest'
import { errorResponse, invalid, toFantailError } from './error-answers.ts'

test.each([
  ["OOM command not allowed when used memory > 'maxmemory'.", 'storage_full', 5],
  ["READONLY You can't write against a read only replica.", 'storage_unavailable', 1],
  ['LOADING Redis is loading the dataset in memory', 'storage_unavailable', 1],
  ['MISCONF Redis is configured to save RDB snapshots', 'storage_unavailable', 1],
  ['CLUSTERDOWN The cluster is down', 'storage_unavailable', 1],
  ['Connection is closed.', 'storage_unavailable', 1],
  ['Command timed out', 'storage_unavailable', 1],
  ["Stream isn't writeable and enableOfflineQueue options is false", 'storage_unavailable', 1],
  ["Cluster isn't ready and enableOfflineQueue options is false", 'storage_unavailable', 1],
  ['Cluster is ended.', 'storage_unavailable', 1],
  ['connect ECONNREFUSED 127.0.0.1:6379', 'storage_unavailable', 1],
  ['read ECONNRESET', 'storage_unavailable', 1],
  ['WRONGTYPE Operation against a key holding the wrong kind of value', 'internal', undefined],
  ['ERR unknown command', 'internal', undefined],
])('%s becomes %s', (message, code, retryAfterSeconds) => {
  const cause = new Error(message)
  expect(toFantailError(cause)).toMatchObject({ code, retryAfterSeconds, cause })
})

test('a connection that breaks in the middle of a pipeline is a storage that does not answer', async () => {
  const { server, redis: other } = await useRedis()
  const redis = connect({ url: server.url, name: 'broken' })
  onTestFinished(() => redis.disconnect())
  await whenReady(redis)
  const answered = redis.pipeline().ping().blpop('nothing', 0).exec()
  await waitFor(async () => String(await other.client('LIST')).includes('cmd=blpop'))
  await other.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  const [[, pong] = [], [error] = []] = (await answered) ?? []
  expect(pong).toBe('PONG')
  expect(toFantailError(error)).toMatchObject({ code: 'storage_unavailable' })
})

test.each(['Connection is closed.', 'LOADING Redis is loading the dataset in memory'])(
  '%s says what became of a change only to who asked for one',
  (message) => {
    const told = (method: string) => toFantailError(new Error(message), method).message
    expect(told('PATCH')).toMatch(/nothing was changed|may or may not have been made/)
    for (const method of ['GET', 'HEAD']) expect(told(method)).toBe('storage does not answer at the moment')
  },
)

test('an unexpected error reveals nothing to a client', async () => {
  const response = errorResponse(toFantailError(new TypeError('secret is undefined')), 'r-1')
  expect(response.status).toBe(500)
  expect(await response.json()).toEqual({
    error: { code: 'internal', message: 'something went wrong on our side' },
    requestId: 'r-1',
  })
})

test('all problems are in the details, the first of them in the message', () => {
  const problems = ['a', 'b', 'c', 'd', 'e'].map((path) => ({ path, message: 'is bad' }))
  const error = invalid(problems)
  expect(error).toMatchObject({ code: 'validation_failed', details: problems })
  expect(error.message).toBe('a is bad; b is bad; c is bad; and 2 more')
})

test('an error that is meant for clients is passed on as it is', () => {
  const error = new FantailError('wrong_state', 'x')
  expect(toFantailError(error)).toBe(error)
})
