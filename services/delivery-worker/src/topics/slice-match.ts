/** Divides the subscriptions of a slice into those that a message matches and all others. */

import type { MessageContext } from '../messages/message-context.ts'
import type { CompiledSlice, CompiledSubscription } from './compiled-slice.ts'
import type { FilterReasons } from './slice-filters.ts'

export interface SliceMatch {
  matched: readonly CompiledSubscription[]
  /** Bitmap of the subscriptions whose filters do not match. Callers must not change it. */
  filtered: Buffer
  reasons: FilterReasons
}

const NOTHING = Buffer.alloc(0)
const NO_REASONS: FilterReasons = new Map()

/** `bits`: those whose filters match. undefined: there are no filters. */
export function sliceMatch(
  slice: CompiledSlice,
  context: MessageContext,
  bits: readonly number[] | undefined,
): SliceMatch {
  const { filters, subscriptions, unfiltered, byBit } = slice
  if (!filters || !bits) return { matched: subscriptions, filtered: NOTHING, reasons: NO_REASONS }
  const reasons: FilterReasons = new Map()
  filters.countReasons(context, bits, reasons)
  const matched = [...unfiltered]
  for (const bit of bits) {
    const subscription = byBit[bit]
    if (subscription) matched.push(subscription)
  }
  return { matched, filtered: filters.filtered(bits), reasons }
}
