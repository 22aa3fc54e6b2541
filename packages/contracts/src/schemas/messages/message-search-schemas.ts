/** Searching the outcome log over REST. */
import { z } from 'zod'
import {
  named,
  pageQuery,
  SubscriptionReference,
  Timestamp,
  TimestampInput,
  TopicReference,
  timestamp,
} from '../shared-schemas.ts'
import { contentMembers } from './content-search-schemas.ts'

/** States of which the outcome log has entries. */
const SEARCHED_STATES = ['delivered', 'parked', 'filtered', 'deadLettered', 'discarded', 'expired'] as const

export const MessageSearchQuery = z.strictObject({
  topic: TopicReference.optional().describe('Only messages of this topic, by its name or ARN.'),
  subscription: SubscriptionReference.optional().describe(
    'Only deliveries of this subscription, by its id or ARN. It may be deleted.',
  ),
  state: z
    .enum(SEARCHED_STATES)
    .optional()
    .describe(
      'Only deliveries in this state. parked: it went to its lane to wait, and may have ended since. Default: all.',
    ),
  statusCode: z.coerce
    .number()
    .int()
    .min(100)
    .max(599)
    .optional()
    .describe('Only deliveries whose last known attempt was answered with this HTTP status.'),
  since: TimestampInput.optional().describe(
    'Only what was logged at this time or later: ISO 8601 with an offset.',
  ),
  until: TimestampInput.optional().describe(
    'Only what was logged at this time or earlier: ISO 8601 with an offset.',
  ),
  show: z
    .literal('lines')
    .optional()
    .describe(
      'lines: also shows the event type and a line of each message, if it is stored. Needs the scope `bodies`.',
    ),
  ...pageQuery,
})

const count = (words: string) => z.int().describe(words)

const SearchedMessage = named(
  'SearchedMessage',
  z
    .object({
      messageId: z.uuid().describe('Id of the message, as publishing answered it.'),
      topicArn: z.string().nullable().describe('ARN of its topic. null: the topic was deleted.'),
      publishedAt: timestamp('When it was published'),
      sizeBytes: z
        .int()
        .nullable()
        .describe('Bytes of its text and attributes together. null: not in what was read.'),
      at: timestamp('When the newest entry that was found was logged'),
      counts: z
        .object({
          delivered: count('Deliveries that their endpoint accepted.'),
          parked: count('Deliveries that went to a lane to wait. They may have ended since.'),
          filtered: count('Subscriptions whose filter policy kept the message back.'),
          deadLettered: count('Deliveries that ended in a dead-letter queue.'),
          discarded: count('Deliveries that ended in no queue.'),
          expired: count('Deliveries that ended because the message got too old.'),
        })
        .describe(
          'Deliveries that the search found, by state. A delivery that was parked and has ended counts twice.',
        ),
      ends: z
        .array(
          z.object({
            subscriptionId: z
              .string()
              .nullable()
              .describe('Id of the subscription. null: the message ended as a whole.'),
            outcome: z
              .enum(['delivered', 'deadLettered', 'discarded', 'expired'])
              .describe('How the delivery ended.'),
            endedAt: timestamp('When its end was logged'),
            attempts: z.int().describe('Attempts made until then, the first one included.'),
            statusCode: z.int().nullable().describe('HTTP status of the last answer; null: there was none.'),
            error: z
              .string()
              .nullable()
              .describe('How the last attempt failed without an answer, as a code; null otherwise.'),
            reason: z.string().nullable().describe('The reason of an end without delivery; null otherwise.'),
            redrives: z.int().describe('How often it was brought back from a dead-letter queue before.'),
          }),
        )
        .describe('The newest ends after a wait in a lane, at most ten, newest first.'),
      ...contentMembers,
    })
    .meta({
      description: 'A message that a search found.',
      examples: [
        {
          messageId: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
          topicArn: 'arn:aws:sns:us-east-1:000000000000:orders',
          publishedAt: '2026-11-21T09:30:00.000Z',
          sizeBytes: 5,
          at: '2026-11-21T09:41:12.000Z',
          eventType: null,
          line: null,
          counts: { delivered: 0, parked: 0, filtered: 0, deadLettered: 1, discarded: 0, expired: 0 },
          ends: [
            {
              subscriptionId: '2ed27b75-ed07-88d2-8000-0a4a7289a382',
              outcome: 'deadLettered',
              endedAt: '2026-11-21T09:41:12.000Z',
              attempts: 4,
              statusCode: 503,
              error: null,
              reason: 'retriesExhausted',
              redrives: 0,
            },
          ],
        },
      ],
    }),
)

export const MessageSearchAnswer = named(
  'MessageSearch',
  z
    .object({
      messages: z
        .array(SearchedMessage)
        .describe('Messages by their newest entry, newest first. A later page may have one again.'),
      scannedTo: Timestamp.nullable().describe(
        'The search looked back to this time: ISO 8601 in UTC. null: the log has nothing there.',
      ),
      nextCursor: z
        .string()
        .nullable()
        .describe('Give it as `cursor` to look further back. null: the search looked at everything.'),
    })
    .meta({
      description: 'A part of a search.',
      examples: [{ messages: [], scannedTo: '2026-11-21T09:14:00.000Z', nextCursor: null }],
    }),
)
