/** Entries of the outcome log: their texts, and the bitmaps by subscription slot that they hold. */
import { type FilteredFields, readFiltered } from './outcome-filtered.ts'
import type { SliceRef } from './plans.ts'

/** What dispatch says of one message in one slice; `slice` null: nothing matched, in the whole topic. */
export interface DispatchEntry {
  messageId: string
  /** Its 16 bytes, where they are at hand. */
  id?: Buffer
  topicArn: string
  sizeBytes: number
  slice: SliceRef | null
  delivered: Buffer
  parked: Buffer
  filtered: Buffer
  failures: [slot: number, statusCode: number | null, error: string | null][]
}

export type LaneOutcome = 'delivered' | 'deadLettered' | 'discarded' | 'expired'

export interface LaneEntry {
  messageId: string
  subscriptionId: string
  generation: number
  outcome: LaneOutcome
  reason: string | null
  attempts: number
  statusCode: number | null
  error: string | null
}

/** All that a log tells of one message. */
export interface Found {
  dispatch: DispatchEntry[]
  lanes: LaneEntry[]
}

type DispatchFields = ['d', string, number, string, string, string, string, DispatchEntry['failures']?]
type LaneFields = ['l', string, LaneOutcome, number, number, number | null, string | null, string | null]

export function dispatchText(entry: DispatchEntry): string {
  const { topicArn, sizeBytes, slice, delivered, parked, filtered, failures } = entry
  const where = slice ? `${slice.shard}:${slice.sliceId}` : ''
  const fields: DispatchFields = [
    'd',
    topicArn,
    sizeBytes,
    where,
    base64(delivered),
    base64(parked),
    base64(filtered),
  ]
  if (failures.length > 0) fields.push(failures)
  return JSON.stringify(fields)
}

export function laneText(entry: LaneEntry): string {
  const { subscriptionId, generation, outcome, reason, attempts, statusCode, error } = entry
  const fields: LaneFields = ['l', subscriptionId, outcome, generation, attempts, statusCode, error, reason]
  return JSON.stringify(fields)
}

function base64(bitmap: Buffer): string {
  return bitmap.length === 0 ? '' : bitmap.toString('base64')
}

export function readEntry(messageId: string, text: string, found: Found): void {
  const fields = JSON.parse(text) as DispatchFields | LaneFields | FilteredFields
  if (fields[0] === 'l') {
    const [, subscriptionId, outcome, generation, attempts, statusCode, error, reason] = fields
    found.lanes.push({ messageId, subscriptionId, generation, outcome, attempts, statusCode, error, reason })
    return
  }
  if (fields[0] === 'f') {
    found.dispatch.push(...readFiltered(messageId, fields))
    return
  }
  const [, topicArn, sizeBytes, where, delivered, parked, filtered, failures = []] = fields
  const colon = where.indexOf(':')
  found.dispatch.push({
    messageId,
    topicArn,
    sizeBytes,
    slice: where === '' ? null : { shard: Number(where.slice(0, colon)), sliceId: where.slice(colon + 1) },
    delivered: Buffer.from(delivered, 'base64'),
    parked: Buffer.from(parked, 'base64'),
    filtered: Buffer.from(filtered, 'base64'),
    failures,
  })
}

/** A job that was started again leaves several entries for a slice: a bit set in any of them counts. */
export function mergeSlices(entries: DispatchEntry[]): Map<string, DispatchEntry> {
  const merged = new Map<string, DispatchEntry>()
  for (const entry of entries) {
    const key = entry.slice?.sliceId ?? ''
    const before = merged.get(key)
    if (!before) {
      merged.set(key, entry)
      continue
    }
    const delivered = union(before.delivered, entry.delivered)
    const parked = without(union(before.parked, entry.parked), delivered)
    merged.set(key, {
      ...entry,
      delivered,
      parked,
      // A filter that changed between two runs: what was delivered counts.
      filtered: without(union(before.filtered, entry.filtered), union(delivered, parked)),
      failures: [...before.failures, ...entry.failures],
    })
  }
  return merged
}

function union(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(
    Array.from({ length: Math.max(a.length, b.length) }, (_, i) => (a[i] ?? 0) | (b[i] ?? 0)),
  )
}

function without(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(Array.from(a, (byte, i) => byte & ~(b[i] ?? 0)))
}

export function bits(bitmap: Buffer): number[] {
  const slots: number[] = []
  for (let i = 0; i < bitmap.length * 8; i++)
    if (((bitmap[i >> 3] ?? 0) & (1 << (i & 7))) !== 0) slots.push(i)
  return slots
}
