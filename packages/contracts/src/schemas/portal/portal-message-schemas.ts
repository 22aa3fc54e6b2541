/** Messages of an endpoint, with attempts, dead letters and figures, as a portal session sees them. */
import { z } from 'zod'
import { named, namedInput, pageOf, pageQuery, TimestampInput, timestamp } from '../shared-schemas.ts'

const MESSAGE_ID = '01a1fbe2-80fa-72ab-bc08-d682f311b524'
const MessageId = z.string().describe('Id of the message, as publishing answered it.')
const StatusCode = z.int().nullable().describe('HTTP status of the last answer; null: none or unknown.')
const ErrorOfLast = z
  .string()
  .nullable()
  .describe('Why the last attempt had no answer, as a code; null otherwise.')

const PortalMessageState = z
  .enum(['delivered', 'waiting', 'failed'])
  .describe('waiting: it will be attempted. failed: it was given up.')

const PortalMessage = named(
  'PortalMessage',
  z
    .object({
      messageId: MessageId,
      publishedAt: timestamp('When it was published'),
      at: timestamp('When this was recorded'),
      state: PortalMessageState,
      eventType: z
        .string()
        .nullable()
        .describe('Its event type. null: none, no longer stored, or without the scope bodies.'),
      line: z
        .string()
        .nullable()
        .describe(
          'The beginning of its text, in one line. null: no longer stored, or without the scope bodies.',
        ),
      attempts: z.int().nullable().describe('Attempts that were made; null: unknown.'),
      statusCode: StatusCode,
      error: ErrorOfLast,
    })
    .meta({
      description: 'A message to an endpoint.',
      examples: [
        {
          messageId: MESSAGE_ID,
          publishedAt: '2026-11-21T09:30:00.000Z',
          at: '2026-11-21T09:30:00.020Z',
          state: 'delivered',
          eventType: 'order.paid',
          line: '{"order":7}',
          attempts: 1,
          statusCode: 204,
          error: null,
        },
      ],
    }),
)

export const PortalMessageQuery = z.strictObject({ state: PortalMessageState.optional(), ...pageQuery })

export const PortalMessageList = named(
  'PortalMessageList',
  pageOf('messages', PortalMessage)
    .extend({
      scannedTo: z
        .string()
        .nullable()
        .describe('How far back the search looked, ISO 8601 in UTC; null: nowhere.'),
    })
    .meta({
      description: 'The latest messages to an endpoint, newest first.',
      examples: [{ messages: [], scannedTo: '2026-11-21T08:00:00.000Z', nextCursor: null }],
    }),
)

const PortalAttempt = z.object({
  messageId: MessageId,
  attempt: z.int().describe('Number of the attempt; 1 is the first.'),
  startedAt: timestamp('When the attempt began'),
  durationMs: z.number().describe('Milliseconds that it took.'),
  statusCode: z.int().nullable().describe('HTTP status of the answer; null: none came.'),
  error: z.string().nullable().describe('Why no answer came, as a code; null: there was one.'),
  answer: z
    .string()
    .nullable()
    .describe(
      'The first KiB of the endpoint’s answer. null: not recorded, hidden, or without the scope bodies.',
    ),
})
const ATTEMPT = {
  messageId: MESSAGE_ID,
  attempt: 1,
  startedAt: '2026-11-21T09:30:00.000Z',
  durationMs: 31,
  statusCode: 503,
  error: null,
  answer: null,
}

export const PortalMessageView = named(
  'PortalMessageDetail',
  z
    .object({
      messageId: MessageId,
      publishedAt: timestamp('When it was published'),
      state: PortalMessageState.nullable().describe('null: no longer known.'),
      eventType: z.string().nullable().describe('Its event type; null: it has none, or is no longer stored.'),
      body: z.string().nullable().describe('Its text. null: no longer stored, or without the scope bodies.'),
      canResend: z.boolean().describe('Whether its text is stored, so that it can be sent again.'),
      attempts: z.array(PortalAttempt).describe('Its recorded attempts, newest first.'),
    })
    .meta({
      description: 'A message to an endpoint, with its attempts.',
      examples: [
        {
          messageId: MESSAGE_ID,
          publishedAt: '2026-11-21T09:30:00.000Z',
          state: 'waiting',
          eventType: 'order.paid',
          body: '{"order":7}',
          canResend: true,
          attempts: [ATTEMPT],
        },
      ],
    }),
)

export const PortalAttemptList = named(
  'PortalAttemptList',
  z
    .object({
      recording: z.boolean().describe('false: no attempts are recorded here.'),
      attempts: z.array(PortalAttempt).describe('Recorded attempts, newest first, at most 100.'),
    })
    .meta({
      description: 'Recorded attempts at an endpoint.',
      examples: [{ recording: true, attempts: [ATTEMPT] }],
    }),
)

export const PortalDeadLetterList = named(
  'PortalDeadLetterList',
  z
    .object({
      total: z.int().describe('Dead letters of this endpoint.'),
      deadLetters: z
        .array(
          z.object({
            messageId: MessageId,
            publishedAt: timestamp('When it was published'),
            deadLetteredAt: timestamp('When it was given up'),
            reason: z
              .string()
              .describe('Why: permanent, retriesExhausted, expired, outcomeUnknown or setAside.'),
            statusCode: StatusCode,
            error: ErrorOfLast,
            attempts: z.int().describe('Attempts that were made.'),
            body: z.string().nullable().describe('The text; null: the session lacks the scope bodies.'),
            bodyBytes: z.int().nullable().describe('Size of the text; null: it cannot be read now.'),
          }),
        )
        .describe('Oldest first, at most 50. Large texts make them fewer.'),
    })
    .meta({
      description: 'Messages of an endpoint that could not be delivered.',
      examples: [
        {
          total: 1,
          deadLetters: [
            {
              messageId: MESSAGE_ID,
              publishedAt: '2026-11-21T09:30:00.000Z',
              deadLetteredAt: '2026-11-21T10:30:00.000Z',
              reason: 'permanent',
              statusCode: 404,
              error: null,
              attempts: 1,
              body: null,
              bodyBytes: 35,
            },
          ],
        },
      ],
    }),
)

export const PortalRedriveInput = namedInput(
  'PortalRedriveInput',
  z
    .strictObject({
      since: TimestampInput.optional().describe(
        'Only what was given up at this time or later. Default: all.',
      ),
      dryRun: z.boolean().optional().describe('true: only counts. Default false.'),
    })
    .meta({
      description: 'Which failed messages are sent again.',
      examples: [{ since: '2026-11-21T09:00:00Z' }],
    }),
)

export const PortalRedriveAnswer = named(
  'PortalRedrive',
  z
    .object({
      matched: z.int().describe('Failed messages that are sent again.'),
      maxMessagesPerSecond: z.number().describe('How many a second, at most.'),
    })
    .meta({
      description: 'Failed messages on their way again, or a count of them.',
      examples: [{ matched: 12, maxMessagesPerSecond: 10 }],
    }),
)

export const PortalResendAnswer = named(
  'PortalResend',
  z
    .object({ messageId: MessageId })
    .meta({ description: 'A message that is sent again.', examples: [{ messageId: MESSAGE_ID }] }),
)

const counts = (what: string) => z.array(z.int()).describe(`${what}, in each hour.`)

export const PortalStatsView = named(
  'PortalStats',
  z
    .object({
      stepSeconds: z.int().describe('Length of a step: 3600.'),
      kept: z.boolean().describe('false: no figures are kept for this endpoint. The lists are empty then.'),
      at: z
        .array(timestamp('When the hour began'))
        .describe('When each hour began, oldest first. The last is under way.'),
      delivered: counts('Messages delivered'),
      failed: counts('Attempts that failed'),
      deadLettered: counts('Messages given up'),
      meanMs: z
        .array(z.number().nullable())
        .describe('Mean time from publishing to arrival, ms, at most 10 % off. null: none arrived.'),
    })
    .meta({
      description: 'A week of an endpoint.',
      examples: [
        {
          stepSeconds: 3_600,
          kept: true,
          at: ['2026-11-21T09:00:00.000Z'],
          delivered: [412],
          failed: [3],
          deadLettered: [0],
          meanMs: [38],
        },
      ],
    }),
)
