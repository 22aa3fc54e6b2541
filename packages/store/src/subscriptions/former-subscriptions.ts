/**
 * The subscriptions that have left a slice (slice-subscriptions.lua). The outcome log names deliveries by slot, and a
 * slot has another subscription later. Endpoints are not remembered, because the address of a deleted subscription may
 * be secret or personal.
 */
import type { SubscriptionRecord } from '@fantail/contracts'
import { CorruptRecordError, parseStored } from '../records/stored-json.ts'

/** A subscription that has or had a slot. */
export type SlotHolder = Pick<SubscriptionRecord, 'id' | 'slot' | 'departures'>

export interface FormerSubscription extends SlotHolder {
  name: string | null
  /** When its lane was last purged, epoch ms. 0: never. */
  purgedAt: number
}

/** Throws a CorruptRecordError that names `key`. */
export function unpackFormer(text: string, key: string): FormerSubscription {
  const { id, slot, departures, name, purgedAt } = parseStored(text, key)
  if (typeof id !== 'string' || typeof slot !== 'number')
    throw new CorruptRecordError(key, new TypeError('names no subscription'))
  return {
    id,
    slot,
    departures: Number(departures),
    name: typeof name === 'string' ? name : null,
    purgedAt: Number(purgedAt),
  }
}

/**
 * Who had each slot of a slice. A slot gets another subscription only after a departure, so its holder is the last one
 * that had come by then.
 */
export class SlotHolders<T extends SlotHolder> {
  readonly #bySlot: Map<number, T[]>

  constructor(holders: Iterable<T>) {
    this.#bySlot = Map.groupBy(holders, ({ slot }) => slot)
    for (const held of this.#bySlot.values()) held.sort((a, b) => (b.departures ?? 0) - (a.departures ?? 0))
  }

  /** undefined: the holder is not known (any more). */
  at(slot: number, departures = 0): T | undefined {
    return this.#bySlot.get(slot)?.find((holder) => (holder.departures ?? 0) <= departures)
  }
}
