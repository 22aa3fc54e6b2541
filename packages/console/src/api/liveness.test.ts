import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { currentConnection, noteAnswer, noteSilence, watchRead } from './liveness.ts'

beforeEach(() => {
  vi.useFakeTimers()
  noteAnswer(200)
})
afterEach(() => vi.useRealTimers())

test('a read without an answer makes the light stale long before it ends, and the next answer makes it live', async () => {
  const answer = Promise.withResolvers<void>()
  const read = watchRead(answer.promise)
  await vi.advanceTimersByTimeAsync(7_900)
  expect(currentConnection()).toEqual({ state: 'live' })
  await vi.advanceTimersByTimeAsync(200)
  expect(currentConnection()).toMatchObject({ state: 'stale', since: expect.any(Number) })
  noteAnswer(200)
  expect(currentConnection()).toEqual({ state: 'live' })
  answer.resolve()
  await read
})

test('the second missed answer in a row makes the light stale, and those of one moment are one', async () => {
  for (const miss of [noteSilence, () => noteAnswer(503), noteSilence]) miss()
  expect(currentConnection()).toEqual({ state: 'live' })
  noteAnswer(200)
  await vi.advanceTimersByTimeAsync(2_000)
  noteSilence()
  expect(currentConnection()).toEqual({ state: 'live' })
  await vi.advanceTimersByTimeAsync(2_000)
  noteAnswer(503)
  expect(currentConnection()).toMatchObject({ state: 'stale' })
})

test('a read that is answered or given up in time leaves the light as it is', async () => {
  await watchRead(Promise.resolve())
  await expect(watchRead(Promise.reject(new Error('given up')))).rejects.toThrow('given up')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(currentConnection()).toEqual({ state: 'live' })
})
