/** How long a lane takes for what waits in it, by what its endpoint has taken lately. */
import type { DrainUnknown } from '@fantail/contracts'
import type { LaneFigures } from '../lane-records.ts'

/** Fewer ms of attempts say nothing about a rate. */
const SHORTEST_SPAN_MS = 1_000

/** Longer than the note of a success takes to be stored (attempt-notes.ts in the worker). */
const FAILING_MS = 5_000
/** A slow throttle needs longer to show that nothing succeeds. */
const FAILING_REQUESTS = 3

interface Drain {
  /** Null: not known, for the reason `unknown`. */
  seconds: number | null
  unknown: DrainUnknown | null
}

/** Waiting × attempts per success ÷ attempts per second. Before the first attempt a throttle stands in for the rate. */
export function drainOf(figures: LaneFigures, paused: boolean): Drain {
  const { waiting, rate, lately } = figures
  if (waiting === 0) return { seconds: 0, unknown: null }
  if (paused) return { seconds: null, unknown: 'paused' }
  const { attempts, successes, spanMs } = lately
  if (attempts === 0 && rate !== null) return { seconds: waiting / rate, unknown: null }
  if (attempts === 0) return { seconds: null, unknown: 'nothingAttempted' }
  if (successes === 0 || failsSince(figures)) return { seconds: null, unknown: 'nothingSucceeds' }
  const observed = (attempts * 1_000) / Math.max(SHORTEST_SPAN_MS, spanMs)
  const perSecond = Math.min(observed, rate ?? observed)
  return { seconds: (waiting * attempts) / successes / perSecond, unknown: null }
}

/** The last success is long before the last failure: a rate of earlier successes says nothing about what waits. */
function failsSince({ lastFailure, lastSuccessAt, rate }: LaneFigures): boolean {
  if (lastFailure === null || lastSuccessAt === null) return false
  const requestsMs = rate === null ? 0 : (FAILING_REQUESTS * 1_000) / rate
  return lastFailure.at - lastSuccessAt > Math.max(FAILING_MS, requestsMs)
}
