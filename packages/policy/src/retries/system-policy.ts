/** The policies that nobody sets: SNS's default for HTTP and its fixed one for queues.
 *  https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html */
import type { EffectiveDeliveryPolicy, RequestPolicy, RetryPolicy } from '@fantail/contracts'

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

/** Shared by every subscription without a policy of its own, hence frozen. */
export const SYSTEM_POLICY: EffectiveDeliveryPolicy = Object.freeze({
  healthyRetryPolicy: Object.freeze(RETRY),
  throttlePolicy: null,
  requestPolicy: Object.freeze(REQUEST),
})

/** 3 × 0 s, 2 × 1 s, 10 exponential from 1 to 20 s, 100,000 × 20 s: over 23 days. Nobody can edit it. */
export const QUEUE_POLICY: EffectiveDeliveryPolicy = Object.freeze({
  healthyRetryPolicy: Object.freeze({
    minDelayTarget: 1,
    maxDelayTarget: 20,
    numRetries: 100_015,
    numNoDelayRetries: 3,
    numMinDelayRetries: 2,
    numMaxDelayRetries: 100_000,
    backoffFunction: 'exponential',
  } satisfies RetryPolicy),
  throttlePolicy: null,
  requestPolicy: Object.freeze({ ...REQUEST }),
})
