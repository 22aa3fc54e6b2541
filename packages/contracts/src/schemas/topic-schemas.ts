/** Topics over REST. */
import { z } from 'zod'
import {
  ARCHIVE_BYTES_MIN,
  ARCHIVE_DAYS_MAX,
  DISABLE_AFTER_DAYS_MAX,
  DISPLAY_NAME_CHARS_MAX,
  KEPT_BYTES_MAX,
  KEPT_BYTES_MIN,
  KEPT_SECONDS_MAX,
  RETENTION_SECONDS_DEFAULT,
  RETENTION_SECONDS_MAX,
  RETENTION_SECONDS_MIN,
} from '../limits.ts'
import { ATTEMPT_RECORDINGS } from '../recording.ts'
import { ARCHIVE_WHEN_FULL, EVENT_TYPE_CHECKS } from '../records.ts'
import { SYSTEM_POLICY } from '../system-policy.ts'
import {
  DeliveryPolicyInput,
  DeliveryPolicyShape,
  EffectiveDeliveryPolicyShape,
} from './delivery-policy-schemas.ts'
import {
  Attributes,
  attributesInput,
  CreatedAt,
  named,
  namedInput,
  pageOf,
  pageQuery,
  Tags,
  TagsInput,
  timestamp,
} from './shared-schemas.ts'

const KeepMessages = z.strictObject({
  seconds: z
    .int()
    .min(1)
    .max(KEPT_SECONDS_MAX)
    .describe(`How long a message is kept: 1 to ${KEPT_SECONDS_MAX} s (30 days).`),
  bytes: z
    .int()
    .min(KEPT_BYTES_MIN)
    .max(KEPT_BYTES_MAX)
    .describe('Memory of Redis that the messages may fill. Past it the oldest go, in time or not.'),
})

const Archive = z.strictObject({
  days: z
    .int()
    .min(1)
    .max(ARCHIVE_DAYS_MAX)
    .describe(`How long the archive has a message: 1 to ${ARCHIVE_DAYS_MAX} days.`),
  bytes: z
    .int()
    .min(ARCHIVE_BYTES_MIN)
    .optional()
    .describe(
      'Bytes that the compressed messages may fill. Past it the oldest go, in time or not. Default: no bound.',
    ),
  whenFull: z
    .enum(ARCHIVE_WHEN_FULL)
    .optional()
    .describe(
      'While the place of archives cannot be reached, messages wait in Redis. refuse: all of them wait, and ' +
        'publishing is refused when memory is short. dropOldest: the oldest of them are lost then. Default refuse.',
    ),
})

const NOTICES_TEXT =
  'The topic gets notices about topics whose names begin with this text, and about their endpoints; an empty text: ' +
  'about everything.'
const DISABLE_TEXT =
  'A subscription is paused when its endpoint has accepted nothing for this many days and still fails.'

const Signing = z.enum(['none', 'sns'])
const Recording = z.enum(ATTEMPT_RECORDINGS)
const EventTypeCheck = z.enum(EVENT_TYPE_CHECKS)
const EVENT_TYPE_CHECK =
  'Whether a message must fit the catalogue of event types: its type must be known, and its content fit the schema. warn: ' +
  'it is accepted, and the answer says what is wrong. refuse: it is not accepted.'

const ThroughputScope = z.enum(['Topic', 'MessageGroup'])
const THROUGHPUT_SCOPE =
  'FIFO only: whether a deduplicationId is unique in the topic or in its message group.'

const SEAL_TEXT =
  'Whether messages are stored sealed: their content is encrypted in Redis, from the publish to the end of each delivery.'

/** `null` resets a member. */
export const TopicInput = namedInput(
  'TopicInput',
  z
    .strictObject({
      displayName: z
        .string()
        .max(DISPLAY_NAME_CHARS_MAX)
        .nullish()
        .describe(`Name for people: at most ${DISPLAY_NAME_CHARS_MAX} characters. Default empty.`),
      deliveryPolicy: DeliveryPolicyInput.optional(),
      disableSubscriptionOverrides: z
        .boolean()
        .nullish()
        .describe('Whether the topic’s delivery policy replaces those of its subscriptions. Default false.'),
      retentionSeconds: z
        .int()
        .min(RETENTION_SECONDS_MIN)
        .max(RETENTION_SECONDS_MAX)
        .nullish()
        .describe(
          `Deliveries of messages older than this expire, those to queues after 30 days. Default ${RETENTION_SECONDS_DEFAULT}.`,
        ),
      fifo: z
        .boolean()
        .nullish()
        .describe('Must agree with the name: true where it ends in `.fifo`. It cannot be changed.'),
      contentBasedDeduplication: z
        .boolean()
        .nullish()
        .describe(
          'FIFO only: a message without deduplicationId gets the SHA-256 of its text. Default false.',
        ),
      keepMessages: KeepMessages.nullish().describe(
        'Keeps the latest messages, so that they can be read, resent, and tried on filters. Default: none are kept.',
      ),
      archive: Archive.nullish().describe(
        'Archives every message outside of Redis, to resend it later. null deletes the archive. Default: there is none.',
      ),
      notices: z
        .string()
        .regex(/^[A-Za-z0-9_-]{0,256}$/, 'must be the beginning of a topic name')
        .nullish()
        .describe(`${NOTICES_TEXT} Standard topics only. Default: it gets none.`),
      disableAfterDays: z
        .int()
        .min(1)
        .max(DISABLE_AFTER_DAYS_MAX)
        .nullish()
        .describe(`${DISABLE_TEXT} Default: never.`),
      signing: Signing.nullish().describe(
        'sns: envelopes carry a signature as Amazon SNS makes it, except of FIFO topics. Default none.',
      ),
      recordAttempts: Recording.nullish().describe(
        'Which attempts are recorded, with the beginning of the answer: none, failures or all. Default failures.',
      ),
      eventTypeCheck: EventTypeCheck.nullish().describe(`${EVENT_TYPE_CHECK} Default off.`),
      sealMessages: z.boolean().nullish().describe(`${SEAL_TEXT} Default false.`),
      fifoThroughputScope: ThroughputScope.nullish().describe(`${THROUGHPUT_SCOPE} Default Topic.`),
      tags: TagsInput,
      attributes: attributesInput('`Policy`, `TracingConfig`, `KmsMasterKeyId` and others'),
    })
    .meta({
      description: 'Settings of a topic. Members that are left out stay as they are; null resets one.',
      examples: [{ displayName: 'Orders', retentionSeconds: 86_400 }],
    }),
)

const SubscriptionCounts = z.object({
  active: z.int().describe('Subscriptions that get messages now.'),
  pending: z.int().describe('Subscriptions that wait for their confirmation.'),
  paused: z.int().describe('Subscriptions whose messages are kept and not attempted.'),
})

export const TopicView = named(
  'Topic',
  z
    .object({
      name: z.string().describe('Name of the topic; FIFO topics end in `.fifo`.'),
      arn: z.string().describe('Amazon resource name: `arn:aws:sns:<region>:<account>:<name>`.'),
      displayName: z.string().describe('Name for people; empty where nothing is set.'),
      deliveryPolicy: DeliveryPolicyShape.nullable().describe(
        'The policy set on the topic itself; null: none.',
      ),
      effectiveDeliveryPolicy: EffectiveDeliveryPolicyShape.describe(
        'The policy in force for subscriptions without one of their own.',
      ),
      disableSubscriptionOverrides: z
        .boolean()
        .describe('Whether the topic’s delivery policy replaces those of its subscriptions.'),
      retentionSeconds: z
        .int()
        .describe('Deliveries of messages older than this expire, those to queues after 30 days.'),
      keepMessages: KeepMessages.nullable().describe(
        'How many of the latest messages are kept, to read and resend them; null: none.',
      ),
      archive: Archive.nullable().describe(
        'How long every message is archived outside of Redis; null: none is.',
      ),
      archived: z
        .object({
          since: timestamp('When the archive began'),
          messages: z.int().describe('How many messages its blocks have.'),
          bytes: z.int().describe('Size of all its blocks together.'),
          dropped: z
            .int()
            .describe(
              'Messages that were lost because memory was short (`dropOldest`), or because a key was damaged.',
            ),
        })
        .optional()
        .describe('The archive’s figures. Only the answer for a single topic has them.'),
      notices: z.string().nullable().describe(`${NOTICES_TEXT} null: it gets none.`),
      disableAfterDays: z.int().nullable().describe(`${DISABLE_TEXT} null: never.`),
      signing: Signing.describe(
        'sns: envelopes carry a signature as Amazon SNS makes it. none: they carry none.',
      ),
      recordAttempts: Recording.describe(
        'Which attempts are recorded: the setting of the topic, or the default.',
      ),
      eventTypeCheck: EventTypeCheck.describe(EVENT_TYPE_CHECK),
      sealMessages: z.boolean().describe(SEAL_TEXT),
      fifo: z.boolean().describe('Whether messages keep their order within a group.'),
      contentBasedDeduplication: z
        .boolean()
        .optional()
        .describe('FIFO only: whether a message without deduplicationId gets the SHA-256 of its text.'),
      fifoThroughputScope: ThroughputScope.nullable().describe(`${THROUGHPUT_SCOPE} null: in the topic.`),
      tags: Tags,
      attributes: Attributes,
      subscriptions: SubscriptionCounts.describe('How many subscriptions the topic has, by status.'),
      createdAt: CreatedAt,
    })
    .meta({
      description: 'A topic: what is published to it goes to each of its subscriptions.',
      examples: [
        {
          name: 'orders',
          arn: 'arn:aws:sns:us-east-1:000000000000:orders',
          displayName: 'Orders',
          deliveryPolicy: null,
          effectiveDeliveryPolicy: { ...SYSTEM_POLICY, requestPolicy: { headerContentType: null } },
          disableSubscriptionOverrides: false,
          retentionSeconds: 86_400,
          keepMessages: { seconds: 86_400, bytes: 104_857_600 },
          archive: null,
          notices: null,
          disableAfterDays: null,
          signing: 'none',
          recordAttempts: 'failures',
          eventTypeCheck: 'off',
          sealMessages: false,
          fifo: false,
          fifoThroughputScope: null,
          tags: { team: 'sales' },
          attributes: {},
          subscriptions: { active: 2, pending: 0, paused: 1 },
          createdAt: '2026-11-21T09:30:00.000Z',
        },
      ],
    }),
)

export const TopicListQuery = z.strictObject({
  prefix: z
    .string()
    .max(256)
    .optional()
    .describe('Only topics whose names begin with this text. Default: all.'),
  ...pageQuery,
})
export const TopicList = named('TopicList', pageOf('topics', TopicView))
