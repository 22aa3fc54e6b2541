/** Schemas of the quarantine over REST: entries that cannot be decoded. */
import { z } from 'zod'
import { QUARANTINE_REASONS, type QuarantineReason } from '../quarantine-reasons.ts'
import { named, pageOf, pageQuery, Timestamp } from './shared-schemas.ts'

const REASONS = Object.keys(QUARANTINE_REASONS) as [QuarantineReason, ...QuarantineReason[]]

const reasonsDescribed = Object.entries(QUARANTINE_REASONS)
  .map(([reason, text]) => `${reason}: ${text}`)
  .join('; ')

const entry = {
  id: z.string(),
  reason: z.enum(REASONS).describe(reasonsDescribed),
  detail: z.string().describe('One sentence for the operator'),
  quarantinedAt: Timestamp,
  messageId: z.string().nullable().describe('null where it cannot be read, or where the entry holds several'),
  topicArn: z.string().nullable(),
  subscriptionId: z
    .string()
    .nullable()
    .describe('Of one delivery; null where the entry is about all of its message'),
  rawBytes: z.int().describe('Of what could not be decoded'),
}

const QuarantineEntryView = named('QuarantineEntry', z.object(entry))

export const QuarantineExport = named(
  'QuarantineExport',
  z.object({
    ...entry,
    raw: z.string().describe('The bytes as they were, base64'),
    text: z.string().nullable().describe('The same as text; null where they are no UTF-8'),
  }),
)

export const QuarantineListQuery = z.strictObject(pageQuery)
export const QuarantineList = pageOf('entries', QuarantineEntryView)

export const PutBackAnswer = z.object({
  messages: z.int().describe('Dispatched again, to all matching subscriptions'),
  deliveries: z.int().describe('Parked in the lane of their subscription'),
})
