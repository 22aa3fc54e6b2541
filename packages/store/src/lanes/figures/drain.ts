/** Estimates how long a lane needs for its waiting deliveries, from the latest attempts at its endpoint. */
import type { DrainUnknown } from '@fantail/contracts'
import type { LaneFigures } from '../lane-records.ts'

/** A shorter time of attempts does not show a rate. */
const SHORTEST_SPAN_MS = 1_000

/** Longer than it takes to store that an attempt succeeded (attempt-notes.ts in the worker). */
const FAILING_MS = 5_000
/** With a slow throttle, this many requests must fail before the lane counts as failing. */
const FAILING_REQUESTS = 3

interface Drain {
  /** null: unknown, for the reason in `unknown`. */
  seconds: number | null
  unknown: DrainUnknown | null
}

interface DrainAt {
  paused: boolean
  /** Epoch ms by Redis's clock. */
  now: number
}

/** Waiting × attempts per success ÷ attempts per second. Before the first attempt the throttle is used as the rate. */
export function drainOf(figures: LaneFigures, { paused, now }: DrainAt): Drain {
  const { waiting, rate, lately } = figures
  if (waiting === 0) return { seconds: 0, unknown: null }
  if (paused) return { seconds: null, unknown: 'paused' }
  const { attempts, successes } = lately
  if (attempts === 0 && rate !== null) return { seconds: waiting / rate, unknown: null }
  if (attempts === 0) return { seconds: null, unknown: 'nothingAttempted' }
  if (successes === 0 || failsSince(figures)) return { seconds: null, unknown: 'nothingSucceeds' }
  const observed = (attempts * 1_000) / Math.max(SHORTEST_SPAN_MS, busySpanMs(figures, now))
  const perSecond = Math.min(observed, rate ?? observed)
  return { seconds: (waiting * attempts) / successes / perSecond, unknown: null }
}

/**
 * The time of attempts that shows the rate. A throttled lane in which nothing waited was not slower than its throttle,
 * so only the time of the present queue counts. Without a throttle nothing would bound the rate: earlier attempts would
 * seem to have ended in that time.
 */
function busySpanMs({ lately, rate, oldestPublishedAt }: LaneFigures, now: number): number {
  if (rate === null || oldestPublishedAt === null) return lately.spanMs
  return Math.min(lately.spanMs, now - oldestPublishedAt)
}

/** The last success is much older than the last failure. The rate of earlier successes then predicts nothing. */
function failsSince({ lastFailure, lastSuccessAt, rate }: LaneFigures): boolean {
  if (lastFailure === null || lastSuccessAt === null) return false
  const requestsMs = rate === null ? 0 : (FAILING_REQUESTS * 1_000) / rate
  return lastFailure.at - lastSuccessAt > Math.max(FAILING_MS, requestsMs)
}
