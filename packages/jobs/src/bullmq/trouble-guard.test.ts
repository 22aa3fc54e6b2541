import type { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { TroubleGuard } from './trouble-guard.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** The longest pause between two probes lasts 2 s. */
const BEYOND_ANY_PAUSE_MS = 5_000
const OOM = new Error("OOM command not allowed when used memory > 'maxmemory'.")

/** A guard and a fake Redis, whose next write ends as the test says. */
function createGuard() {
  const writes: PromiseWithResolvers<unknown>[] = []
  const write = () => {
    const outcome = Promise.withResolvers<unknown>()
    writes.push(outcome)
    return outcome.promise
  }
  const calls: string[] = []
  const worker = {
    name: 'dispatch-0',
    pause: async () => void calls.push('pause'),
    resume: async () => void calls.push('resume'),
  }
  const log = { warn: () => undefined, info: () => undefined }
  return { guard: new TroubleGuard(worker, { eval: write } as unknown as Redis, log), writes, calls }
}

test('pauses its worker until a write succeeds', async () => {
  const { guard, writes, calls } = createGuard()
  expect(guard.notice(OOM)).toBe(true)
  await vi.advanceTimersByTimeAsync(100)
  writes[0]?.reject(OOM)
  await vi.advanceTimersByTimeAsync(200)
  expect(calls).toEqual(['pause'])
  writes[1]?.resolve('OK')
  await vi.advanceTimersByTimeAsync(0)
  expect(calls).toEqual(['pause', 'resume'])
})

test.each(['fails', 'succeeds'])('a guard that is stopped during a probe that then %s, ends', async (how) => {
  const { guard, writes, calls } = createGuard()
  guard.notice(OOM)
  await vi.advanceTimersByTimeAsync(100)
  guard.stop()
  if (how === 'fails') writes[0]?.reject(OOM)
  else writes[0]?.resolve('OK')
  await vi.advanceTimersByTimeAsync(BEYOND_ANY_PAUSE_MS)
  expect([writes.length, calls]).toEqual([1, ['pause']])
})

test('a guard that is stopped before its probe writes none', async () => {
  const { guard, writes, calls } = createGuard()
  guard.notice(OOM)
  guard.stop()
  await vi.advanceTimersByTimeAsync(BEYOND_ANY_PAUSE_MS)
  expect([writes.length, calls]).toEqual([0, ['pause']])
})

test('errors after the stop begin no probing', async () => {
  const { guard, writes, calls } = createGuard()
  guard.stop()
  expect(guard.notice(OOM)).toBe(true)
  await vi.advanceTimersByTimeAsync(BEYOND_ANY_PAUSE_MS)
  expect([writes.length, calls]).toEqual([0, []])
})
