import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RedisClock } from './redis-clock.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const REDIS_BEGAN = 1_700_000_000_000
const pass = (ms: number) => void vi.advanceTimersByTime(ms)
/** Redis's present time and the true difference of the two clocks, if Redis's clock has been set by `setMs`. */
const redisNow = (setMs = 0) => REDIS_BEGAN + performance.now() + setMs
const told = (clock: RedisClock, at = performance.now()) => clock.localTime(REDIS_BEGAN + at)

test('before the first reply, send times use the assumed time', () => {
  const clock = new RedisClock(redisNow())
  pass(100)
  expect(told(clock)).toBeCloseTo(performance.now(), 0)
})

test('a reply that was long on its way moves no send time', () => {
  const clock = new RedisClock()
  clock.report(redisNow())
  const now = redisNow()
  pass(300)
  clock.report(now)
  expect(told(clock)).toBeCloseTo(performance.now(), 0)
})

test('a faster reply than all before says more than they did', () => {
  const clock = new RedisClock()
  clock.report(redisNow(-40))
  clock.report(redisNow(-2))
  expect(told(clock)).toBeCloseTo(performance.now() + 2, 0)
})

test('a clock says how slow its fastest reply may have been', () => {
  const clock = new RedisClock()
  const asked = (agoMs: number, setMs = 0) => clock.report(redisNow(setMs - agoMs), performance.now() - agoMs)
  clock.report(redisNow())
  expect(clock.doubtMs).toBe(0)
  asked(40)
  expect(clock.doubtMs).toBe(0)
  asked(40, 60_000)
  expect(clock.doubtMs).toBeCloseTo(40, 0)
  asked(80, 60_000)
  expect(clock.doubtMs).toBeCloseTo(40, 0)
  asked(1, 60_000)
  expect(clock.doubtMs).toBeCloseTo(1, 0)
})

test('a clock that is set forward shows, and a reply that is a little faster than others does not', () => {
  const clock = new RedisClock()
  expect(clock.isSetForward(redisNow())).toBe(false)
  clock.report(redisNow(-100))
  expect(clock.isSetForward(redisNow())).toBe(false)
  expect(clock.isSetForward(redisNow(1_000))).toBe(true)
})

test.each([3_600_000, -3_600_000])('a clock that is set by %i ms is followed at once', (setMs) => {
  const clock = new RedisClock()
  clock.report(redisNow())
  clock.report(redisNow(setMs))
  expect(told(clock)).toBeCloseTo(performance.now() - setMs, 0)
  expect(clock.now()).toBeCloseTo(redisNow(setMs), 0)
})

test('clocks that drift apart stay together', () => {
  const clock = new RedisClock()
  for (let second = 0; second < 600; second++) {
    clock.report(redisNow(-second * 0.1))
    pass(1_000)
  }
  expect(told(clock)).toBeCloseTo(performance.now() + 60, -1)
})

test.each([-100, -500, -1_900])(
  'a clock that is set back by %i ms is followed as soon as it is asked',
  (setMs) => {
    const clock = new RedisClock()
    clock.report(redisNow())
    pass(1_000)
    const askedAt = performance.now()
    clock.report(redisNow(setMs), askedAt)
    expect(told(clock)).toBeCloseTo(performance.now() - setMs, 0)
  },
)

test('a reply that was long on its way moves no send time where it is known when it was asked for either', () => {
  const clock = new RedisClock()
  clock.report(redisNow())
  const askedAt = performance.now()
  pass(20)
  const now = Math.floor(redisNow())
  pass(300)
  clock.report(now, askedAt)
  expect(told(clock)).toBeCloseTo(performance.now(), 0)
})
