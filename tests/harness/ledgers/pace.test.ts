import { expect, test } from 'vitest'
import { lowestPace, mostUnexplained } from './pace.ts'

const RATE = 20
const GAP_MS = 50
const COUNT = 400
const START = 1_700_000_000_000
const STALLED_AT = START + 5_000

const even = (gapMs = GAP_MS) => Array.from({ length: COUNT }, (_, n) => START + n * gapMs)
/** A schedule in which all sends after STALLED_AT are `ms` later. */
const stalled = (ms: number) => even().map((time) => (time > STALLED_AT ? time + ms : time))
const stall = (ms: number, at = STALLED_AT) => ({ from: at, to: at + ms, ms })
const pace = (times: number[], stalls = [stall(0)]) =>
  lowestPace(times, { rate: RATE, windowMs: 10_000, stalls })

test('an even lane has its rate', () => {
  expect(pace(even())).toBeCloseTo(RATE, 6)
})

test('sends that are late, each for itself, lose nothing', () => {
  const jittered = even().map((time, n) => time + (n % 7 === 3 ? 90 : 0))
  expect(pace(jittered)).toBeCloseTo(RATE, 6)
})

test('a slower lane has a lower rate', () => {
  expect(pace(even(1_000 / 19))).toBeCloseTo(19, 0)
  expect(pace(even(1_000 / 19))).toBeLessThan(19.4)
})

test('a lane that stands still without a stall has a lower rate', () => {
  expect(pace(stalled(600))).toBeCloseTo(RATE * 0.94, 6)
})

test('a lane that stands still in a stall has its rate', () => {
  expect(pace(stalled(600), [stall(600)])).toBeCloseTo(RATE, 6)
})

test('a stall explains no more than its length, and once', () => {
  expect(pace(stalled(600), [stall(200)])).toBeCloseTo(RATE * 0.96, 6)
  const twice = stalled(300).map((time, n) => (n > 102 ? time + 300 : time))
  expect(pace(twice, [stall(300)])).toBeCloseTo(RATE * 0.97, 6)
})

test('a stall at another time explains nothing', () => {
  expect(pace(stalled(600), [stall(600, STALLED_AT - 2_000), stall(600, STALLED_AT + 2_000)])).toBeCloseTo(
    RATE * 0.94,
    6,
  )
})

test('stalls do not raise the rate', () => {
  const stalls = Array.from({ length: 200 }, (_, n) => stall(100, START + n * 100))
  expect(pace(even(), stalls)).toBeCloseTo(RATE, 6)
})

test('times that are too few have no rate', () => {
  expect(() => pace(even().slice(0, 100))).toThrow(RangeError)
})

const most = (times: number[], stalls = [stall(0)]) =>
  mostUnexplained(times, { rate: RATE, windowMs: 1_000, stalls })

test('times that come closer together count in full without a stall', () => {
  expect(most(even())).toBe(RATE)
  const crowded = even().map((time) => (time > STALLED_AT ? time - 200 : time))
  expect(most(crowded)).toBe(RATE + 4)
  expect(most(crowded, [stall(500, STALLED_AT + 5_000)])).toBe(RATE + 4)
})

test('a stall explains one time for each gap that it lasted', () => {
  const crowded = even().map((time) => (time > STALLED_AT - 200 && time < STALLED_AT ? STALLED_AT : time))
  expect(most(crowded)).toBe(RATE + 3)
  expect(most(crowded, [stall(100)])).toBe(RATE + 1)
})
