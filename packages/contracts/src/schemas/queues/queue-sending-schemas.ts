/** Schemas for sending to a queue over REST. */
import { z } from 'zod'
import { isObject } from '../../json-values.ts'
import { BATCH_MESSAGES_MAX, QUEUE_DELAY_SECONDS_MAX } from '../../limits.ts'
import {
  toAttribute,
  UNSENDABLE_TEXT,
  unsendable,
  unsendableAttribute,
} from '../../messages/message-rules.ts'
import { FifoId, MessageInput } from '../messages/message-schemas.ts'
import { named, namedInput } from '../shared-schemas.ts'
import { Delay } from './queue-schemas.ts'

const Body = z
  .string()
  .min(1)
  .refine((text) => !unsendable(text), UNSENDABLE_TEXT)

export const QueueItemInput = namedInput(
  'QueueMessageInput',
  z
    .strictObject({
      body: Body.describe(
        'Text of the message, of characters that XML 1.0 allows. The queue bounds its size.',
      ),
      attributes: MessageInput.shape.attributes,
      delaySeconds: Delay.optional().describe(
        `How long the message is hidden first, up to ${QUEUE_DELAY_SECONDS_MAX}. Default: the queue’s delay, which FIFO queues always use.`,
      ),
      groupId: FifoId.optional().describe(
        'Needed on FIFO queues, which keep order within it. In others, a group that takes too much of the consumers waits behind quieter groups. 1 to 128 visible ASCII characters.',
      ),
      deduplicationId: FifoId.optional().describe(
        'FIFO queues only: the same id within 5 minutes is one message. Needed without contentBasedDeduplication.',
      ),
    })
    .superRefine(({ attributes }, context) => {
      for (const [name, given] of isObject(attributes) ? Object.entries(attributes) : []) {
        const attribute = toAttribute(given)
        if (attribute === undefined || !unsendableAttribute(attribute)) continue
        context.addIssue({ code: 'custom', path: ['attributes', name], message: UNSENDABLE_TEXT })
      }
    })
    .meta({
      description: 'One message for a queue.',
      examples: [{ body: 'first job', attributes: { kind: 'mail' } }],
    }),
)
export const QueueBatchInput = namedInput(
  'QueueMessageBatchInput',
  z
    .strictObject({
      messages: z
        .array(QueueItemInput)
        .min(1)
        .max(BATCH_MESSAGES_MAX)
        .describe(`1 to ${BATCH_MESSAGES_MAX} messages, sent in this order.`),
    })
    .meta({
      description: 'Several messages for one queue.',
      examples: [{ messages: [{ body: 'first job' }, { body: 'second job', delaySeconds: 60 }] }],
    }),
)
/** This schema is only for the documentation. The route checks the body with the shape that it has. */
export const QueueSendInput = namedInput(
  'QueueSendInput',
  z.union([QueueItemInput, QueueBatchInput]).describe('One message, or a batch under `messages`.'),
)

const QueueReceipt = named(
  'QueueSendReceipt',
  z
    .object({
      messageId: z
        .string()
        .describe('Id of the message in this queue. A FIFO duplicate has the id of the first copy.'),
      sequenceNumber: z
        .string()
        .optional()
        .describe('FIFO only: 20 digits, rising with every message of the queue.'),
    })
    .meta({
      description: 'A message that is in the queue.',
      examples: [{ messageId: '059f36b4-87a3-44ab-83d2-661975830a7d' }],
    }),
)
const QueueReceiptList = named(
  'QueueSendReceiptList',
  z
    .object({
      results: z.array(QueueReceipt).describe('One receipt per message, in the order of the request.'),
    })
    .meta({ description: 'The receipts of a batch.' }),
)
export const QueueSendAnswer = named(
  'QueueSendAnswer',
  z.union([QueueReceipt, QueueReceiptList]).meta({
    description: 'A receipt for a single message, or the receipts of a batch.',
    examples: [{ messageId: '059f36b4-87a3-44ab-83d2-661975830a7d' }],
  }),
)
