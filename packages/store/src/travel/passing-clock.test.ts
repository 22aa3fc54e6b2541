import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PassingTime } from './passing-clock.ts'

const HOUR_MS = 3_600_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function timersOf(time: PassingTime, ...delays: number[]) {
  const ran: number[] = []
  const timers = delays.map((ms) => time.after(ms, () => void ran.push(ms)))
  return { ran, timers }
}

test('without a move it is the monotonic clock, and timers run at their times', () => {
  const time = new PassingTime()
  const { ran } = timersOf(time, 20, 10)
  expect(time.now()).toBe(performance.now())
  expect(time.nextInMs).toBe(10)
  vi.advanceTimersByTime(10)
  expect(ran).toEqual([10])
  vi.advanceTimersByTime(10)
  expect([ran, time.nextInMs]).toEqual([[10, 20], null])
})

test('a move runs what is due in the order of times, and brings the rest nearer', () => {
  const time = new PassingTime()
  const { ran } = timersOf(time, 3_000, 1_000, 5_000)
  time.moveTo(3_000)
  expect([ran, time.nextInMs]).toEqual([[1_000, 3_000], 2_000])
  vi.advanceTimersByTime(2_000)
  expect(ran).toEqual([1_000, 3_000, 5_000])
  expect(time.now()).toBe(performance.now() + 3_000)
  expect(time.realOf(10_000)).toBe(7_000)
})

test('a timer that was canceled does not run, even by an earlier one of the same move', () => {
  const time = new PassingTime()
  const { ran, timers } = timersOf(time, 2_000)
  time.after(1_000, () => timers[0]?.cancel())
  time.moveTo(HOUR_MS)
  expect([ran, time.nextInMs]).toEqual([[], null])
})

test('a timer may be longer than the timers of the runtime', () => {
  const time = new PassingTime()
  const days = 40 * 24 * HOUR_MS
  const { ran } = timersOf(time, days)
  vi.advanceTimersByTime(days - 1)
  expect(ran).toEqual([])
  vi.advanceTimersByTime(1)
  expect(ran).toEqual([days])
})
