/**
 * A model of the adaptive rate in lane-pace.lua and report-answers-1.lua. 429, 503 and timeouts lower the rate of the
 * lane's sends, which recovers by CUBIC. Before the first of these answers there is no adaptive rate.
 */
import type { Answered } from '@fantail/policy'

export const ADAPTIVE = {
  beta: 0.7,
  scale: 0.4,
  smoothing: 0.8,
  rateMin: 0.5,
  bucketMs: 500,
  /** The rate may be at most this many times the measured one. */
  measuredTimes: 2,
}

/** `rate` null: there is no adaptive rate yet. Times are epoch ms, rates are per second. */
export interface AdaptiveState {
  rate: number | null
  lastMax: number
  throttledAt: number
  measured: number
  bucketAt: number
  requests: number
}

export const ADAPTIVE_START: Omit<AdaptiveState, 'bucketAt'> = {
  rate: null,
  lastMax: 0,
  throttledAt: 0,
  measured: 0,
  requests: 0,
}

/** Whether the answer lowers the rate. */
export function isSlowing(answered: Answered): boolean {
  return answered === 'limited' || answered === 'unavailable' || answered === 'timeout'
}

/** The state after an answer at `now`. */
export function adapt(state: AdaptiveState, answered: Answered, now: number): AdaptiveState {
  const next = measure(state, now)
  if (isSlowing(answered)) {
    const base = next.rate === null ? next.measured : Math.min(next.measured, next.rate)
    return limited({ ...next, lastMax: base, throttledAt: now }, base * ADAPTIVE.beta)
  }
  if (next.rate === null) return next
  const seconds = (now - next.throttledAt) / 1_000
  return limited(next, ADAPTIVE.scale * (seconds - recoverySeconds(next.lastMax)) ** 3 + next.lastMax)
}

function measure(state: AdaptiveState, now: number): AdaptiveState {
  const bucketAt = Math.floor(now / ADAPTIVE.bucketMs) * ADAPTIVE.bucketMs
  const requests = state.requests + 1
  if (bucketAt <= state.bucketAt) return { ...state, requests }
  const perSecond = (requests * 1_000) / (bucketAt - state.bucketAt)
  const measured = ADAPTIVE.smoothing * perSecond + (1 - ADAPTIVE.smoothing) * state.measured
  return { ...state, measured, bucketAt, requests: 0 }
}

/** Seconds until the rate is as high as before its last fall. */
function recoverySeconds(lastMax: number): number {
  return Math.cbrt((lastMax * (1 - ADAPTIVE.beta)) / ADAPTIVE.scale)
}

function limited(state: AdaptiveState, wanted: number): AdaptiveState {
  const most = Math.min(wanted, ADAPTIVE.measuredTimes * state.measured)
  return { ...state, rate: Math.max(most, ADAPTIVE.rateMin) }
}
