import { expect, test } from 'vitest'
import type { LaneFigures } from '../records/lane-records.ts'
import { drainOf } from './drain.ts'
import { NO_LANE } from './lane-figures.ts'

const LANE: LaneFigures = { ...NO_LANE, waiting: 100, oldestPublishedAt: 1 }
const lately = (attempts: number, successes: number, spanMs = 10_000) => ({
  lately: { attempts, successes, spanMs },
})
const ended = (failedAt: number, lastSuccessAt: number) => ({
  lastFailure: { at: failedAt, statusCode: 503, error: null },
  lastSuccessAt,
})
const NOW = 1_000_000
/** Figures of a lane whose oldest waiting message was published `ageMs` ago. */
const young = (ageMs: number) => ({ oldestPublishedAt: NOW - ageMs })
const known = (seconds: number) => ({ seconds, unknown: null })
const unknown = (reason: string) => ({ seconds: null, unknown: reason })

test.each<[string, Partial<LaneFigures>, boolean, object]>([
  ['nothing waits', { waiting: 0 }, false, known(0)],
  ['nothing waits in a paused lane', { waiting: 0 }, true, known(0)],
  ['all attempts succeed, 10 a second', lately(100, 100), false, known(10)],
  ['one attempt in four succeeds', lately(100, 25), false, known(40)],
  ['a throttle below what a burst has shown', { ...lately(100, 50), rate: 5 }, false, known(40)],
  ['an endpoint slower than its throttle', { ...lately(20, 20), rate: 100 }, false, known(50)],
  [
    'a burst of half a second behind a throttle',
    { ...lately(2, 2, 20_000), ...young(500), rate: 2 },
    false,
    known(50),
  ],
  [
    'a throttle of 10/s with two results after a second',
    { ...lately(2, 2, 900), rate: 10 },
    false,
    known(10),
  ],
  ['a queue of 5 s at a slow endpoint', { ...lately(10, 10), ...young(5_000), rate: 10 }, false, known(50)],
  ['a young queue without a throttle', { ...lately(100, 100), ...young(500) }, false, known(10)],
  ['a throttle before the first attempt', { rate: 4 }, false, known(25)],
  ['the first attempt, a moment ago', lately(1, 1, 0), false, known(100)],
  ['no attempt lately', {}, false, unknown('nothingAttempted')],
  ['no success lately', lately(100, 0), false, unknown('nothingSucceeds')],
  ['no success lately, with a throttle', { ...lately(100, 0), rate: 10 }, false, unknown('nothingSucceeds')],
  [
    'only failures for 6 s',
    { ...lately(100, 90), ...ended(7_000, 1_000) },
    false,
    unknown('nothingSucceeds'),
  ],
  [
    'a failure 6 s after a success, at one request in 5 s',
    { ...lately(4, 2, 20_000), rate: 0.2, ...ended(7_000, 1_000) },
    false,
    known(1_000),
  ],
  ['a failure after a success', { ...lately(100, 25), ...ended(2_000, 1_000) }, false, known(40)],
  ['a success after failures', { ...lately(100, 25), ...ended(1_000, 7_000) }, false, known(40)],
  ['paused', { ...lately(100, 100), rate: 10 }, true, unknown('paused')],
])('time to drain: %s', (_, figures, paused, drain) => {
  expect(drainOf({ ...LANE, ...figures }, { paused, now: NOW })).toEqual(drain)
})
