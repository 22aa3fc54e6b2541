/** The filter of dead letters: which are listed, grouped, moved by a redrive, or removed by a purge. */
import { z } from 'zod'
import { DEAD_LETTER_REASONS } from '../../records.ts'
import { Since, SubscriptionReference, TopicReference, Until } from '../shared-schemas.ts'

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

export const DeadLetterFilter = z.strictObject({
  ...common,
  statusCode: z
    .union([Status, z.literal(NONE)])
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
export const letterQuery = {
  ...common,
  statusCode: z
    .union([z.literal(NONE), z.coerce.number().pipe(Status)])
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
