/** The next messages of a FIFO log with their lanes, and their entries for the outcome log. */
import type { TopicRecord } from '@fantail/contracts'
import { PROTOCOL_TRAITS } from '@fantail/policy'
import { type LogClaim, type LogMove, type NewEntry, type NewKept, parseDeliveryId } from '@fantail/store'
import type { UnreadableBody } from '../bodies/lane-bodies.ts'
import type { MessageContext } from '../messages/message-context.ts'
import { Bitmap } from '../topics/bitmap.ts'
import type { CompiledSlice, CompiledSubscription } from '../topics/compiled-slice.ts'
import type { FilterReasons } from '../topics/slice-filters.ts'
import type { SliceMatch } from '../topics/slice-match.ts'

/**
 * Deliveries that one script moves from a FIFO log into lanes; a single message may have more. Past it: a further
 * script follows.
 */
const MOVED_DELIVERIES_MAX = 500

export interface LogBatch {
  move: LogMove
  deliveries: number
  notes: LogNote[]
  /**
   * Messages whose subscribers cannot be determined. They must be quarantined before they leave the log without a lane.
   */
  unmatchable: Unmatchable[]
  /** Messages for the ring of the topic. Absent: the topic has no ring. */
  toKeep?: NewKept[]
  /** Set if a message that is isolated, or cannot be opened, is too old. */
  expired?: { topic: TopicRecord; context: MessageContext }
}

interface Unmatchable {
  context: MessageContext
  error: unknown
}

interface LogNote {
  context: MessageContext
  /** null: the message is for no subscription. */
  slice: CompiledSlice | null
  parked: Bitmap
  /** Which parked deliveries belong to a paused subscription. undefined: none. */
  paused: Bitmap | undefined
  /** Bitmap of the subscriptions whose filters reject the message. */
  filtered: Buffer
  reasons: FilterReasons
}

/** The batch that moves nothing. */
export function emptyBatch(): LogBatch {
  return { move: { subscriptions: [], messages: [] }, deliveries: 0, notes: [], unmatchable: [] }
}

/** The batch for a message that leaves the log without a lane, because it is too old. */
export function expiredBatch(topic: TopicRecord, context: MessageContext): LogBatch {
  const move = { subscriptions: [], messages: [{ id: context.id, to: [], isExpired: true }] }
  return { move, deliveries: 0, notes: [], unmatchable: [], expired: { topic, context } }
}

/** Undefined: the caller no longer needs the answer. */
type MatchSlice = (
  slice: CompiledSlice,
  context: MessageContext,
) => SliceMatch | Promise<SliceMatch | undefined>

/**
 * Matches the first messages, as many as one script can move. It ends early if the caller no longer needs the answer.
 * If only the id of a message is known, the message goes to no lane.
 */
export async function matchEntries(
  slice: CompiledSlice | null,
  contexts: (MessageContext | Buffer)[],
  matchSlice: MatchSlice,
): Promise<LogBatch> {
  const batch = emptyBatch()
  const positions = new Map<CompiledSubscription, number>()
  const positionOf = (subscription: CompiledSubscription) => {
    const known = positions.get(subscription)
    if (known !== undefined) return known
    const { id, protocol } = subscription.record
    const position =
      batch.move.subscriptions.push({ id, sendsFollowers: PROTOCOL_TRAITS[protocol].fifo.sendsFollowers }) - 1
    positions.set(subscription, position)
    return position
  }
  for (const context of contexts) {
    const found = await match(slice, context, matchSlice)
    if (!found) break
    if (found instanceof NotMatched) {
      batch.move.messages.push({ id: found.context.id, to: [] })
      batch.unmatchable.push(found)
      continue
    }
    const { matched, filtered, reasons } = found
    if (batch.deliveries > 0 && batch.deliveries + matched.length > MOVED_DELIVERIES_MAX) break
    batch.deliveries += matched.length
    const id = Buffer.isBuffer(context) ? context : context.id
    batch.move.messages.push({ id, to: matched.map(positionOf) })
    if (Buffer.isBuffer(context)) continue
    const told = matched.length > 0 || reasons.size > 0 ? slice : null
    batch.notes.push({ context, slice: told, ...bitsOf(matched, slice?.bits ?? 0), filtered, reasons })
  }
  return batch
}

function bitsOf(matched: readonly CompiledSubscription[], bits: number): Pick<LogNote, 'parked' | 'paused'> {
  const parked = new Bitmap(bits)
  let paused: Bitmap | undefined
  for (const { record } of matched) {
    parked.add(record.bit)
    if (record.status !== 'paused') continue
    paused ??= new Bitmap(bits)
    paused.add(record.bit)
  }
  return { parked, paused }
}

class NotMatched implements Unmatchable {
  readonly context: MessageContext
  readonly error: unknown

  constructor(context: MessageContext, error: unknown) {
    this.context = context
    this.error = error
  }
}

async function match(
  slice: CompiledSlice | null,
  context: MessageContext | Buffer,
  matchSlice: MatchSlice,
): Promise<SliceMatch | NotMatched | undefined> {
  if (!slice || Buffer.isBuffer(context))
    return { matched: [], filtered: Buffer.alloc(0), reasons: new Map() }
  try {
    return await matchSlice(slice, context)
  } catch (error) {
    return new NotMatched(context, error)
  } finally {
    // The message is kept for its lanes, without its parsed form.
    context.forgetSubjects()
  }
}

/** `body` null: it is missing. */
export function unreadableEntry({ topicArn }: LogClaim, id: Buffer, body: UnreadableBody | null): NewEntry {
  const { messageId } = parseDeliveryId(id)
  const entry = { id: `message.${messageId}`, messageId, topicArn }
  if (body === null) return { ...entry, reason: 'bodyMissing', detail: 'its body is missing', raw: '' }
  const detail = `its body cannot be decoded: ${body.message}`
  return { ...entry, reason: 'bodyUnreadable', detail, raw: body.raw }
}

export function unmatchableEntry({ context, error }: Unmatchable): NewEntry {
  const { messageId, topicArn } = context.message
  const detail = `it cannot be matched: ${error instanceof Error ? error.message : String(error)}`
  const entry = { id: `message.${messageId}`, messageId, topicArn, raw: context.body }
  return { ...entry, reason: 'messageUnmatchable', detail }
}
