/** Schemas for looking into a queue without receiving, and purging it. */
import { z } from 'zod'
import { DEAD_LETTER_REASONS } from '../../records.ts'
import { named, namedInput, pageOf, pageQuery } from '../shared-schemas.ts'
import { DeadLetterFilter, letterQuery } from './dead-letter-filter.ts'
import { QueueMessageView } from './queue-message-schemas.ts'

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
