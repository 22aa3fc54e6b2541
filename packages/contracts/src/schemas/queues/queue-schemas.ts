/** Schemas of queues over REST: their settings and figures. */
import { z } from 'zod'
import {
  QUEUE_ALLOWED_SOURCES_MAX,
  QUEUE_DELAY_SECONDS_MAX,
  QUEUE_LEASE_SECONDS_MAX,
  QUEUE_LEASE_SECONDS_MIN,
  QUEUE_MAX_RECEIVE_COUNT_MAX,
  QUEUE_MESSAGE_BYTES_MAX,
  QUEUE_MESSAGE_BYTES_MIN,
  QUEUE_RETENTION_SECONDS_DEFAULT,
  QUEUE_VISIBILITY_SECONDS_DEFAULT,
  QUEUE_VISIBILITY_SECONDS_MAX,
  QUEUE_WAIT_SECONDS_MAX,
  RETENTION_SECONDS_MAX,
  RETENTION_SECONDS_MIN,
} from '../../limits.ts'
import {
  Attributes,
  attributesInput,
  CreatedAt,
  named,
  namedInput,
  pageOf,
  pageQuery,
  QueueReference,
  Tags,
  TagsInput,
  Timestamp,
  timestamp,
} from '../shared-schemas.ts'

export const Visibility = z.int().min(0).max(QUEUE_VISIBILITY_SECONDS_MAX)
export const Delay = z.int().min(0).max(QUEUE_DELAY_SECONDS_MAX)
export const Wait = z.int().min(0).max(QUEUE_WAIT_SECONDS_MAX)

const DeduplicationScope = z.enum(['queue', 'messageGroup'])

const ThroughputLimit = z.enum(['perQueue', 'perMessageGroupId'])
const THROUGHPUT_LIMIT = 'FIFO only: kept for AWS clients; it limits nothing.'

const PERMISSION =
  'allowAll: every queue may name this one; denyAll: none may; byQueue: only those in sourceQueueArns.'

const RedriveAllowPolicyInput = z
  .strictObject({
    redrivePermission: z.enum(['allowAll', 'denyAll', 'byQueue']).describe(PERMISSION),
    sourceQueueArns: z
      .array(QueueReference)
      .min(1)
      .max(QUEUE_ALLOWED_SOURCES_MAX)
      .optional()
      .describe(`Queues by name or ARN, 1 to ${QUEUE_ALLOWED_SOURCES_MAX}; with byQueue, and only then.`),
  })
  .refine((policy) => (policy.redrivePermission === 'byQueue') === (policy.sourceQueueArns !== undefined), {
    error: 'must be there with byQueue, and only then',
    path: ['sourceQueueArns'],
  })

const SEAL_TEXT = 'Whether messages are stored sealed: their content is encrypted in Redis.'

/** `null` resets a member. */
export const QueueInput = namedInput(
  'QueueInput',
  z
    .strictObject({
      visibilityTimeoutSeconds: Visibility.nullish().describe(
        `How long a received message is hidden from others. Default ${QUEUE_VISIBILITY_SECONDS_DEFAULT}.`,
      ),
      retentionSeconds: z
        .int()
        .min(RETENTION_SECONDS_MIN)
        .max(RETENTION_SECONDS_MAX)
        .nullish()
        .describe(
          `How long a message is kept before it is dropped. Default ${QUEUE_RETENTION_SECONDS_DEFAULT}.`,
        ),
      delaySeconds: Delay.nullish().describe(
        'How long a new message is hidden before it can be received. Default 0.',
      ),
      receiveWaitSeconds: Wait.nullish().describe(
        'How long a receive without waitSeconds waits for a message. Default 0.',
      ),
      redrivePolicy: z
        .strictObject({
          deadLetterTargetArn: QueueReference.describe('The dead-letter queue, by its name or ARN.'),
          maxReceiveCount: z
            .int()
            .min(1)
            .max(QUEUE_MAX_RECEIVE_COUNT_MAX)
            .describe('Receives of a message after which the next one moves it to the dead-letter queue.'),
        })
        .nullish()
        .describe(
          'The queue for messages that were received too often. Default: they stay until they expire.',
        ),
      redriveAllowPolicy: RedriveAllowPolicyInput.nullish().describe(
        'Which queues may name this one as their dead-letter queue. Default: all.',
      ),
      maximumMessageBytes: z
        .int()
        .min(QUEUE_MESSAGE_BYTES_MIN)
        .max(QUEUE_MESSAGE_BYTES_MAX)
        .nullish()
        .describe(`Limit on a body and its attributes together. Default ${QUEUE_MESSAGE_BYTES_MAX}.`),
      leaseSeconds: z
        .int()
        .min(QUEUE_LEASE_SECONDS_MIN)
        .max(QUEUE_LEASE_SECONDS_MAX)
        .nullish()
        .describe(
          'When nobody has received from the queue for this time, it is deleted with the subscriptions that deliver to ' +
            'it. Outages of more than 15 s do not count. Only a new queue can get a lease. Default: it stays.',
        ),
      sealMessages: z.boolean().nullish().describe(`${SEAL_TEXT} Default false.`),
      fifo: z
        .boolean()
        .nullish()
        .describe('Must agree with the name: true where it ends in `.fifo`. It cannot be changed.'),
      contentBasedDeduplication: z
        .boolean()
        .nullish()
        .describe(
          'FIFO only: a message without deduplicationId gets the SHA-256 of its body. Default false.',
        ),
      deduplicationScope: DeduplicationScope.nullish().describe(
        'FIFO only: whether a deduplicationId is unique in the queue or in its message group. Default queue.',
      ),
      fifoThroughputLimit: ThroughputLimit.nullish().describe(`${THROUGHPUT_LIMIT} Default perQueue.`),
      tags: TagsInput,
      attributes: attributesInput(
        '`Policy`, `KmsMasterKeyId`, `KmsDataKeyReusePeriodSeconds`, `SqsManagedSseEnabled`',
      ),
    })
    .meta({
      description: 'Settings of a queue. Members that are left out stay as they are; null resets one.',
      examples: [
        { visibilityTimeoutSeconds: 30 },
        { redrivePolicy: { deadLetterTargetArn: 'dead', maxReceiveCount: 5 } },
      ],
    }),
)

const QueueCounts = z.object({
  visible: z.int().describe('Messages that can be received now.'),
  inFlight: z.int().describe('Messages that were received and are hidden.'),
  delayed: z.int().describe('Messages that were sent with a delay which is not over.'),
  groupsInFlight: z.int().optional().describe('FIFO only: message groups that wait for something in flight.'),
})

export const QueueView = named(
  'Queue',
  z
    .object({
      name: z.string().describe('Name of the queue; FIFO queues end in `.fifo`.'),
      arn: z.string().describe('Amazon resource name: `arn:aws:sqs:<region>:<account>:<name>`.'),
      url: z.string().describe('Queue URL for AWS clients: `<public URL>/<account>/<name>`.'),
      visibilityTimeoutSeconds: z.int().describe('How long a received message is hidden from others.'),
      retentionSeconds: z.int().describe('How long a message is kept before it is dropped.'),
      delaySeconds: z.int().describe('How long a new message is hidden before it can be received.'),
      receiveWaitSeconds: z.int().describe('How long a receive without waitSeconds waits for a message.'),
      redrivePolicy: z
        .object({
          deadLetterTargetArn: z.string().describe('ARN of the dead-letter queue that takes them.'),
          maxReceiveCount: z.int().describe('Receives after which the next one moves a message there.'),
        })
        .nullable()
        .describe('The queue for messages that were received too often; null: they stay until they expire.'),
      redriveAllowPolicy: z
        .object({
          redrivePermission: z.string().describe(PERMISSION),
          sourceQueueArns: z
            .array(z.string())
            .optional()
            .describe('ARNs of the queues that may, with byQueue only.'),
        })
        .nullable()
        .describe('Which queues may name this one as their dead-letter queue; null: all.'),
      maximumMessageBytes: z.int().describe('Limit on a body and its attributes together.'),
      leaseSeconds: z
        .int()
        .nullable()
        .describe('The queue is deleted when nobody has received from it for this time. null: it stays.'),
      leaseEndsAt: Timestamp.nullable().describe(
        'When it is deleted unless a client receives from it before: ISO 8601 in UTC. null: it stays.',
      ),
      sealMessages: z.boolean().describe(SEAL_TEXT),
      fifo: z.boolean().describe('Whether messages keep their order within a group.'),
      contentBasedDeduplication: z
        .boolean()
        .optional()
        .describe('FIFO only: whether a message without deduplicationId gets the SHA-256 of its body.'),
      deduplicationScope: DeduplicationScope.optional().describe(
        'FIFO only: whether a deduplicationId is unique in the queue or in its message group.',
      ),
      fifoThroughputLimit: ThroughputLimit.nullable().describe(`${THROUGHPUT_LIMIT} null: perQueue.`),
      tags: Tags,
      attributes: Attributes,
      counts: QueueCounts.describe('How many messages are in each state now.'),
      oldestSeconds: z
        .number()
        .nullable()
        .describe('How long the oldest message has been in this queue; null: the queue is empty.'),
      groups: z
        .object({
          noisy: z.int().describe('Message groups with visible messages that wait behind the others now.'),
          quietVisible: z.int().describe('Messages of all other groups that can be received now.'),
          quietInFlight: z.int().describe('Messages of all other groups that are in flight.'),
          quietOldestSeconds: z
            .number()
            .nullable()
            .describe(
              'How long the first visible message of the other groups has been here; null: there is none.',
            ),
        })
        .optional()
        .describe('Standard queues with message groups only: how the consumers are shared.'),
      deadLetterSources: z
        .array(z.string())
        .describe(
          'ARNs of the subscriptions and queues whose dead-letter queue it is, and of the topic that made it, as far as ' +
            'the caller may see.',
        ),
      deadLettersOf: z
        .string()
        .nullable()
        .describe(
          'ARN of the topic that made it for its dead letters. Its bytes are bounded: past them the oldest messages go. ' +
            'null: it was made by a request.',
        ),
      createdAt: CreatedAt,
      modifiedAt: timestamp('When a setting was last changed'),
    })
    .meta({
      description: 'A queue with its settings and figures.',
      examples: [
        {
          name: 'jobs',
          arn: 'arn:aws:sqs:us-east-1:000000000000:jobs',
          url: 'http://127.0.0.1:4100/000000000000/jobs',
          visibilityTimeoutSeconds: 30,
          retentionSeconds: 1_209_600,
          delaySeconds: 0,
          receiveWaitSeconds: 0,
          redrivePolicy: {
            deadLetterTargetArn: 'arn:aws:sqs:us-east-1:000000000000:dead',
            maxReceiveCount: 5,
          },
          redriveAllowPolicy: null,
          maximumMessageBytes: 1_048_576,
          leaseSeconds: null,
          leaseEndsAt: null,
          sealMessages: false,
          fifo: false,
          fifoThroughputLimit: null,
          tags: {},
          attributes: {},
          counts: { visible: 12, inFlight: 3, delayed: 0 },
          oldestSeconds: 4.25,
          deadLetterSources: [],
          deadLettersOf: null,
          createdAt: '2026-11-21T09:30:00.000Z',
          modifiedAt: '2026-11-21T09:30:00.000Z',
        },
      ],
    }),
)

export const QueueListQuery = z.strictObject({
  prefix: z
    .string()
    .max(80)
    .optional()
    .describe('Only queues whose names begin with this text. Default: all.'),
  ...pageQuery,
})
export const QueueList = named('QueueList', pageOf('queues', QueueView))
