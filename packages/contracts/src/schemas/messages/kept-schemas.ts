/** Schemas of kept messages, over REST: their bodies, and resending them. */
import { z } from 'zod'
import { RESEND_RATE_DEFAULT, RESEND_RATE_MAX } from '../../limits.ts'
import { named, namedInput, SubscriptionReference, TimestampInput, timestamp } from '../shared-schemas.ts'

const StoredAttributes = z.record(
  z.string(),
  z.object({
    type: z.string().describe('`String`, `Number`, `Binary` or `String.Array`, with or without a `.label`.'),
    value: z.string().describe('The value as text; base64 where the type is Binary.'),
  }),
)

export const MessageBodyView = named(
  'MessageBody',
  z
    .object({
      messageId: z.uuid().describe('Id of the message, as publishing answered it.'),
      sourceId: z.uuid().optional().describe('The id that subscribers see, if it is another one.'),
      topicArn: z.string().describe('ARN of the topic it was published to.'),
      publishedAt: timestamp('When it was published'),
      message: z.string().describe('The text, as it was published.'),
      structure: z
        .enum(['json'])
        .optional()
        .describe('json: the text is an object with a text for each protocol. Absent: one text for all.'),
      subject: z.string().optional().describe('The subject, if it has one.'),
      attributes: StoredAttributes.describe('Attributes of the message by name; empty where it has none.'),
      groupId: z.string().optional().describe('Message group that it was published with, if any.'),
      deduplicationId: z.string().optional().describe('FIFO only: the deduplication id in force.'),
      sequenceNumber: z.string().optional().describe('FIFO only: 20 digits, rising with every message.'),
      from: z
        .enum(['kept', 'waiting', 'deadLetter'])
        .describe(
          'The place where it was found: in the ring of kept messages, in a lane where a delivery waits, or in a dead-letter queue.',
        ),
    })
    .meta({
      description: 'A message as it is stored.',
      examples: [
        {
          messageId: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
          topicArn: 'arn:aws:sns:us-east-1:000000000000:orders',
          publishedAt: '2026-11-21T09:30:00.000Z',
          message: 'hello',
          subject: 'Greeting',
          attributes: { color: { type: 'String', value: 'red' } },
          from: 'kept',
        },
      ],
    }),
)

export const ResendInput = namedInput(
  'ResendInput',
  z
    .strictObject({
      subscription: SubscriptionReference.describe(
        'Subscription of the message’s topic that gets it again, by its id or ARN. Its filter is not asked.',
      ),
    })
    .meta({
      description: 'A delivery to be made again.',
      examples: [{ subscription: '0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012' }],
    }),
)

export const ResendAnswer = named(
  'Resend',
  z
    .object({
      messageId: z.uuid().describe('Id of the message; it stays the same.'),
      subscriptionId: z.string().describe('Id of the subscription that gets it again.'),
    })
    .meta({
      description: 'The delivery waits in the lane of its subscription.',
      examples: [
        {
          messageId: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
          subscriptionId: '0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012',
        },
      ],
    }),
)

export const ResendSinceInput = namedInput(
  'ResendSinceInput',
  z
    .strictObject({
      since: TimestampInput.describe(
        'Messages that were published at this time or later: ISO 8601 with an offset.',
      ),
      until: TimestampInput.optional().describe(
        'Messages that were published at this time or earlier: ISO 8601 with an offset. Default: all that are kept now.',
      ),
      failedOnly: z
        .boolean()
        .optional()
        .describe(
          'true: only messages whose latest delivery to the subscription was dead-lettered, discarded or expired, as ' +
            'far as the outcome log knows. Default false: delivered ones too.',
        ),
      maxMessagesPerSecond: z
        .number()
        .positive()
        .max(RESEND_RATE_MAX)
        .nullish()
        .describe(`Messages a second at most. Default ${RESEND_RATE_DEFAULT}; null: as fast as it goes.`),
      dryRun: z
        .boolean()
        .optional()
        .describe('true: only count the kept messages, and answer 200. Default false.'),
    })
    .meta({
      description: 'Messages to be sent again to a subscription.',
      examples: [{ since: '2026-11-21T09:00:00.000Z', maxMessagesPerSecond: 50 }],
    }),
)

export const ResendCount = named(
  'ResendDryRun',
  z
    .object({
      matched: z
        .int()
        .describe(
          'Messages kept since then. Those that the filter refuses, that are later than `until`, or that `failedOnly` leaves out count too.',
        ),
    })
    .meta({
      description: 'The messages that a resend would look at, counted. Nothing was changed.',
      examples: [{ matched: 1_200 }],
    }),
)
