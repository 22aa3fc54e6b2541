import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ShardClocks } from './shard-clocks.ts'

const HOUR_MS = 3_600_000

// Time moves only if the test moves it, however busy the machine is.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }))
afterEach(() => void vi.useRealTimers())

test('shards use the clock of their own master', () => {
  const clocks = new ShardClocks((shard) => (shard < 2 ? 'a' : 'b'))
  const now = Date.now()
  clocks.report(0, now)
  clocks.report(2, now + HOUR_MS)
  expect(clocks.of(1).now()).toBe(now)
  expect(clocks.of(3).now()).toBe(now + HOUR_MS)
  expect(clocks.of(3).localTime(now + HOUR_MS)).toBe(clocks.of(1).localTime(now))
  vi.advanceTimersByTime(250)
  expect(clocks.of(1).now()).toBe(now + 250)
})

test('a master without a reply counts as far as the furthest', () => {
  const clocks = new ShardClocks(String)
  clocks.report(0, Date.now() - HOUR_MS)
  clocks.report(1, Date.now() + HOUR_MS)
  expect(clocks.of(2).now()).toBe(Date.now() + HOUR_MS)
  clocks.report(2, Date.now())
  expect(clocks.of(2).now()).toBe(Date.now())
})
