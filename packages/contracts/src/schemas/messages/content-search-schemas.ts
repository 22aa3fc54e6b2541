/** Searching kept messages and dead letters by what they say, over REST. */
import { z } from 'zod'
import { DEAD_LETTER_REASONS } from '../../records.ts'
import {
  EventTypePattern,
  MetadataMember,
  named,
  pageQuery,
  QueueReference,
  SearchText,
  Timestamp,
  TimestampInput,
  TopicReference,
  timestamp,
} from '../shared-schemas.ts'

const common = {
  text: SearchText.optional().describe(
    'Only what has this text in its message, subject or attributes. Capital and small letters are equal, and escapes of JSON are decoded.',
  ),
  eventType: EventTypePattern.optional().describe(
    'Only messages of this event type, a name or a pattern such as `order.*`.',
  ),
  topic: TopicReference.optional().describe('Only messages of this topic, by its name or ARN.'),
  topicPrefix: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('Only messages of topics whose names begin so.'),
}

export const KeptSearchQuery = z.strictObject({
  ...common,
  metadata: MetadataMember.optional().describe(
    'Only messages of topics that have a subscription whose metadata has this member: a key, a colon and the value.',
  ),
  since: TimestampInput.optional().describe(
    'Only messages that were kept at this time or later: ISO 8601 with an offset.',
  ),
  until: TimestampInput.optional().describe(
    'Only messages that were kept at this time or earlier: ISO 8601 with an offset.',
  ),
  ...pageQuery,
})

export const LetterSearchQuery = z.strictObject({
  ...common,
  queue: QueueReference.optional().describe('Only letters in this queue, by its name or ARN.'),
  metadata: MetadataMember.optional().describe(
    'Only letters of subscriptions whose metadata has this member: a key, a colon and the value.',
  ),
  since: TimestampInput.optional().describe(
    'Only letters that were dead-lettered at this time or later: ISO 8601 with an offset.',
  ),
  until: TimestampInput.optional().describe(
    'Only letters that were dead-lettered at this time or earlier: ISO 8601 with an offset.',
  ),
  ...pageQuery,
})

/** The members by which people recognise a message in a list. */
export const contentMembers = {
  eventType: z
    .string()
    .nullable()
    .describe('Its attribute `eventType`. null: it has none, or it is not shown.'),
  line: z
    .string()
    .nullable()
    .describe(
      'One line of what it says, at most 120 characters, with invisible characters as escapes. null: it is not stored or not shown, or the key lacks the scope `bodies`.',
    ),
}

const foundIn = z
  .enum(['message', 'subject', 'attributes'])
  .nullable()
  .describe(
    'Part of the message in which the text was found; `line` is from there. null: no text was searched.',
  )

const FoundKept = named(
  'FoundKeptMessage',
  z
    .object({
      messageId: z.uuid().describe('Id of the message, as publishing answered it.'),
      topicArn: z.string().describe('ARN of the topic that it was published to.'),
      publishedAt: timestamp('When it was published'),
      sizeBytes: z.int().describe('Bytes of its text and attributes together.'),
      ...contentMembers,
      foundIn,
    })
    .meta({
      description: 'A kept message that a search found.',
      examples: [
        {
          messageId: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
          topicArn: 'arn:aws:sns:us-east-1:000000000000:orders',
          publishedAt: '2026-11-21T09:30:00.000Z',
          sizeBytes: 61,
          eventType: 'order.paid',
          line: '{"orderId":4711,"customer":"hooli"}',
          foundIn: 'message',
        },
      ],
    }),
)

const scanned = {
  scanned: z.int().describe('Messages that this answer has looked at.'),
  nextCursor: z
    .string()
    .nullable()
    .describe('Give it as `cursor` to search on. null: the search looked at everything.'),
}

export const KeptSearchAnswer = named(
  'KeptSearch',
  z
    .object({
      messages: z
        .array(FoundKept)
        .describe('Finds, the newest first within a topic, and by spans of time over several topics.'),
      ...scanned,
      scannedBytes: z.int().describe('Bytes of these messages as they are stored.'),
      unreadable: z.int().describe('Messages among them that cannot be decoded.'),
      keptBytes: z.int().describe('Bytes that the searched topics keep in all.'),
      scannedTo: Timestamp.nullable().describe(
        'Everything that was kept since this time is searched: ISO 8601 in UTC. null: everything is.',
      ),
    })
    .meta({
      description: 'A part of a search of kept messages.',
      examples: [
        {
          messages: [],
          scanned: 52_000,
          scannedBytes: 41_000_000,
          unreadable: 0,
          keptBytes: 104_857_600,
          scannedTo: '2026-11-21T09:14:00.000Z',
          nextCursor: 'WyJhIl0',
        },
      ],
    }),
)

const FoundLetter = named(
  'FoundDeadLetter',
  z
    .object({
      queueArn: z.string().describe('ARN of the queue that has it.'),
      messageId: z.string().describe('Id of the letter in this queue.'),
      publishedMessageId: z
        .string()
        .nullable()
        .describe('Id that publishing the message answered. null: a queue has moved it.'),
      topicArn: z
        .string()
        .nullable()
        .describe('ARN of the topic that the message was published to. null: a queue has moved it.'),
      subscriptionArn: z
        .string()
        .nullable()
        .describe('ARN of the subscription that it could not be delivered to. null: a queue has moved it.'),
      sourceQueueArn: z
        .string()
        .nullable()
        .describe('ARN of the queue that has moved it after `maxReceiveCount` receives. null: none has.'),
      reason: z
        .enum([...DEAD_LETTER_REASONS, 'maxReceiveCount'])
        .describe('Why it was dead-lettered. maxReceiveCount: a queue has moved it.'),
      statusCode: z.int().nullable().describe('HTTP status of the last attempt’s answer; null: it got none.'),
      lastError: z
        .string()
        .nullable()
        .describe('How the last attempt failed without an answer, as a code; null otherwise.'),
      deadLetteredAt: timestamp('When it was put into the dead-letter queue')
        .nullable()
        .describe('When it was put into the dead-letter queue: ISO 8601 in UTC. null: a queue has moved it.'),
      ...contentMembers,
      foundIn,
    })
    .meta({
      description: 'A dead letter that a search found.',
      examples: [
        {
          queueArn: 'arn:aws:sqs:us-east-1:000000000000:orders-dead-letters',
          messageId: '059f36b4-87a3-84ab-83d2-661975830a7d',
          publishedMessageId: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
          topicArn: 'arn:aws:sns:us-east-1:000000000000:orders',
          subscriptionArn: 'arn:aws:sns:us-east-1:000000000000:orders:2ed27b75-ed07-88d2-8000-0a4a7289a382',
          sourceQueueArn: null,
          reason: 'retriesExhausted',
          statusCode: 503,
          lastError: null,
          deadLetteredAt: '2026-11-21T09:41:12.000Z',
          eventType: 'order.paid',
          line: '{"orderId":4711,"customer":"hooli"}',
          foundIn: 'message',
        },
      ],
    }),
)

export const LetterSearchAnswer = named(
  'DeadLetterSearch',
  z
    .object({
      letters: z.array(FoundLetter).describe('Finds, queue by queue, the oldest first in each.'),
      ...scanned,
      queues: z.int().describe('Queues that the search looks into.'),
      queuesDone: z.int().describe('Queues among them that are searched to their end.'),
    })
    .meta({
      description: 'A part of a search of dead letters.',
      examples: [{ letters: [], scanned: 900, queues: 7, queuesDone: 7, nextCursor: null }],
    }),
)
