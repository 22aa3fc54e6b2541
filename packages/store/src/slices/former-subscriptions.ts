/**
 * The subscriptions that have left a slice (slice-subscriptions.lua). The outcome log names deliveries by bit, and a
 * bit has another subscription later. Endpoints are not remembered, because the address of a deleted subscription may
 * be secret or personal.
 */
import type { SubscriptionRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { departedKey } from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'
import { parseStored, UnreadableRecordError } from '../records/stored-json.ts'

/** A subscription that has or had a bit. */
export type BitHolder = Pick<SubscriptionRecord, 'id' | 'bit' | 'departures'>

export interface FormerSubscription extends BitHolder {
  name: string | null
  /** The number of its departure. Entries with this number or a higher one are not about it. */
  leftAs: number
  /** When its lane was last purged, epoch ms. 0: never. */
  purgedAt: number
}

/** Reads who has left a slice. `onUnreadable` is called with what cannot be read. The others are returned. */
export async function readFormer(
  redis: Redis,
  { sliceId, shard }: { sliceId: string; shard: number },
  onUnreadable: (error: UnreadableRecordError) => void,
): Promise<FormerSubscription[]> {
  const key = departedKey(shardBase(shard), sliceId)
  const { arn: _, ...texts } = await redis.hgetall(key)
  return Object.entries(texts).flatMap(([number, text]) => {
    try {
      return unpackFormer(text, { key, number })
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error
      onUnreadable(error)
      return []
    }
  })
}

/** Throws an UnreadableRecordError that names `key`. */
function unpackFormer(text: string, { key, number }: { key: string; number: string }): FormerSubscription {
  const { id, bit, departures, name, purgedAt } = parseStored(text, key)
  if (typeof id !== 'string' || typeof bit !== 'number')
    throw new UnreadableRecordError(key, new TypeError('names no subscription'))
  return {
    id,
    bit,
    departures: Number(departures),
    leftAs: Number(number),
    name: typeof name === 'string' ? name : null,
    purgedAt: Number(purgedAt),
  }
}

/** The bit of a subscription, to find its deliveries in the outcome log. */
export interface SearchedSubscription extends BitHolder {
  sliceId: string
  /** Absent: it exists. */
  leftAs?: number
}

/**
 * Who had each bit of a slice. A bit gets another subscription only after a departure, so its holder is the last one
 * that had come by then.
 */
export class BitHolders<T extends BitHolder> {
  readonly #byBit: Map<number, T[]>

  constructor(holders: Iterable<T>) {
    this.#byBit = Map.groupBy(holders, ({ bit }) => bit)
    for (const same of this.#byBit.values()) same.sort((a, b) => (b.departures ?? 0) - (a.departures ?? 0))
  }

  /** undefined: the holder is not known (any more). */
  at(bit: number, departures = 0): T | undefined {
    return this.#byBit.get(bit)?.find((holder) => (holder.departures ?? 0) <= departures)
  }
}
