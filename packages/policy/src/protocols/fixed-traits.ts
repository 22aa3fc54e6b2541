/**
 * The shared traits and retry policies of protocols whose policy cannot be changed. AWS documents the counts and
 * delays, which add up to 23.15 days and 6.7 hours.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html
 */
import { type EffectiveDeliveryPolicy, type RetryPolicy, SYSTEM_POLICY } from '@fantail/contracts'
import type { ProtocolTraits } from './protocol-traits.ts'

/** The traits of most of these protocols. A protocol names only what differs. */
export const FIXED_TRAITS = {
  takes: {
    rawDelivery: false,
    deliveryPolicy: false,
    rate: true,
    pacing: false,
    outbound: false,
    webhookKeys: false,
  },
  confirmedBy: 'subscriber',
  retentionFloorSeconds: 0,
  fifo: { topics: 'never', sendsFollowers: false },
  isQueue: false,
  redisTrips: 0,
  reports: {
    feedback: null,
    byApplication: false,
    byAccount: false,
    failures: 'deliveries',
    providerResponse: (text) => text ?? '',
  },
} satisfies Partial<ProtocolTraits>

/**
 * Queues, functions and streams: 3 retries at once, 2 after 1 s each, 10 with delays that grow from 1 to 20 s, and
 * 100,000 after 20 s each.
 */
export const AWS_MANAGED_POLICY = fixed({
  minDelayTarget: 1,
  maxDelayTarget: 20,
  numRetries: 100_015,
  numNoDelayRetries: 3,
  numMinDelayRetries: 2,
  numMaxDelayRetries: 100_000,
  backoffFunction: 'exponential',
})

/**
 * Mail, text messages and push: 2 retries after 10 s each, 10 with delays that grow from 10 to 600 s, and 38 after 600
 * s each.
 */
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
