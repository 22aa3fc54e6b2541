/**
 * Reads and writes the entries of the outcome log. An entry is a text with bitmaps, which have a bit for each
 * subscription bit.
 */
import type { StoredWhy } from '@fantail/contracts'
import { packWhy, unpackWhy } from '../records/why-codes.ts'
import type { SliceMoment } from '../topics/snapshots.ts'
import type { CodeBits, DispatchEntry } from './dispatch-entry.ts'
import { type FilteredFields, readFiltered } from './outcome-filtered.ts'

const NOTHING = Buffer.alloc(0)

export type LaneOutcome = 'delivered' | 'deadLettered' | 'discarded' | 'expired'

/** A delivery was made again, and waits in its lane. */
export interface ResentEntry {
  messageId: string
  subscriptionId: string
  generation: number
}

export interface LaneEntry {
  messageId: string
  /** The 16 bytes of `messageId`, if the writer has them. */
  id?: Buffer
  /** null: the entry is about the whole message, which never reached a lane. */
  subscriptionId: string | null
  generation: number
  outcome: LaneOutcome
  reason: string | null
  attempts: number
  statusCode: number | null
  error: string | null
  /** For a delivered delivery: why it was attempted at its time. Absent: nothing delayed it. */
  why?: StoredWhy | undefined
  /** When the log stored the entry, like `storedAt` of a DispatchEntry. */
  storedAt?: number
}

/** All entries of one message. */
export interface Found {
  dispatch: DispatchEntry[]
  lanes: LaneEntry[]
  /** Absent: none. */
  resent?: ResentEntry[]
}

type DispatchFields = [
  tag: 'd',
  topicArn: string,
  sizeBytes: number,
  where: string,
  delivered: string,
  parked: string,
  filtered: string,
  failures?: DispatchEntry['failures'],
  otherCodes?: CodeText[],
  paused?: string,
  target?: string,
]
/** Without bits, the code applies to all delivered bits. */
type CodeText = [statusCode: number, bits?: string]
type LaneFields = [
  tag: 'l',
  subscriptionId: string | null,
  outcome: LaneOutcome,
  generation: number,
  attempts: number,
  statusCode: number | null,
  error: string | null,
  reason: string | null,
  why?: string,
]
type ResentFields = [tag: 'r', subscriptionId: string, generation: number]

export function dispatchText(entry: DispatchEntry): string {
  const { topicArn, target, sizeBytes, slice, delivered, otherCodes } = entry
  const { parked, paused, filtered, failures } = entry
  const where = slice ? sliceText(slice) : ''
  const fields: DispatchFields = [
    'd',
    topicArn,
    sizeBytes,
    where,
    base64(delivered),
    base64(parked),
    base64(filtered),
  ]
  const codes = otherCodes.map((code) => codeText(code, delivered))
  if (target !== undefined) fields.push(failures, codes, paused ? base64(paused) : '', target)
  else if (paused) fields.push(failures, codes, base64(paused))
  else if (codes.length > 0) fields.push(failures, codes)
  else if (failures.length > 0) fields.push(failures)
  return JSON.stringify(fields)
}

/** Most slices have lost no subscription, and their texts say nothing of it. */
function sliceText({ shard, sliceId, departures = 0 }: SliceMoment): string {
  return departures === 0 ? `${shard}:${sliceId}` : `${shard}:${sliceId}:${departures}`
}

function readSlice(text: string): SliceMoment | null {
  if (text === '') return null
  const [shard, sliceId = '', departures = 0] = text.split(':')
  return { shard: Number(shard), sliceId, departures: Number(departures) }
}

function codeText([statusCode, bits]: CodeBits, delivered: Buffer): CodeText {
  return bits.equals(delivered) ? [statusCode] : [statusCode, base64(bits)]
}

export function resentText({ subscriptionId, generation }: ResentEntry): string {
  const fields: ResentFields = ['r', subscriptionId, generation]
  return JSON.stringify(fields)
}

export function laneText(entry: LaneEntry): string {
  const { subscriptionId, generation, outcome, reason, attempts, statusCode, error, why } = entry
  const fields: LaneFields = ['l', subscriptionId, outcome, generation, attempts, statusCode, error, reason]
  if (why) fields.push(packWhy(why))
  return JSON.stringify(fields)
}

function base64(bitmap: Buffer): string {
  return bitmap.length === 0 ? '' : bitmap.toString('base64')
}

interface StoredText {
  messageId: string
  text: string
  storedAt?: number
}

export function readEntry({ messageId, text, storedAt }: StoredText, found: Found): void {
  const fields = JSON.parse(text) as DispatchFields | LaneFields | ResentFields | FilteredFields
  if (fields[0] === 'r') addResent(messageId, fields, found)
  else if (fields[0] === 'l') found.lanes.push(...timed([readLane(messageId, fields)], storedAt))
  else if (fields[0] === 'f') found.dispatch.push(...timed(readFiltered(messageId, fields), storedAt))
  else found.dispatch.push(...timed([readDispatch(messageId, fields)], storedAt))
}

function addResent(messageId: string, [, subscriptionId, generation]: ResentFields, found: Found): void {
  found.resent ??= []
  found.resent.push({ messageId, subscriptionId, generation })
}

function timed<T extends object>(entries: T[], storedAt: number | undefined): T[] {
  return storedAt === undefined ? entries : entries.map((entry) => ({ ...entry, storedAt }))
}

function readLane(messageId: string, fields: LaneFields): LaneEntry {
  const [, subscriptionId, outcome, generation, attempts, statusCode, error, reason, packed] = fields
  const why = packed === undefined ? undefined : unpackWhy(packed)
  const entry = { messageId, subscriptionId, generation, outcome, attempts, statusCode, error, reason }
  return why ? { ...entry, why } : entry
}

function readDispatch(messageId: string, fields: DispatchFields): DispatchEntry {
  const [, topicArn, sizeBytes, where, delivered, parked, filtered, failures = [], codes = []] = fields
  const [paused, target] = fields.slice(9) as [paused?: string, target?: string]
  return {
    messageId,
    topicArn,
    ...(target !== undefined && { target }),
    sizeBytes,
    slice: readSlice(where),
    delivered: Buffer.from(delivered, 'base64'),
    otherCodes: codes.map(([code, bits = delivered]) => readCode(code, bits)),
    parked: Buffer.from(parked, 'base64'),
    ...(paused && { paused: Buffer.from(paused, 'base64') }),
    filtered: Buffer.from(filtered, 'base64'),
    failures,
  }
}

const readCode = (statusCode: number, bits: string): CodeBits => [statusCode, Buffer.from(bits, 'base64')]

export function bits(bitmap: Buffer): number[] {
  const bits: number[] = []
  for (let i = 0; i < bitmap.length * 8; i++) if (hasBit(bitmap, i)) bits.push(i)
  return bits
}

export function wasPaused({ paused = NOTHING }: DispatchEntry, bit: number): boolean {
  return hasBit(paused, bit)
}

export function hasBit(bitmap: Buffer, bit: number): boolean {
  return ((bitmap[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0
}

export function statusCodeOf({ otherCodes }: DispatchEntry, bit: number): number {
  return otherCodes.find(([, bits]) => hasBit(bits, bit))?.[0] ?? 200
}
