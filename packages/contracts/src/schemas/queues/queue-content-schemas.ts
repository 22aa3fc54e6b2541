/** Schemas for looking into a queue without receiving, counting its dead letters, and purging it. */
import { z } from 'zod'
import { DEAD_LETTER_REASONS } from '../../records.ts'
import {
  named,
  namedInput,
  pageOf,
  pageQuery,
  Since,
  SubscriptionReference,
  Until,
} from '../shared-schemas.ts'
import { DeadLetterFilter } from './dead-letter-filter.ts'
import { QueueMessageView } from './queue-message-schemas.ts'

const DeadLetterReasonShape = z.enum(DEAD_LETTER_REASONS)
const StatusCodeQuery = z.coerce.number().int().min(100).max(599)
export const PeekQuery = z.strictObject({
  subscription: SubscriptionReference.optional().describe(
    'Only dead letters of this subscription, by its id or ARN. A deleted one needs its ARN.',
  ),
  statusCode: StatusCodeQuery.optional().describe(
    'Only dead letters whose last attempt was answered with this HTTP status, 100 to 599.',
  ),
  reason: DeadLetterReasonShape.optional().describe('Only dead letters that ended for this reason.'),
  since: Since.optional(),
  until: Until.optional(),
  ...pageQuery,
})
export const PeekAnswer = named('QueueMessageList', pageOf('messages', QueueMessageView))

const counts = z.record(z.string(), z.int())
export const DeadLetterCounts = named(
  'DeadLetterCounts',
  z
    .object({
      byReason: counts.describe(
        'Dead letters by why they ended: permanent, retriesExhausted, expired, outcomeUnknown.',
      ),
      byStatusCode: counts.describe(
        'Dead letters by the last HTTP status; `none` where there was no answer.',
      ),
      bySubscription: counts.describe('Dead letters by the ARN of their subscription.'),
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
export const DeadLetterCountsQuery = z.strictObject({
  reason: DeadLetterReasonShape.optional().describe('Only dead letters that ended for this reason.'),
})
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
