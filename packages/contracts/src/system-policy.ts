/**
 * SNS's default policy for HTTP.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html
 */
import type { EffectiveDeliveryPolicy, RequestPolicy, RetryPolicy } from './records.ts'

const RETRY: RetryPolicy = {
  minDelayTarget: 20,
  maxDelayTarget: 20,
  numRetries: 3,
  numNoDelayRetries: 0,
  numMinDelayRetries: 0,
  numMaxDelayRetries: 0,
  backoffFunction: 'linear',
}

const REQUEST: RequestPolicy = { headerContentType: 'text/plain; charset=UTF-8' }

/** Shared by every subscription without its own policy, so it is frozen. */
export const SYSTEM_POLICY: EffectiveDeliveryPolicy = Object.freeze({
  healthyRetryPolicy: Object.freeze(RETRY),
  throttlePolicy: null,
  requestPolicy: Object.freeze(REQUEST),
})
