/** Schemas for receiving from a queue over REST, and for settling received messages. */
import { z } from 'zod'
import {
  QUEUE_HANDLES_MAX,
  QUEUE_RECEIVE_MAX,
  QUEUE_VISIBILITY_SECONDS_MAX,
  QUEUE_WAIT_SECONDS_MAX,
} from '../../limits.ts'
import { DEAD_LETTER_REASONS } from '../../records.ts'
import { contentMembers } from '../messages/content-search-schemas.ts'
import { named, namedInput, timestamp } from '../shared-schemas.ts'
import { Visibility, Wait } from './queue-schemas.ts'

export const QueueMessageReference = z
  .string()
  .describe('Id of a message in this queue, as sending, receiving and looking answer it.')

export const ReceiveInput = namedInput(
  'ReceiveInput',
  z
    .strictObject({
      maxMessages: z
        .int()
        .min(1)
        .max(QUEUE_RECEIVE_MAX)
        .default(1)
        .describe(`Messages to receive at most, 1 to ${QUEUE_RECEIVE_MAX}. Default 1.`),
      waitSeconds: Wait.optional().describe(
        `How long to wait for a first message, up to ${QUEUE_WAIT_SECONDS_MAX}. Default: the queue’s receiveWaitSeconds.`,
      ),
      visibilityTimeoutSeconds: Visibility.optional().describe(
        'How long the received messages are hidden from others. Default: the queue’s own timeout.',
      ),
    })
    .meta({
      description: 'How many messages to receive, and how long to wait for them.',
      examples: [{ maxMessages: 10, waitSeconds: 20 }],
    }),
)

const DeadLetterView = named(
  'DeadLetter',
  z
    .object({
      reason: z
        .enum(DEAD_LETTER_REASONS)
        .describe(
          'permanent: no retry would help; retriesExhausted: the last retry failed; expired: too old; ' +
            'outcomeUnknown: the provider gave no answer and may have sent it; setAside: an operator set it aside.',
        ),
      statusCode: z.int().nullable().describe('HTTP status of the last attempt’s answer; null: it got none.'),
      lastError: z
        .string()
        .nullable()
        .describe(
          'How the last attempt failed without an answer, as a code: `timeout`, `connection_refused`, …; null otherwise.',
        ),
      attempts: z.int().describe('Attempts made before it was dead-lettered.'),
      subscriptionArn: z.string().describe('ARN of the subscription that it could not be delivered to.'),
      topicArn: z.string().describe('ARN of the topic it was published to.'),
      publishedMessageId: z
        .string()
        .describe(
          'Id that publishing the message answered, also where its body is raw and does not name it.',
        ),
      publishedAt: timestamp('When the message was published'),
      deadLetteredAt: timestamp('When it was put into the dead-letter queue'),
    })
    .describe('Why and when a subscription’s delivery ended in this queue. Absent on all other messages.'),
)

const item = {
  messageId: z
    .string()
    .describe('Id of the message in this queue. It differs from the id that the publish answered.'),
  receiveCount: z.int().describe('How often it has been received, this receive included.'),
  body: z.string().describe('Text of the message; from a topic SNS’s envelope unless delivery is raw.'),
  attributes: z
    .record(
      z.string(),
      z.object({
        type: z
          .string()
          .describe('`String`, `Number`, `Binary` or `String.Array`, with or without a `.label`.'),
        value: z.string().describe('The value as text; base64 where the type is Binary.'),
      }),
    )
    .describe('Attributes of the message by name; empty where it has none.'),
  sentAt: timestamp('When it came into this queue'),
  groupId: z.string().optional().describe('Message group that it was sent with, if any.'),
  deduplicationId: z.string().optional().describe('FIFO only: the id given, or the SHA-256 of the body.'),
  sequenceNumber: z
    .string()
    .optional()
    .describe('FIFO only: 20 digits, rising with every message of the queue.'),
  deadLetter: DeadLetterView.optional(),
}
const EXAMPLE = {
  messageId: '059f36b4-87a3-44ab-83d2-661975830a7d',
  receiveCount: 1,
  body: 'first job',
  attributes: { kind: { type: 'String', value: 'mail' } },
  sentAt: '2026-11-21T09:30:00.000Z',
}

export const QueueMessageView = named(
  'QueueMessage',
  z
    .object({
      ...item,
      body: z
        .string()
        .nullable()
        .describe(
          'Text of the message; from a topic SNS’s envelope unless delivery is raw. null: the key lacks the scope `bodies`, and sees no attributes.',
        ),
      bodyBytes: z
        .int()
        .nullable()
        .describe('Bytes of the text in UTF-8. null: it is sealed, and its key is missing.'),
      bodySha256: z.string().nullable().describe('SHA-256 of the text in UTF-8, in hex. null likewise.'),
      ...contentMembers,
      published: z
        .object({
          message: z.string().describe('The text as it was published, without an envelope.'),
          attributes: item.attributes,
        })
        .optional()
        .describe(
          'Only of a dead letter that is read by its id, and not without the scope `bodies`: what was published.',
        ),
    })
    .meta({
      description: 'A message in a queue, looked at without receiving it.',
      examples: [
        {
          ...EXAMPLE,
          eventType: null,
          line: 'first job',
          bodyBytes: 9,
          bodySha256: 'b1f3ba63f1a0e3e7b1cf0f1e3d4a8c9b0a1c2d3e4f5061728394a5b6c7d8e9f0',
        },
      ],
    }),
)
const RECEIPT_HANDLE = 'a1b2c3d4e5f6g7h8i9j0'

const ReceivedMessage = named(
  'ReceivedMessage',
  z
    .object({
      ...item,
      receiptHandle: z
        .string()
        .describe('Names this receive: acknowledge the message or change its timeout with it.'),
    })
    .meta({
      description: 'A message that was received.',
      examples: [{ ...EXAMPLE, receiptHandle: RECEIPT_HANDLE }],
    }),
)
export const ReceivedAnswer = named(
  'ReceivedMessages',
  z
    .object({
      messages: z.array(ReceivedMessage).describe('The received messages; empty where there were none.'),
    })
    .meta({ examples: [{ messages: [{ ...EXAMPLE, receiptHandle: RECEIPT_HANDLE }] }] }),
)

const receiptHandles = z
  .array(z.string().min(1).max(1_024))
  .min(1)
  .max(QUEUE_HANDLES_MAX)
  .describe(`Receipt handles of received messages, 1 to ${QUEUE_HANDLES_MAX}.`)
export const AckInput = namedInput(
  'AcknowledgeInput',
  z
    .strictObject({ receiptHandles })
    .meta({ description: 'Which messages are done.', examples: [{ receiptHandles: [RECEIPT_HANDLE] }] }),
)
export const VisibilityInput = namedInput(
  'VisibilityInput',
  z
    .strictObject({
      receiptHandles,
      visibilityTimeoutSeconds: Visibility.describe(
        `How long the messages are hidden from now on, up to ${QUEUE_VISIBILITY_SECONDS_MAX}; 0 shows them at once.`,
      ),
    })
    .meta({
      description: 'Which messages to hide, and for how long.',
      examples: [{ receiptHandles: [RECEIPT_HANDLE], visibilityTimeoutSeconds: 120 }],
    }),
)
const HandleResult = z.object({
  ok: z
    .boolean()
    .describe(
      'true: it was done, or the message was gone already. false: nothing was changed for this handle.',
    ),
  error: z
    .string()
    .optional()
    .describe(
      'Only where `ok` is false. `invalid_receipt_handle`: of another queue or made up; `expired_receipt_handle`: FIFO, ' +
        'its time is over; `message_not_available`: not in flight; `visibility_limit_exceeded`: past 12 hours.',
    ),
})
export const HandleResults = named(
  'HandleResults',
  z
    .object({
      results: z.array(HandleResult).describe('One result per handle, in the order of the request.'),
    })
    .meta({ examples: [{ results: [{ ok: true }, { ok: false, error: 'invalid_receipt_handle' }] }] }),
)
