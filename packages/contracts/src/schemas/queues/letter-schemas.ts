/** Schemas for dead letters of a queue: to filter, count, group, list and purge them. */
import { z } from 'zod'
import { DEAD_LETTER_REASONS } from '../../records.ts'
import {
  named,
  namedInput,
  pageOf,
  pageQuery,
  Since,
  SubscriptionReference,
  Timestamp,
  TopicReference,
  timestamp,
  Until,
} from '../shared-schemas.ts'
import { QueueMessageView } from './queue-message-schemas.ts'

/**
 * The number of ids that fit one request. Larger selections are made with the other filters.
 * @limit Message ids that a filter of dead letters names. Past it: `validation_failed`.
 */
const MESSAGE_IDS_MAX = 1_000
/**
 * The number of ids that fit into a URL.
 * @limit Message ids in the query of a list of dead letters. Past it: `validation_failed`.
 */
const QUERY_MESSAGE_IDS_MAX = 50
const NONE = 'none' as const
const STATUS =
  'Only dead letters whose last attempt got this HTTP status, 100 to 599. `none`: it got no answer.'
const STATUS_WANTED = 'must be an HTTP status, 100 to 599, or none'
const Status = z.int().min(100).max(599)
const MessageId = z.string().min(1).max(100)

const common = {
  subscription: SubscriptionReference.optional().describe(
    'Only dead letters of this subscription, by its id or ARN. A deleted one needs its ARN.',
  ),
  topic: TopicReference.optional().describe('Only dead letters of this topic, by its name or ARN.'),
  reason: z.enum(DEAD_LETTER_REASONS).optional().describe('Only dead letters that ended for this reason.'),
  error: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe(
      'Only dead letters whose last attempt failed with this code, such as `timeout`. `none`: it has no code.',
    ),
  since: Since.optional(),
  until: Until.optional(),
}

/** The filter of dead letters: which are listed, grouped, moved by a redrive, or removed by a purge. */
export const DeadLetterFilter = z.strictObject({
  ...common,
  statusCode: z
    .union([Status, z.literal(NONE)], { error: STATUS_WANTED })
    .optional()
    .describe(STATUS),
  messageIds: z
    .array(MessageId)
    .min(1)
    .max(MESSAGE_IDS_MAX)
    .optional()
    .describe(`Only these messages, by the queue’s id or the published one: 1 to ${MESSAGE_IDS_MAX}.`),
})

/** The same filter as query parameters, which are all texts. */
const letterQuery = {
  ...common,
  statusCode: z
    .union([z.literal(NONE), z.coerce.number().pipe(Status)], { error: STATUS_WANTED })
    .optional()
    .describe(STATUS),
  messageIds: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(MessageId).min(1).max(QUERY_MESSAGE_IDS_MAX))
    .optional()
    .describe(
      `Only these messages, by commas, by the queue’s id or the published one: 1 to ${QUERY_MESSAGE_IDS_MAX}.`,
    ),
}

const LETTER_GROUP_MEMBERS = ['reason', 'statusCode', 'subscription', 'topic', 'error', 'hour'] as const
export type LetterGroupMember = (typeof LETTER_GROUP_MEMBERS)[number]
const KNOWN = new Set<string>(LETTER_GROUP_MEMBERS)

const GroupBy = z
  .string()
  .transform((text) => [...new Set(text.split(','))])
  .refine((names) => names.every((name) => KNOWN.has(name)), {
    error: `must be a list, by commas, of ${LETTER_GROUP_MEMBERS.join(', ')}`,
  })
  .transform((names) => names as LetterGroupMember[])

export const DeadLetterCountsQuery = z.strictObject({
  groupBy: GroupBy.optional().describe(
    `Groups letters with the same values, by commas: ${LETTER_GROUP_MEMBERS.join(', ')}. \`hour\` is that of the death.`,
  ),
  ...letterQuery,
  cursor: pageQuery.cursor,
})

const counts = z.record(z.string(), z.int())

const LetterSample = z.object({
  messageId: z
    .string()
    .describe('Id of the letter in this queue. It differs from the id of the published message.'),
  publishedMessageId: z.string().describe('Id that publishing the message answered.'),
})

const LetterGroup = named(
  'DeadLetterGroup',
  z
    .object({
      reason: z.enum(DEAD_LETTER_REASONS).optional().describe('Why they ended, if grouped by it.'),
      statusCode: z
        .int()
        .nullable()
        .optional()
        .describe('The last HTTP status, if grouped by it; null: the last attempt got no answer.'),
      subscription: z.string().optional().describe('ARN of their subscription, if grouped by it.'),
      subscriptionName: z
        .string()
        .nullable()
        .optional()
        .describe(
          'Name of this subscription, or its endpoint if it has no name. null: it is gone, or the key must not see it.',
        ),
      topic: z.string().optional().describe('ARN of their topic, if grouped by it.'),
      error: z
        .string()
        .nullable()
        .optional()
        .describe('Code of the last attempt’s failure, if grouped by it; null: it has none.'),
      hour: Timestamp.optional().describe('Beginning of the hour of their death, if grouped by it.'),
      count: z.int().describe('Dead letters of this group.'),
      oldestAt: timestamp('When the first of them was dead-lettered'),
      newestAt: timestamp('When the last of them was dead-lettered'),
      samples: z.array(LetterSample).describe('Up to three of them, the oldest first.'),
    })
    .meta({
      description: 'Dead letters with the same values.',
      examples: [
        {
          reason: 'retriesExhausted',
          statusCode: 503,
          count: 912,
          oldestAt: '2026-11-21T08:22:00.000Z',
          newestAt: '2026-11-21T09:30:07.000Z',
          samples: [
            {
              messageId: '059f36b4-87a3-84ab-83d2-661975830a7d',
              publishedMessageId: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
            },
          ],
        },
      ],
    }),
)

export const DeadLetterCounts = named(
  'DeadLetterCounts',
  z
    .object({
      byReason: counts.describe(
        'Dead letters by why they ended: permanent, retriesExhausted, expired, outcomeUnknown, setAside.',
      ),
      byStatusCode: counts.describe(
        'Dead letters by the last HTTP status; `none` where there was no answer.',
      ),
      bySubscription: counts.describe('Dead letters by the ARN of their subscription.'),
      matched: z
        .int()
        .optional()
        .describe('Dead letters that match. This and what follows are absent without `groupBy` and filter.'),
      scanned: z.int().optional().describe('Messages that this answer has looked at, oldest first.'),
      scannedTo: Timestamp.nullable()
        .optional()
        .describe('How far it has looked, by the age of messages. null: to the end of the queue.'),
      nextCursor: z
        .string()
        .nullable()
        .optional()
        .describe('Give it as `cursor` to continue; the counts then begin at 0. null: nothing is left.'),
      groups: z.array(LetterGroup).optional().describe('The groups, largest first; only with `groupBy`.'),
      otherGroups: z.int().optional().describe('Number of smaller groups that are left out.'),
      byHour: z
        .array(
          z.object({
            at: timestamp('Beginning of the hour'),
            count: z.int().describe('Dead letters that were dead-lettered in it.'),
          }),
        )
        .optional()
        .describe('Matching dead letters by the hour of their death, the earliest first.'),
    })
    .meta({
      description: 'How many dead letters a queue holds.',
      examples: [
        {
          byReason: { retriesExhausted: 2, permanent: 1 },
          byStatusCode: { '500': 2, '404': 1 },
          bySubscription: {
            'arn:aws:sns:us-east-1:000000000000:orders:0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012': 3,
          },
        },
      ],
    }),
)

const DeadLetterReasonShape = z.enum(DEAD_LETTER_REASONS)

export const PeekQuery = z.strictObject({ ...letterQuery, ...pageQuery })
export const PeekAnswer = named('QueueMessageList', pageOf('messages', QueueMessageView))
export const PurgeInput = namedInput(
  'PurgeInput',
  z
    .strictObject({
      reason: DeadLetterReasonShape.nullish().describe(
        'Only dead letters that ended for this reason. Default: everything in the queue.',
      ),
      filter: DeadLetterFilter.refine(
        (filter) => Object.values(filter).some((value) => value !== undefined),
        {
          message: 'must have a condition; leave it out to remove everything',
        },
      )
        .optional()
        .describe('Which messages to remove: all conditions must hold. Cannot be given with `reason`.'),
      dryRun: z
        .boolean()
        .optional()
        .describe('true: only count what would be removed, as `matched`. Default false.'),
    })
    .refine(({ reason, filter }) => reason == null || filter === undefined, {
      path: ['reason'],
      message: 'cannot be given together with filter: give filter.reason',
    })
    .meta({
      description: 'The dead letters to remove.',
      examples: [{ reason: 'permanent' }, { filter: { statusCode: 404 }, dryRun: true }],
    }),
)
export const PurgeAnswer = named(
  'PurgeResult',
  z
    .object({
      discarded: z.int().describe('Messages that were removed, in flight and delayed ones included.'),
      matched: z.int().optional().describe('Only of a dry run: messages that would be removed.'),
    })
    .meta({ examples: [{ discarded: 42 }] }),
)
