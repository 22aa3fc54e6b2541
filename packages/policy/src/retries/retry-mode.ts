/**
 * Describes an attempt for a lane's retry mode: how the endpoint answered, and what a retry costs. The modes run in the
 * store's lane-pace.lua and report-answers-1.lua.
 *
 * - standard: a retry takes tokens from a quota, and successes fill it again. While the quota is empty, one retry a
 * second is made. Retries are delayed, and never dropped.
 * - adaptive: in addition, 429, 503 and timeouts lower the lane's send rate, which recovers by CUBIC.
 *
 * They follow the SDKs' modes: https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
 */
import type { AttemptErrorCode, AttemptResult, Protocol, RetryPolicy } from '@fantail/contracts'
import { classify } from './next-step.ts'

/** Tokens of the retry quota that a retry takes. */
export const RETRY_COST = 5
/**
 * Tokens of the retry quota that a retry after a timeout costs. With fewer tokens left: only one retry a second is
 * allowed.
 */
const RETRY_COST_AFTER_TIMEOUT = 10

/**
 * How an endpoint answered: it accepted the delivery, refused it permanently, is busy, does not answer, or failed
 * otherwise.
 */
export type Answered = 'ok' | 'refused' | 'limited' | 'unavailable' | 'timeout' | 'failed'

/** null: the result says nothing about the endpoint, because no request reached it. */
export function answeredAs(
  result: AttemptResult,
  protocol: Protocol,
  policy: Pick<RetryPolicy, 'retryOn'>,
): Answered | null {
  if (result.kind === 'misconfigured') return null
  if (result.kind === 'failure') {
    if (result.permanent || NOT_ASKED.has(result.error)) return null
    return result.error === 'timeout' ? 'timeout' : 'failed'
  }
  const { statusCode } = result
  if (statusCode === 429) return 'limited'
  if (statusCode === 503) return 'unavailable'
  const byPolicy = classify(result, protocol, policy)
  if (byPolicy === 'delivered') return 'ok'
  // A 500 is a failure of the endpoint, even if `retryOn` does not contain it.
  return byPolicy === 'retry' || classify(result, protocol) === 'retry' ? 'failed' : 'refused'
}

const NOT_ASKED = new Set<AttemptErrorCode>(['storage', 'service_limit', 'queue_missing', 'queue_refused'])

/** The tokens that a retry takes, by the result of the attempt before it. A first attempt takes none. */
export function retryCost(before: { error: string | null } | null): number {
  if (before === null) return 0
  return before.error === 'timeout' ? RETRY_COST_AFTER_TIMEOUT : RETRY_COST
}
