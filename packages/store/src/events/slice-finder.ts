/**
 * Finds the subscriptions of events. A slice is read again when it is too old, or if it does not have a subscription.
 */
import type { SubscriptionRecord } from '@fantail/contracts'
import { LRUCache } from 'lru-cache'
import { placeOfSubscription } from '../records/subscriptions-id.ts'
import { type BitHolder, BitHolders, type FormerSubscription } from '../slices/former-subscriptions.ts'
import type { SliceData, SliceMoment, SliceRef, Snapshots } from '../topics/snapshots.ts'
import { type KnownSubscription, NO_SUBSCRIPTION, type SubscriptionFinder } from './log-events.ts'

/** Age of a slice in which an API process finds the subscriptions of events. Past it: the slice is read again. */
const FINDER_AGE_MS_MAX = 5_000
/** A slice that lacks a subscription is read again, but not more often than this. */
const LACKING_MS = 250
/**
 * @limit memory (API) Slices that an API process keeps for events. Past it: the least recently used one is read again.
 */
const FINDER_SLICES_MAX = 100
/**
 * Deleted subscriptions of a slice that events may still name. Past it: the subscription that was found first is
 * forgotten.
 */
const GONE_SUBSCRIPTIONS_MAX = 500

type Known = BitHolder & { name: string | null; endpoint: string | null }

interface Kept {
  topicArn: string | null
  holders: BitHolders<Known>
  byId: Map<string, Known>
  /** Monotonic ms. */
  at: number
}

type Slices = Pick<Snapshots, 'slice' | 'former'>

export class SliceFinder implements SubscriptionFinder {
  readonly #snapshots: Slices
  readonly #kept = new LRUCache<string, Kept>({ max: FINDER_SLICES_MAX })

  constructor(snapshots: Slices) {
    this.#snapshots = snapshots
  }

  /** The next event of a changed topic reads its slice again. */
  forget(topicArn: string): void {
    for (const kept of this.#kept.values()) if (kept.topicArn === topicArn) kept.at = Number.NEGATIVE_INFINITY
  }

  /** Forgets all slices, because notices of changes may have been lost. */
  clear(): void {
    for (const kept of this.#kept.values()) kept.at = Number.NEGATIVE_INFINITY
  }

  async byBits(slice: SliceMoment, bits: number[]): Promise<KnownSubscription[]> {
    const { departures } = slice
    let kept = await this.#slice(slice, FINDER_AGE_MS_MAX)
    if (bits.some((bit) => !kept.holders.at(bit, departures))) kept = await this.#slice(slice, LACKING_MS)
    return bits.map((bit) => {
      const known = kept.holders.at(bit, departures)
      return known ? foundIn(kept, known) : { ...NO_SUBSCRIPTION, topicArn: kept.topicArn }
    })
  }

  async byId(id: string): Promise<KnownSubscription> {
    const place = placeOfSubscription(id)
    if (!place) return { ...NO_SUBSCRIPTION, subscriptionId: id }
    let kept = await this.#slice(place, FINDER_AGE_MS_MAX)
    if (!kept.byId.has(id)) kept = await this.#slice(place, LACKING_MS)
    const known = kept.byId.get(id)
    return known ? foundIn(kept, known) : { ...NO_SUBSCRIPTION, topicArn: kept.topicArn, subscriptionId: id }
  }

  async #slice({ sliceId, shard }: SliceRef, ageMsMax: number): Promise<Kept> {
    const before = this.#kept.get(sliceId)
    if (before && performance.now() - before.at <= ageMsMax) return before
    const data = await this.#snapshots.slice({ sliceId, shard })
    // Afterwards this process knows most of the subscriptions that leave.
    const readsFormer = !before || ageMsMax === LACKING_MS
    const former = readsFormer ? await this.#snapshots.former({ sliceId, shard }) : []
    const kept = keptOf(data, former, before)
    this.#kept.set(sliceId, kept)
    return kept
  }
}

function foundIn({ topicArn }: Kept, { id, name, endpoint }: Known): KnownSubscription {
  return { topicArn, subscriptionId: id, subscriptionName: name, endpoint }
}

/** Deleted subscriptions stay known for a while, because their last events come after the deletion. */
function keptOf(data: SliceData | null, former: FormerSubscription[], before: Kept | undefined): Kept {
  const at = performance.now()
  const now = new Map((data?.subscriptions ?? []).map((record) => [record.id, knownOf(record)]))
  const left = former.map((one): [string, Known] => [one.id, knownOf({ ...one, endpoint: null })])
  const gone = new Map([...left, ...(before?.byId ?? [])].filter(([id]) => !now.has(id)))
  const byId = new Map<string, Known>([...[...gone].slice(-GONE_SUBSCRIPTIONS_MAX), ...now])
  return {
    topicArn: data?.topic.arn ?? before?.topicArn ?? null,
    holders: new BitHolders(byId.values()),
    byId,
    at,
  }
}

type Named = BitHolder & Pick<SubscriptionRecord, 'name'> & { endpoint: string | null }

function knownOf({ id, bit, departures = 0, name = null, endpoint }: Named): Known {
  return { id, bit, departures, name, endpoint }
}
