/** Which dead letters a redrive moves or a purge removes. */
import { z } from 'zod'
import { DEAD_LETTER_REASONS } from '../../records.ts'
import { Since, SubscriptionReference, Until } from '../shared-schemas.ts'

/**
 * The number of ids that fit one request. Larger selections are made with the other filters.
 * @limit Message ids that a filter of dead letters names. Past it: `validation_failed`.
 */
const MESSAGE_IDS_MAX = 1_000
export const DeadLetterFilter = z.strictObject({
  subscription: SubscriptionReference.optional().describe(
    'Only dead letters of this subscription, by its id or ARN. A deleted one needs its ARN.',
  ),
  statusCode: z
    .int()
    .min(100)
    .max(599)
    .optional()
    .describe('Only dead letters whose last attempt was answered with this HTTP status.'),
  reason: z.enum(DEAD_LETTER_REASONS).optional().describe('Only dead letters that ended for this reason.'),
  since: Since.optional(),
  until: Until.optional(),
  messageIds: z
    .array(z.string().min(1).max(100))
    .min(1)
    .max(MESSAGE_IDS_MAX)
    .optional()
    .describe(`Only these messages, by the queue’s id or the published one: 1 to ${MESSAGE_IDS_MAX}.`),
})
