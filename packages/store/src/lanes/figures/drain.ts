/** Estimates how long a lane needs for its waiting deliveries, from the latest attempts at its endpoint. */
import type { DrainUnknown } from '@fantail/contracts'
import type { LaneFigures } from '../records/lane-records.ts'

/**
 * Results are stored up to a second late, so a shorter time shows less than the rate of a throttle. Deliveries that
 * have waited for a shorter time are expected to drain at the throttle.
 */
const BEGINNING_MS = 5_000

/** Attempts within less than this time are too few to show a rate. */
const SHORTEST_SPAN_MS = 1_000

/**
 * If the last success is older than the last failure by more than this, the lane counts as failing. The time is longer
 * than it takes to store a success (lane-figure-writer.ts in the worker).
 */
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
  return { seconds: (waiting * attempts) / successes / expectedRate(figures, now), unknown: null }
}

/** Attempts per second. A throttle is the rate in the beginning, and the upper bound afterwards. */
function expectedRate(figures: LaneFigures, now: number): number {
  const { rate, lately } = figures
  const spanMs = busySpanMs(figures, now)
  if (rate !== null && spanMs < BEGINNING_MS) return rate
  const observed = observedRate({ attempts: lately.attempts, spanMs })
  return Math.min(observed, rate ?? observed)
}

/** Attempts per second. */
export function observedRate({ attempts, spanMs }: { attempts: number; spanMs: number }): number {
  return (attempts * 1_000) / Math.max(SHORTEST_SPAN_MS, spanMs)
}

/**
 * The time in which the attempts ended that show the rate. In a throttled lane, only the time since deliveries have
 * waited counts: before, the lane made fewer attempts only because it had less to do. Without a throttle, the whole
 * time counts. Otherwise earlier attempts would seem to have ended in the shorter time, and no throttle would limit the
 * rate.
 */
function busySpanMs({ lately, rate, oldestPublishedAt }: LaneFigures, now: number): number {
  if (rate === null || oldestPublishedAt === null) return lately.spanMs
  return Math.min(lately.spanMs, now - oldestPublishedAt)
}

/**
 * Whether the last success is much older than the last failure. The rate of earlier successes then predicts nothing.
 */
function failsSince({ lastFailure, lastSuccessAt, rate }: LaneFigures): boolean {
  if (lastFailure === null || lastSuccessAt === null) return false
  const requestsMs = rate === null ? 0 : (FAILING_REQUESTS * 1_000) / rate
  return lastFailure.at - lastSuccessAt > Math.max(FAILING_MS, requestsMs)
}

/** The most attempts that a delivery gets, and the seconds between the first and the last of them. */
interface Curve {
  attemptsMax: number
  totalSeconds: number
}

/**
 * Seconds until all waiting deliveries have ended, if attempts continue to fail as often as lately. All deliveries
 * count as not attempted yet, so the estimate is too high rather than too low. null: no attempt ended lately, or the
 * lane is paused.
 */
export function drainAtFailureRate(
  figures: LaneFigures,
  { paused, now, attemptsMax, totalSeconds }: DrainAt & Curve,
): number | null {
  const { waiting, lately } = figures
  if (waiting === 0) return 0
  if (paused || lately.attempts === 0) return null
  const failed = failsSince(figures) ? 1 : 1 - lately.successes / lately.attempts
  const attempts = failed === 1 ? attemptsMax : (1 - failed ** attemptsMax) / (1 - failed)
  const perSecond = expectedRate(figures, now)
  // The last delivery also waits between its expected attempts.
  const between = attemptsMax === 1 ? 0 : (totalSeconds * (attempts - 1)) / (attemptsMax - 1)
  return (waiting * attempts) / perSecond + between
}
