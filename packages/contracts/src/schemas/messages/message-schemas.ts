/** Publishing over REST. */
import { z } from 'zod'
import {
  BATCH_MESSAGES_MAX,
  IDEMPOTENCY_KEY_CHARS_MAX,
  MESSAGE_BYTES_MAX,
  SUBJECT_CHARS_MAX,
} from '../../limits.ts'
import {
  EVENT_TYPE_ATTRIBUTES,
  EVENT_TYPE_VERSION_MAX,
  eventTypeProblem,
  GIVEN_TWICE,
} from '../../messages/event-type-rules.ts'
import { parseMessageId } from '../../messages/message-id.ts'
import {
  attributesProblems,
  fifoIdProblem,
  structureProblem,
  subjectProblem,
  textProblem,
} from '../../messages/message-rules.ts'
import { PROTOCOLS } from '../../protocols.ts'
import { named, namedInput, shownAs } from '../shared-schemas.ts'

const TypedAttribute = namedInput(
  'TypedAttribute',
  z
    .strictObject({
      type: z
        .string()
        .describe('`String`, `Number`, `Binary`, `String.Array`, or one of the first three with a `.label`.'),
      value: z.string().describe('The value as text; base64 where the type is Binary.'),
    })
    .meta({ description: 'An attribute of any type.', examples: [{ type: 'Binary', value: 'aGVsbG8=' }] }),
)

const MessageAttribute = namedInput(
  'MessageAttribute',
  z
    .union([z.string(), z.number(), z.array(z.string()), TypedAttribute])
    .describe('Text is a String, a number a Number, and an array of texts a String.Array.'),
)

const MessageAttributes = namedInput(
  'MessageAttributes',
  z
    .record(z.string(), MessageAttribute)
    .describe(
      'Attributes by name (1 to 256 of `A-Z a-z 0-9 _ - .`). Names of SNS that begin with `AWS.SNS.SMS.` or ' +
        '`AWS.SNS.MOBILE.` set options of text messages and mobile push; other names must not begin with `AWS.` or ' +
        '`Amazon.`.',
    ),
)

export const Attributes = shownAs(
  MessageAttributes,
  z.unknown().superRefine((value, context) => {
    if (value === undefined) return
    // The rules return a whole path as one text. Zod expects a list of parts.
    for (const { path, message } of attributesProblems(value, [])) {
      context.addIssue({ code: 'custom', path: path === '' ? [] : [path], message })
    }
  }),
)

const Subject = z.string().superRefine((text, context) => report(subjectProblem(text), context))

export const FifoId = z.string().superRefine((text, context) => report(fifoIdProblem(text), context))

const EventType = z.string().superRefine((name, context) => report(eventTypeProblem(name), context))
const EVENT_TYPE =
  'The type of the message, like `order.paid`. It becomes the attribute `eventType`, by which subscriptions choose types.'

const MESSAGE =
  'The content for subscribers: text as it is, an object or array as its JSON text. With its attributes at most ' +
  `${MESSAGE_BYTES_MAX} bytes; a topic may have a lower limit.`

const MESSAGE_EXAMPLE = { message: 'hello', subject: 'Greeting', attributes: { color: 'red' } }

/** One message of a publish. */
export const MessageInput = namedInput(
  'MessageInput',
  z
    .strictObject({
      // Generators of clients cannot make a type of a text, an object or an array.
      message: z
        .unknown()
        .superRefine((value, context) => {
          if (typeof value === 'string') report(textProblem(value), context)
          else if (value === undefined) report('is required', context)
          else if (typeof value !== 'object' || value === null) {
            report('must be text, an object or an array', context)
          }
        })
        .describe(MESSAGE),
      subject: Subject.optional().describe(
        `A short line for people, in envelopes only: 1 to ${SUBJECT_CHARS_MAX} characters without line breaks.`,
      ),
      attributes: Attributes.optional(),
      eventType: EventType.optional().describe(EVENT_TYPE),
      eventTypeVersion: z
        .int()
        .min(1)
        .max(EVENT_TYPE_VERSION_MAX)
        .optional()
        .describe(
          'The version of the type’s schema that the message follows. It becomes the attribute `eventTypeVersion`. Default: the newest.',
        ),
      structure: z
        .literal('json')
        .optional()
        .describe(
          `The message is a JSON object with a text per protocol (${PROTOCOLS.map((name) => `\`${name}\``).join(', ')}) and a \`default\`. A platform’s own text stands under its name, such as \`GCM\`.`,
        ),
      groupId: FifoId.optional().describe(
        'Needed on FIFO topics, which keep order within it; others pass it on to queues, which share consumers by it. 1 to 128 visible ASCII characters.',
      ),
      deduplicationId: FifoId.optional().describe(
        'FIFO topics only: the same id within 5 minutes is one message. Needed without contentBasedDeduplication.',
      ),
      sourceId: z
        .string()
        .refine((text) => parseMessageId(text) !== undefined, 'must be a UUID in lower case')
        .optional()
        .describe(
          'The id of a message that SNS has published first, a UUID in lower case. Subscribers see it in place of the message’s own id. Needs the scope `manage` too.',
        ),
    })
    .superRefine(reportTwice)
    .superRefine(reportStructure)
    .meta({ description: 'One message of a publish.', examples: [MESSAGE_EXAMPLE] }),
)

/** A message to one target. */
export const DirectMessageInput = namedInput(
  'DirectMessageInput',
  z
    .strictObject({
      phoneNumber: z
        .string()
        .optional()
        .describe('The phone number that gets a text message: `+`, the country’s code and the number.'),
      targetArn: z.string().optional().describe('ARN of the platform endpoint that gets a notification.'),
      message: MessageInput.shape.message,
      subject: MessageInput.shape.subject,
      attributes: MessageInput.shape.attributes,
      structure: MessageInput.shape.structure,
    })
    .superRefine(({ phoneNumber, targetArn }, context) => {
      if ((phoneNumber === undefined) !== (targetArn === undefined)) return
      const message = 'or targetArn is required, and not both'
      context.addIssue({ code: 'custom', path: ['phoneNumber'], message })
    })
    .superRefine(reportStructure)
    .meta({
      description: 'A message for one phone number, device or browser.',
      examples: [{ phoneNumber: '+15550100', message: 'Your code is 4711.' }],
    }),
)

/** The content that `/test` sends if the caller gives some. */
export const TestInput = namedInput(
  'TestInput',
  z
    .strictObject({
      message: MessageInput.shape.message
        .optional()
        .describe(
          'The content to send: text as it is, an object or array as its JSON text. Default: a JSON object that says that ' +
            'it is a test.',
        ),
      subject: Subject.optional().describe(
        `A short line for people, in envelopes only: 1 to ${SUBJECT_CHARS_MAX} characters without line breaks.`,
      ),
      attributes: Attributes.optional(),
    })
    .meta({
      description: 'The message of a test delivery.',
      examples: [{ message: { type: 'invoice.paid', data: { id: 'in_1' } } }, {}],
    }),
)

function reportStructure(
  { message, structure }: { message: unknown; structure?: 'json' | undefined },
  context: z.core.$RefinementCtx,
): void {
  if (structure !== 'json' || message === '') return
  const problem = structureProblem(typeof message === 'string' ? message : JSON.stringify(message))
  if (problem !== undefined) context.addIssue({ code: 'custom', path: ['message'], message: problem })
}

/** Members that become attributes must not be given as attributes too. */
function reportTwice(given: Record<string, unknown>, context: z.core.$RefinementCtx): void {
  if (typeof given.attributes !== 'object' || given.attributes === null) return
  for (const name of EVENT_TYPE_ATTRIBUTES)
    if (given[name] !== undefined && Object.hasOwn(given.attributes, name))
      context.addIssue({ code: 'custom', path: [name], message: GIVEN_TWICE })
}

function report(message: string | undefined, context: z.core.$RefinementCtx): void {
  if (message !== undefined) context.addIssue({ code: 'custom', message })
}

export const BatchInput = namedInput(
  'MessageBatchInput',
  z
    .strictObject({
      messages: z
        .array(MessageInput)
        .min(1)
        .max(BATCH_MESSAGES_MAX)
        .describe(`1 to ${BATCH_MESSAGES_MAX} messages, stored in this order, all or none.`),
    })
    .meta({
      description: 'Several messages for one topic.',
      examples: [{ messages: [{ message: 'first' }, { message: { order: 42 } }] }],
    }),
)

/**
 * This schema is only for the documentation. The route checks the body with one of the two shapes, so that only the
 * problems of this shape are listed.
 */
export const PublishInput = namedInput(
  'PublishInput',
  z.union([MessageInput, BatchInput]).describe('One message, or a batch under `messages`.'),
)

export const PublishQuery = z.strictObject({
  raw: z
    .enum(['false', 'true'])
    .optional()
    .describe(
      'true: the request’s body, whatever its type, is the message; it must be UTF-8. Default false.',
    ),
  subject: Subject.optional().describe(
    `The message’s subject, only with raw=true: 1 to ${SUBJECT_CHARS_MAX} characters without line breaks.`,
  ),
  eventType: EventType.optional().describe(
    'The type of the message, only with raw=true: a name like `order.paid`.',
  ),
})

export const IdempotencyKey = z
  .string()
  .min(1)
  .max(IDEMPOTENCY_KEY_CHARS_MAX)
  .describe(
    'Any text that names this publish: 1 to 255 visible ASCII characters. The same key within 24 hours stores nothing ' +
      'again and answers the same ids.',
  )

export const MessageReference = z
  .string()
  .describe('Id of a published message: a UUID, as publishing answers it.')

const SEQUENCE_NUMBER = 'FIFO only: 20 digits, rising with every message of the topic.'

const PublishReceipt = named(
  'PublishReceipt',
  z
    .object({
      messageId: z
        .uuid()
        .describe('Id of the stored message, a UUIDv7. A FIFO duplicate has the id of the first copy.'),
      sequenceNumber: z.string().optional().describe(SEQUENCE_NUMBER),
      warning: z
        .string()
        .optional()
        .describe('Why the message does not fit the catalogue of its topic, or that its type is deprecated.'),
    })
    .meta({
      description: 'A message that is stored.',
      examples: [{ messageId: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21' }],
    }),
)
export const DirectMessageReceipt = named(
  'DirectMessageReceipt',
  z.object({ messageId: z.uuid().describe('Id of the stored message, a UUIDv7.') }).meta({
    description: 'A message to one target that is stored.',
    examples: [{ messageId: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21' }],
  }),
)

const PublishReceiptList = named(
  'PublishReceiptList',
  z
    .object({
      results: z.array(PublishReceipt).describe('One receipt per message, in the order of the request.'),
    })
    .meta({ description: 'The receipts of a batch.' }),
)

export const PublishAnswer = named(
  'PublishAnswer',
  z.union([PublishReceipt, PublishReceiptList]).meta({
    description: 'A receipt for a single message, or the receipts of a batch.',
    examples: [{ messageId: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21' }],
  }),
)
