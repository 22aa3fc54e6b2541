/**
 * What a lane's retry mode takes from an attempt: how its endpoint answered, and what a retry costs. The modes run in
 * store's lane-pace.lua and note-results-1.lua.
 *
 * - standard: a retry draws on a quota that successes fill again. While the quota is empty, one retry a second goes. A
 *   retry comes later, and is never given up.
 * - adaptive: also, 429, 503 and timeouts lower the rate of the lane's sends, which recovers by CUBIC.
 *
 * They follow the SDKs' modes: https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
 */
import type { AttemptErrorCode, AttemptResult } from '@fantail/contracts'

/** As in lane-pace.lua. */
const RETRY_COST = 5
/**
 * @limit Tokens of the retry quota that a retry after a timeout costs. With less left: one retry a second goes.
 */
const RETRY_COST_AFTER_TIMEOUT = 10

/**
 * What an answer says of the endpoint: it took it or refused it for good, is busy, does not answer, or failed
 * otherwise.
 */
export type Answered = 'ok' | 'refused' | 'limited' | 'unavailable' | 'timeout' | 'failed'

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
