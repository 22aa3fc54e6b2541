/**
 * A batch as push consumers receive it, in the shape of AWS Lambda. The schema documents it, and `delivery` writes it.
 */
import { z } from 'zod'
import { named } from '../shared-schemas.ts'

const MESSAGE_ID = '059f36b4-87a3-44ab-83d2-661975830a7d'

const Attribute = z.object({
  stringValue: z.string().optional().describe('The value as text; absent where the type is Binary.'),
  binaryValue: z.string().optional().describe('The value in base64, only where the type is Binary.'),
  stringListValues: z.array(z.string()).describe('Always empty; Lambda’s events have it.'),
  binaryListValues: z.array(z.string()).describe('Always empty; Lambda’s events have it.'),
  dataType: z
    .string()
    .describe('`String`, `Number`, `Binary` or `String.Array`, with or without a `.label`.'),
})

const EventRecord = z.object({
  messageId: z
    .string()
    .describe('Id of the message in the queue; name it in `batchItemFailures` if it failed.'),
  receiptHandle: z.string().describe('Handle of this receive, good for the queue’s API.'),
  body: z.string().describe('Text of the message; from a topic SNS’s envelope unless delivery is raw.'),
  attributes: z
    .record(z.string(), z.string())
    .describe(
      'SQS’s system attributes by name, as text, like `ApproximateReceiveCount` and `MessageGroupId`.',
    ),
  messageAttributes: z.record(z.string(), Attribute).describe('Attributes of the message by name.'),
  md5OfMessageAttributes: z
    .string()
    .optional()
    .describe('MD5 of the attributes as SQS computes it; absent without.'),
  md5OfBody: z.string().describe('MD5 of the body, in hex digits.'),
  eventSource: z.literal('aws:sqs').describe('Always `aws:sqs`, as Lambda’s events have it.'),
  eventSourceARN: z.string().describe('ARN of the queue that the message is in.'),
  awsRegion: z.string().describe('Region in the queue’s ARN.'),
})

export const QueueEvent = named(
  'QueueEvent',
  z
    .object({
      Records: z.array(EventRecord).describe('The messages of the batch, at most batchSize of the consumer.'),
    })
    .meta({
      description: 'A batch of a queue’s messages, in the shape in which AWS Lambda gets it.',
      examples: [
        {
          Records: [
            {
              messageId: MESSAGE_ID,
              receiptHandle: 'a1b2c3d4e5f6g7h8i9j0',
              body: 'first job',
              attributes: { SenderId: '000000000000', ApproximateReceiveCount: '1' },
              messageAttributes: {},
              md5OfBody: 'e19f3195727cebf8aa96ba47fbf3b9cc',
              eventSource: 'aws:sqs',
              eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:jobs',
              awsRegion: 'us-east-1',
            },
          ],
        },
      ],
    }),
)

export const BatchFailures = named(
  'BatchFailures',
  z
    .object({
      batchItemFailures: z
        .array(z.object({ itemIdentifier: z.string().describe('A `messageId` of the batch.') }))
        .describe('The messages that failed: they come back, the others are deleted.'),
    })
    .meta({
      description: 'Answer of a consumer with reportBatchItemFailures that could not work on all messages.',
      examples: [{ batchItemFailures: [{ itemIdentifier: MESSAGE_ID }] }],
    }),
)
