/** A delivery policy in force, as labels and values. */
import type { Subscription, Topic } from '@fantail/client/api'
import { RETRY_ON_DEFAULT } from '@fantail/contracts'
import { words } from '../../i18n/en.ts'
import { formatSeconds } from '../../parts/formats.ts'

type Policy = Topic['effectiveDeliveryPolicy'] | Subscription['effectiveDeliveryPolicy']

const w = words.policy

export function policyPairs({ healthyRetryPolicy: retry, throttlePolicy, requestPolicy }: Policy) {
  return [
    [w.numRetries, retry.numRetries],
    [w.minDelay, formatSeconds(retry.minDelayTarget)],
    [w.maxDelay, formatSeconds(retry.maxDelayTarget)],
    [w.phases, w.phasesOf(retry.numNoDelayRetries, retry.numMinDelayRetries, retry.numMaxDelayRetries)],
    [w.backoff, retry.backoffFunction],
    [w.retryOn, (retry.retryOn ?? RETRY_ON_DEFAULT).join(', ')],
    [w.throttle, throttlePolicy ? w.perSecond(throttlePolicy.maxReceivesPerSecond) : words.none],
    [w.contentType, requestPolicy.headerContentType ?? w.contentTypeByBody],
  ] as const
}
