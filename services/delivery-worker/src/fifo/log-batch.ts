/** What of a FIFO topic's log goes next into which lanes, and what the outcome log is told of it. */
import type { LogMove } from '@fantail/store'
import { Bitmap } from '../bitmap.ts'
import type { CompiledSlice, CompiledSubscription } from '../compiled-slice.ts'
import type { MessageContext } from '../message-context.ts'

/** Deliveries per script, but for a first message that alone is for more. */
const DELIVERIES_MAX = 500

export interface LogBatch {
  move: LogMove
  deliveries: number
  notes: LogNote[]
}

export interface LogNote {
  context: MessageContext
  /** null: for no subscription. */
  slice: CompiledSlice | null
  parked: Bitmap
}

/** As many of the first messages as one script takes; those of which only the id is known leave for no lane. */
export function matchEntries(slice: CompiledSlice | null, contexts: (MessageContext | Buffer)[]): LogBatch {
  const batch: LogBatch = { move: { subscriptions: [], messages: [] }, deliveries: 0, notes: [] }
  const positions = new Map<CompiledSubscription, number>()
  const positionOf = (subscription: CompiledSubscription) => {
    const known = positions.get(subscription)
    if (known !== undefined) return known
    const { id, protocol } = subscription.record
    const position = batch.move.subscriptions.push({ id, mayRun: protocol === 'sqs' }) - 1
    positions.set(subscription, position)
    return position
  }
  for (const context of contexts) {
    const matched = slice === null || Buffer.isBuffer(context) ? [] : slice.subscriptions
    if (batch.deliveries > 0 && batch.deliveries + matched.length > DELIVERIES_MAX) break
    batch.deliveries += matched.length
    const id = Buffer.isBuffer(context) ? context : context.id
    batch.move.messages.push({ id, to: matched.map(positionOf) })
    if (Buffer.isBuffer(context)) continue
    const parked = new Bitmap(slice?.slots ?? 0)
    for (const { record } of matched) parked.add(record.slot)
    batch.notes.push({ context, slice: matched.length > 0 ? slice : null, parked })
  }
  return batch
}
