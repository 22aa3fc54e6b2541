/** Queues over REST. */
import { z } from 'zod'
import {
  BATCH_MESSAGES_MAX,
  QUEUE_ALLOWED_SOURCES_MAX,
  QUEUE_DELAY_SECONDS_MAX,
  QUEUE_HANDLES_MAX,
  QUEUE_MAX_RECEIVE_COUNT_MAX,
  QUEUE_MESSAGE_BYTES_MAX,
  QUEUE_MESSAGE_BYTES_MIN,
  QUEUE_RECEIVE_MAX,
  QUEUE_RETENTION_SECONDS_DEFAULT,
  QUEUE_VISIBILITY_SECONDS_DEFAULT,
  QUEUE_VISIBILITY_SECONDS_MAX,
  QUEUE_WAIT_SECONDS_MAX,
  RETENTION_SECONDS_MAX,
  RETENTION_SECONDS_MIN,
} from '../limits.ts'
import { FifoId, MessageInput } from './message-schemas.ts'
import {
  named,
  pageOf,
  pageQuery,
  QueueReference,
  SubscriptionReference,
  Timestamp,
  TimestampInput,
} from './shared-schemas.ts'

const Visibility = z.int().min(0).max(QUEUE_VISIBILITY_SECONDS_MAX)
const Delay = z.int().min(0).max(QUEUE_DELAY_SECONDS_MAX)
const Wait = z.int().min(0).max(QUEUE_WAIT_SECONDS_MAX)

const DeduplicationScope = z.enum(['queue', 'messageGroup'])

const RedriveAllowPolicyInput = z
  .strictObject({
    redrivePermission: z.enum(['allowAll', 'denyAll', 'byQueue']),
    sourceQueueArns: z.array(QueueReference).min(1).max(QUEUE_ALLOWED_SOURCES_MAX).optional(),
  })
  .refine((policy) => (policy.redrivePermission === 'byQueue') === (policy.sourceQueueArns !== undefined), {
    error: 'must be there with byQueue, and only then',
    path: ['sourceQueueArns'],
  })

/** `null` resets a member. */
export const QueueInput = z
  .strictObject({
    visibilityTimeoutSeconds: Visibility.nullish().describe(`Default ${QUEUE_VISIBILITY_SECONDS_DEFAULT}`),
    retentionSeconds: z
      .int()
      .min(RETENTION_SECONDS_MIN)
      .max(RETENTION_SECONDS_MAX)
      .nullish()
      .describe(`Default ${QUEUE_RETENTION_SECONDS_DEFAULT}`),
    delaySeconds: Delay.nullish(),
    receiveWaitSeconds: Wait.nullish(),
    redrivePolicy: z
      .strictObject({
        deadLetterTargetArn: QueueReference,
        maxReceiveCount: z.int().min(1).max(QUEUE_MAX_RECEIVE_COUNT_MAX),
      })
      .nullish(),
    redriveAllowPolicy: RedriveAllowPolicyInput.nullish().describe(
      'Which queues may name this one as their dead-letter queue; null: all',
    ),
    maximumMessageBytes: z
      .int()
      .min(QUEUE_MESSAGE_BYTES_MIN)
      .max(QUEUE_MESSAGE_BYTES_MAX)
      .nullish()
      .describe(`Of a body and its attributes. Default ${QUEUE_MESSAGE_BYTES_MAX}`),
    fifo: z.boolean().nullish().describe('Follows from a name that ends in .fifo; cannot be changed'),
    contentBasedDeduplication: z
      .boolean()
      .nullish()
      .describe('FIFO: without a deduplicationId the SHA-256 of the body counts. Default false'),
    deduplicationScope: DeduplicationScope.nullish().describe(
      'FIFO: what a deduplicationId is unique in. Default queue',
    ),
  })
  .meta({ examples: [{ visibilityTimeoutSeconds: 30 }] })

export const QueueView = named(
  'Queue',
  z.object({
    name: z.string(),
    arn: z.string(),
    url: z.string(),
    visibilityTimeoutSeconds: z.int(),
    retentionSeconds: z.int(),
    delaySeconds: z.int(),
    receiveWaitSeconds: z.int(),
    redrivePolicy: z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.int() }).nullable(),
    redriveAllowPolicy: z
      .object({ redrivePermission: z.string(), sourceQueueArns: z.array(z.string()).optional() })
      .nullable(),
    maximumMessageBytes: z.int(),
    fifo: z.boolean(),
    contentBasedDeduplication: z.boolean().optional().describe('FIFO'),
    deduplicationScope: DeduplicationScope.optional().describe('FIFO'),
    counts: z.object({
      visible: z.int(),
      inFlight: z.int(),
      delayed: z.int(),
      groupsInFlight: z.int().optional().describe('FIFO: groups that wait for something in flight'),
    }),
    oldestSeconds: z.number().nullable(),
    deadLetterSources: z.array(z.string()).describe('ARNs of the subscriptions and queues it serves'),
    createdAt: Timestamp,
    modifiedAt: Timestamp,
  }),
)

export const QueueListQuery = z.strictObject({ prefix: z.string().max(80).optional(), ...pageQuery })
export const QueueList = pageOf('queues', QueueView)

/** Anything but XML 1.0's characters, as SQS has it (checklist 182). */
const UNSENDABLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

export function unsendable(text: string): boolean {
  return UNSENDABLE.test(text)
}

const Body = z
  .string()
  .min(1)
  .refine((text) => !unsendable(text), 'must hold only characters that XML 1.0 allows')

export const QueueItemInput = named(
  'QueueMessageInput',
  z.strictObject({
    body: Body,
    attributes: MessageInput.shape.attributes,
    delaySeconds: Delay.optional().describe('FIFO: none, the delay is the queue’s'),
    groupId: FifoId.optional().describe('FIFO queues keep order within it; others pass it on'),
    deduplicationId: FifoId.optional().describe('FIFO: the same id within 5 minutes is one message'),
  }),
)
export const QueueBatchInput = z.strictObject({
  messages: z.array(QueueItemInput).min(1).max(BATCH_MESSAGES_MAX),
})
/** Of the documentation; the route asks for the shape that the body shows. */
export const QueueSendInput = z.union([QueueItemInput, QueueBatchInput])

const Receipt = z.object({
  messageId: z.string().describe('Of a duplicate: the first copy’s'),
  sequenceNumber: z.string().optional().describe('FIFO: 20 digits, rising'),
})
export const QueueSendAnswer = z.union([Receipt, z.object({ results: z.array(Receipt) })])

export const ReceiveInput = z.strictObject({
  maxMessages: z.int().min(1).max(QUEUE_RECEIVE_MAX).default(1),
  waitSeconds: Wait.optional(),
  visibilityTimeoutSeconds: Visibility.optional(),
})

const DeadLetterView = named(
  'DeadLetter',
  z.object({
    reason: z.enum(['permanent', 'retriesExhausted', 'expired']),
    statusCode: z.int().nullable(),
    lastError: z.string().nullable(),
    attempts: z.int(),
    subscriptionArn: z.string(),
    topicArn: z.string(),
    publishedAt: Timestamp,
    deadLetteredAt: Timestamp,
  }),
)

const item = {
  messageId: z.string(),
  receiveCount: z.int(),
  body: z.string(),
  attributes: z.record(z.string(), z.object({ type: z.string(), value: z.string() })),
  sentAt: Timestamp,
  groupId: z.string().optional(),
  deduplicationId: z.string().optional(),
  sequenceNumber: z.string().optional().describe('FIFO'),
  deadLetter: DeadLetterView.optional(),
}
export const QueueMessageView = named('QueueMessage', z.object(item))
export const ReceivedAnswer = z.object({
  messages: z.array(named('ReceivedMessage', z.object({ ...item, receiptHandle: z.string() }))),
})

const receiptHandles = z.array(z.string().min(1).max(1_024)).min(1).max(QUEUE_HANDLES_MAX)
export const AckInput = z.strictObject({ receiptHandles })
export const VisibilityInput = z.strictObject({ receiptHandles, visibilityTimeoutSeconds: Visibility })
export const HandleResults = z.object({
  results: z.array(
    z.union([z.object({ ok: z.literal(true) }), z.object({ ok: z.literal(false), error: z.string() })]),
  ),
})

const StatusCodeQuery = z.coerce.number().int().min(100).max(599)
export const PeekQuery = z.strictObject({
  subscription: SubscriptionReference.optional(),
  statusCode: StatusCodeQuery.optional(),
  since: TimestampInput.optional(),
  until: TimestampInput.optional(),
  ...pageQuery,
})
export const PeekAnswer = pageOf('messages', QueueMessageView)

const counts = z.record(z.string(), z.int())
export const DeadLetterCounts = z.object({
  byReason: counts,
  byStatusCode: counts,
  bySubscription: counts,
})
export const PurgeAnswer = z.object({ discarded: z.int() })
