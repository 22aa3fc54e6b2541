/** Schemas of the quarantine over REST: entries that cannot be decoded. */
import { z } from 'zod'
import { QUARANTINE_REASONS, type QuarantineReason } from '../quarantine-reasons.ts'
import { named, pageOf, pageQuery, timestamp } from './shared-schemas.ts'

const REASONS = Object.keys(QUARANTINE_REASONS) as [QuarantineReason, ...QuarantineReason[]]

const reasonsDescribed = Object.entries(QUARANTINE_REASONS)
  .map(([reason, text]) => `\`${reason}\`: ${text}`)
  .join('; ')

export const QuarantineReference = z.string().describe('Id of a quarantine entry, as the list shows it.')

const entry = {
  id: z.string().describe('Id of the entry, for the paths of this API.'),
  reason: z.enum(REASONS).describe(`Why it was put here. ${reasonsDescribed}.`),
  detail: z.string().describe('One sentence for the operator: what exactly is wrong.'),
  quarantinedAt: timestamp('When it was put into the quarantine'),
  messageId: z
    .string()
    .nullable()
    .describe('Id of the message; null where it cannot be read, or where the entry holds several.'),
  topicArn: z.string().nullable().describe('Topic of the message; null where it cannot be read.'),
  subscriptionId: z
    .string()
    .nullable()
    .describe('Subscription of a single delivery; null where the entry is about all of its message.'),
  rawBytes: z.int().describe('Size in bytes of what could not be decoded.'),
}

const EXAMPLE = {
  id: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
  reason: 'jobUnreadable',
  detail: 'Unexpected end of JSON input',
  quarantinedAt: '2026-11-21T09:30:00.000Z',
  messageId: null,
  topicArn: null,
  subscriptionId: null,
  rawBytes: 12,
}

const QuarantineEntryView = named(
  'QuarantineEntry',
  z.object(entry).meta({ description: 'Something that cannot be decoded or matched.', examples: [EXAMPLE] }),
)

export const QuarantineExport = named(
  'QuarantineExport',
  z
    .object({
      ...entry,
      raw: z.string().describe('The bytes as they were stored, in base64.'),
      text: z.string().nullable().describe('The same bytes as text; null if they are not UTF-8.'),
    })
    .meta({
      description: 'A quarantine entry with its bytes.',
      examples: [{ ...EXAMPLE, raw: 'eyJ2IjoxLCJtIjpb', text: '{"v":1,"m":[' }],
    }),
)

export const QuarantineListQuery = z.strictObject(pageQuery)
export const QuarantineList = named('QuarantineList', pageOf('entries', QuarantineEntryView))

export const PutBackAnswer = named(
  'PutBackResult',
  z
    .object({
      messages: z.int().describe('Messages dispatched again, to all matching subscriptions.'),
      deliveries: z.int().describe('Deliveries parked in the lane of their subscription: 0 or 1.'),
    })
    .meta({
      description: 'Content of a quarantine entry that was put back.',
      examples: [{ messages: 1, deliveries: 0 }],
    }),
)
