/** Queues of this service: the append is the attempt. */
import {
  type ArnDefaults,
  type EffectiveDeliveryPolicy,
  isQueueName,
  parseArn,
  queueArn,
  type RetryPolicy,
  SYSTEM_POLICY,
} from '@fantail/contracts'
import type { ProtocolTraits, ReadEndpoint } from './protocol-traits.ts'
import { classifyStatus } from './webhook-traits.ts'

/**
 * 3 × 0 s, 2 × 1 s, 10 exponential from 1 to 20 s, 100,000 × 20 s: over 23 days. It cannot be edited.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html
 */
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
  requestPolicy: Object.freeze({ ...SYSTEM_POLICY.requestPolicy }),
})

/**
 * The retries take 23 days. A paused lane keeps its deliveries no longer than this either.
 * @limit Age to which a lane to a queue keeps deliveries at least. Past it: they expire, or go to the dead-letter
 * queue.
 */
const QUEUE_FLOOR_SECONDS = 30 * 86_400

export const QUEUE_TRAITS: ProtocolTraits = {
  endpoint: { name: 'the ARN of a queue', isUrl: false, read: readQueue },
  defaultPolicy: QUEUE_POLICY,
  // A queue answers at once or not at all, so there is nothing to pace.
  takes: { deliveryPolicy: false, pacing: false, outbound: false, webhookKeys: false },
  confirmedBy: 'account',
  retentionFloorSeconds: QUEUE_FLOOR_SECONDS,
  // An append that succeeds is a 200, the status that SQS would answer.
  classifyStatus,
  fifo: { topics: 'sns', sendsRuns: true },
  isQueue: true,
  reports: {
    feedback: 'SQS',
    failures: 'deliveries',
    providerResponse: (_, sqsMessageId) => JSON.stringify({ sqsMessageId }),
  },
}

function readQueue(text: string, place: ArnDefaults, isNamed: boolean): ReadEndpoint | undefined {
  if (parseArn(text)?.service === 'sqs') return { endpoint: text }
  return isNamed && isQueueName(text) ? { endpoint: queueArn(text, place) } : undefined
}
