/**
 * The retry policies of endpoint kinds whose policy cannot be edited. Their counts are exact. Their spans are the sums
 * of the delays: 23.15 days and 6.7 hours.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html
 */
import { type EffectiveDeliveryPolicy, type RetryPolicy, SYSTEM_POLICY } from '@fantail/contracts'

/** Queues, functions and streams: 3 × 0 s, 2 × 1 s, 10 exponential from 1 to 20 s, 100,000 × 20 s. */
export const AWS_MANAGED_POLICY = fixed({
  minDelayTarget: 1,
  maxDelayTarget: 20,
  numRetries: 100_015,
  numNoDelayRetries: 3,
  numMinDelayRetries: 2,
  numMaxDelayRetries: 100_000,
  backoffFunction: 'exponential',
})

/** Mail, text messages and push: 2 × 10 s, 10 exponential from 10 to 600 s, 38 × 600 s. */
export const CUSTOMER_MANAGED_POLICY = fixed({
  minDelayTarget: 10,
  maxDelayTarget: 600,
  numRetries: 50,
  numNoDelayRetries: 0,
  numMinDelayRetries: 2,
  numMaxDelayRetries: 38,
  backoffFunction: 'exponential',
})

/**
 * The retries of AWS_MANAGED_POLICY take 23 days. A paused lane also keeps its deliveries only for this time.
 * @limit Age to which a lane to a queue, function or stream keeps deliveries at least. Past it: they expire, or go to
 * the dead-letter queue.
 */
export const MANAGED_FLOOR_SECONDS = 30 * 86_400

function fixed(policy: RetryPolicy): EffectiveDeliveryPolicy {
  return Object.freeze({
    healthyRetryPolicy: Object.freeze(policy),
    throttlePolicy: null,
    requestPolicy: Object.freeze({ ...SYSTEM_POLICY.requestPolicy }),
  })
}
