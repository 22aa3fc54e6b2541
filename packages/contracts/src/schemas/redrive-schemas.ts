/** Redrive tasks over REST. */
import { z } from 'zod'
import {
  named,
  pageOf,
  pageQuery,
  QueueReference,
  SubscriptionReference,
  Timestamp,
  TimestampInput,
} from './shared-schemas.ts'

/**
 * A batch of ids is one request's worth; a larger selection is what the other filters are for.
 * @limit Message ids that a redrive's filter names. Past it: `validation_failed`.
 */
const MESSAGE_IDS_MAX = 1_000
const Rate = z.number().positive().max(100_000).describe('Messages a second')
const Status = z.enum(['running', 'paused', 'canceling', 'canceled', 'completed', 'failed'])

export const RedriveInput = z
  .strictObject({
    source: QueueReference,
    destination: QueueReference.nullish().describe('Without it, each message goes back where it came from'),
    maxMessagesPerSecond: Rate.nullish(),
    filter: z
      .strictObject({
        subscription: SubscriptionReference.optional(),
        statusCode: z.int().min(100).max(599).optional(),
        since: TimestampInput.optional(),
        until: TimestampInput.optional(),
        messageIds: z.array(z.string().min(1).max(100)).min(1).max(MESSAGE_IDS_MAX).optional(),
      })
      .optional(),
    dryRun: z.boolean().optional(),
  })
  .meta({ examples: [{ source: 'dead', maxMessagesPerSecond: 100 }] })

export const RedriveView = named(
  'Redrive',
  z.object({
    id: z.string(),
    status: Status,
    source: z.string(),
    destination: z.string().nullable(),
    matched: z.int(),
    moved: z.int(),
    skipped: z.int(),
    maxMessagesPerSecond: z.number().nullable(),
    startedAt: Timestamp,
    endedAt: Timestamp.nullable(),
    error: z.string().optional(),
  }),
)

export const DryRunAnswer = z.object({
  matched: z.int(),
  withoutOrigin: z
    .int()
    .describe('Of these came from no subscription and no queue: without a destination they stay'),
  bySubscription: z.record(z.string(), z.int()),
  byStatusCode: z.record(z.string(), z.int()),
})

export const RedriveRateInput = z.strictObject({ maxMessagesPerSecond: Rate.nullable() })
export const RedriveListQuery = z.strictObject({
  source: QueueReference.optional(),
  status: Status.optional(),
  ...pageQuery,
})
export const RedriveList = pageOf('redrives', RedriveView)
