import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { currentConnection, noteAnswer, watchRead } from './liveness.ts'

beforeEach(() => {
  vi.useFakeTimers()
  noteAnswer(200)
})
afterEach(() => vi.useRealTimers())

test('a read without an answer makes the light stale long before it ends, and the next answer makes it live', async () => {
  const answer = Promise.withResolvers<void>()
  const read = watchRead(answer.promise)
  await vi.advanceTimersByTimeAsync(3_900)
  expect(currentConnection()).toEqual({ state: 'live' })
  await vi.advanceTimersByTimeAsync(200)
  expect(currentConnection()).toMatchObject({ state: 'stale', since: expect.any(Number) })
  noteAnswer(200)
  expect(currentConnection()).toEqual({ state: 'live' })
  answer.resolve()
  await read
})

test('a read that is answered or given up in time leaves the light as it is', async () => {
  await watchRead(Promise.resolve())
  await expect(watchRead(Promise.reject(new Error('given up')))).rejects.toThrow('given up')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(currentConnection()).toEqual({ state: 'live' })
})
