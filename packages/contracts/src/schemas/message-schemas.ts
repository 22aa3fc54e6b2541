/** Publishing over REST, and what became of a message. */
import { z } from 'zod'
import { DELIVERY_CAUSES, type DeliveryCause } from '../delivery-causes.ts'
import { BATCH_MESSAGES_MAX } from '../limits.ts'
import {
  attributesProblems,
  fifoIdProblem,
  structureProblem,
  subjectProblem,
  textProblem,
} from '../message-rules.ts'
import { named, Timestamp } from './shared-schemas.ts'

const attributesShape = z.toJSONSchema(
  z.record(
    z.string(),
    z.union([
      z.string(),
      z.number(),
      z.array(z.string()),
      z.object({ type: z.string(), value: z.string().describe('base64 where type is Binary') }),
    ]),
  ),
)
delete attributesShape.$schema

const Attributes = z
  .unknown()
  .superRefine((value, context) => {
    if (value === undefined) return
    // The rules name the whole path themselves; an issue's path is a list of its parts.
    for (const { path, message } of attributesProblems(value, [])) {
      context.addIssue({ code: 'custom', path: path === '' ? [] : [path], message })
    }
  })
  .meta(attributesShape as Record<string, unknown>)

const Text = z.string().superRefine((text, context) => report(textProblem(text), context))
const Subject = z.string().superRefine((text, context) => report(subjectProblem(text), context))

export const FifoId = z.string().superRefine((text, context) => report(fifoIdProblem(text), context))

const Payload = z
  .union([Text, z.record(z.string(), z.unknown()), z.array(z.unknown())], {
    error: 'must be text, an object or an array',
  })
  .describe('Text as it is; an object or array as its JSON text')

/** One message of a publish. */
export const MessageInput = named(
  'MessageInput',
  z
    .strictObject({
      message: z.unknown().superRefine((value, context) => {
        if (typeof value === 'string') report(textProblem(value), context)
        else if (value === undefined) report('is required', context)
        else if (typeof value !== 'object' || value === null) {
          report('must be text, an object or an array', context)
        }
      }),
      subject: Subject.optional(),
      attributes: Attributes.optional(),
      structure: z.literal('json').optional().describe('The message holds a text per protocol'),
      groupId: FifoId.optional().describe('FIFO topics keep order within it; others pass it on to queues'),
      deduplicationId: FifoId.optional().describe('FIFO topics: the same id within 5 minutes is one message'),
    })
    .superRefine(({ message, structure }, context) => {
      if (structure !== 'json' || message === '') return
      const problem = structureProblem(typeof message === 'string' ? message : jsonText(message))
      if (problem !== undefined) context.addIssue({ code: 'custom', path: ['message'], message: problem })
    }),
)

function report(message: string | undefined, context: z.core.$RefinementCtx): void {
  if (message !== undefined) context.addIssue({ code: 'custom', message })
}

/** The JSON text of a value, '' where it is nested too deeply to be written. */
function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return ''
  }
}

export const BatchInput = named(
  'MessageBatchInput',
  z.strictObject({ messages: z.array(MessageInput).min(1).max(BATCH_MESSAGES_MAX) }),
)

/** Of the documentation: `message` as the shapes it takes. */
export const PublishInput = z
  .union([
    z.strictObject({ ...MessageInput.shape, message: Payload }),
    z.strictObject({
      messages: z
        .array(z.strictObject({ ...MessageInput.shape, message: Payload }))
        .min(1)
        .max(BATCH_MESSAGES_MAX),
    }),
  ])
  .meta({ examples: [{ message: 'hello', attributes: { color: 'red' } }] })

export const PublishQuery = z.strictObject({
  raw: z.enum(['false', 'true']).optional().describe('The request’s body, whatever its type, is the message'),
  subject: Subject.optional().describe('With raw=true'),
})

const Receipt = z.object({
  messageId: z.uuid(),
  sequenceNumber: z.string().optional().describe('FIFO topics: 20 digits, rising'),
})
export const PublishAnswer = named(
  'PublishAnswer',
  z.union([Receipt, z.object({ results: z.array(Receipt) })]),
)

export const MessageView = named(
  'Message',
  z.object({
    messageId: z.uuid(),
    topicArn: z.string(),
    publishedAt: Timestamp,
    sizeBytes: z.int(),
    counts: z.object({
      delivered: z.int(),
      waiting: z.int(),
      deadLettered: z.int(),
      discarded: z.int(),
      expired: z.int(),
      quarantined: z.int(),
      filtered: z.int(),
    }),
  }),
)

const CAUSES = Object.keys(DELIVERY_CAUSES) as [DeliveryCause, ...DeliveryCause[]]

const DeliveryCauseName = named(
  'DeliveryCause',
  z.enum(CAUSES).describe(
    Object.entries(DELIVERY_CAUSES)
      .map(([name, meaning]) => `${name}: ${meaning}`)
      .join(' '),
  ),
)

export const DeliveriesAnswer = z.object({
  deliveries: z.array(
    named(
      'Delivery',
      z.object({
        subscriptionId: z.string().nullable().describe('null where it is known no more'),
        endpoint: z.string().nullable().describe('Without credentials'),
        state: z.enum([
          'delivered',
          'waiting',
          'inFlight',
          'deadLettered',
          'discarded',
          'expired',
          'quarantined',
          'filtered',
        ]),
        attempts: z.int().describe('Attempts made'),
        attemptsMax: z
          .int()
          .nullable()
          .describe('The first attempt and the retries of the policy in force; null without a subscription'),
        lastStatusCode: z.int().nullable().describe('null if the last attempt got no answer'),
        lastError: z.string().nullable(),
        nextAttemptAt: Timestamp.nullable().describe('Not before then; null if nothing is planned'),
        delayMs: z
          .int()
          .nullable()
          .describe(
            'How long `because` made it wait: from the end of the attempt before, or from publishing. null if unknown',
          ),
        because: DeliveryCauseName.nullable().describe(
          'Why it waits, or ended; if delivered, why the last attempt came when it did. null if nothing delayed it',
        ),
        reason: z.string().nullable().describe('Why it ended, or is in quarantine'),
        redrives: z.int().describe('How often it was brought back from a dead-letter queue'),
      }),
    ),
  ),
})
