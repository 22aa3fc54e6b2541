/**
 * How a lane's retries and its rate answer to its endpoint, beside the curve (sns-semantics §10.3, §10.4): the rules as a
 * model; what runs is include/lane-pace.lua, held against this by tests.
 *
 * standard: a retry draws on a quota that successes fill again. Where the quota is empty a retry waits for its turn, one
 * a second, so it comes later and is never given up. adaptive: beside that, 429, 503 and timeouts lower the rate of the
 * lane's sends, which recovers by CUBIC; until the first of them there is no such rate.
 */
import type { AttemptErrorCode, AttemptResult } from '@fantail/contracts'

export const RETRY_QUOTA = 500
export const RETRY_COST = 5
export const RETRY_COST_AFTER_TIMEOUT = 10

export const ADAPTIVE = {
  beta: 0.7,
  scale: 0.4,
  smoothing: 0.8,
  rateMin: 0.5,
  bucketMs: 500,
  /** The rate is at most so many times what was measured. */
  measuredTimes: 2,
}

/** What an answer says of the endpoint: it took it or refused it for good, is busy, does not answer, or failed otherwise. */
export type Answered = 'ok' | 'refused' | 'limited' | 'unavailable' | 'timeout' | 'failed'

/** `rate` null: not limited yet. Times are epoch ms, rates per second. */
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

/** The state after an answer at `now`. */
export function adapt(state: AdaptiveState, answered: Answered, now: number): AdaptiveState {
  const next = measure(state, now)
  const slower = answered === 'limited' || answered === 'unavailable' || answered === 'timeout'
  if (slower) {
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

/** Until the rate is back where it was when it had to fall. */
function recoverySeconds(lastMax: number): number {
  return Math.cbrt((lastMax * (1 - ADAPTIVE.beta)) / ADAPTIVE.scale)
}

function limited(state: AdaptiveState, wanted: number): AdaptiveState {
  const most = Math.min(wanted, ADAPTIVE.measuredTimes * state.measured)
  return { ...state, rate: Math.max(most, ADAPTIVE.rateMin) }
}

/** null: it says nothing of the endpoint, which was not asked. */
export function answeredAs(result: AttemptResult): Answered | null {
  if (result.kind === 'failure') {
    if (result.permanent || NOT_ASKED.has(result.error)) return null
    return result.error === 'timeout' ? 'timeout' : 'failed'
  }
  const { statusCode } = result
  if (statusCode === 429) return 'limited'
  if (statusCode === 503) return 'unavailable'
  if (statusCode >= 200 && statusCode < 300) return 'ok'
  return statusCode < 200 || statusCode >= 500 ? 'failed' : 'refused'
}

const NOT_ASKED = new Set<AttemptErrorCode>(['storage', 'secrets', 'queue_missing', 'queue_refused'])

/** What a retry draws on the quota, by what the attempt before it came to; nothing for a first attempt. */
export function retryCost(before: { error: string | null } | null): number {
  if (before === null) return 0
  return before.error === 'timeout' ? RETRY_COST_AFTER_TIMEOUT : RETRY_COST
}
