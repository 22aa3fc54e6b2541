/**
 * Finds the subscriptions of events. A slice is read again when it is too old, or if it does not have a subscription.
 */
import { publishedAtOf, type SubscriptionRecord } from '@fantail/contracts'
import { LRUCache } from 'lru-cache'
import { CLOCK_SLACK_MS } from '../outcomes/outcome-subscribers.ts'
import { placeOfSubscription } from '../subscriptions/subscriptions-id.ts'
import type { SliceData, SliceRef, Snapshots } from '../topics/snapshots.ts'
import { type KnownSubscription, NO_SUBSCRIPTION, type SubscriptionFinder } from './log-events.ts'

/**
 * @limit Age of a slice in which an API process finds the subscriptions of events. Past it: the slice is read again.
 */
const FINDER_AGE_MS_MAX = 5_000
/** A slice that lacks a subscription is read again, but not more often than this. */
const LACKING_MS = 250
/**
 * @limit memory (API) Slices that an API process keeps for events. Past it: the least recently used one is read again.
 */
const FINDER_SLICES_MAX = 100
/**
 * @limit Deleted subscriptions of a slice that events may still name. Past it: the subscription that was found first is
 * forgotten.
 */
const GONE_SUBSCRIPTIONS_MAX = 500

type Known = Pick<SubscriptionRecord, 'id' | 'slot' | 'createdAt' | 'endpoint' | 'name'>

interface Kept {
  topicArn: string | null
  bySlot: Map<number, Known>
  byId: Map<string, Known>
  /** Monotonic ms. */
  at: number
}

export class SliceFinder implements SubscriptionFinder {
  readonly #snapshots: Pick<Snapshots, 'slice'>
  readonly #kept = new LRUCache<string, Kept>({ max: FINDER_SLICES_MAX })

  constructor(snapshots: Pick<Snapshots, 'slice'>) {
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

  async bySlots(slice: SliceRef, messageId: string, slots: number[]): Promise<KnownSubscription[]> {
    let kept = await this.#slice(slice, FINDER_AGE_MS_MAX)
    if (slots.some((slot) => !kept.bySlot.has(slot))) kept = await this.#slice(slice, LACKING_MS)
    const createdBy = publishedAtOf(messageId) + CLOCK_SLACK_MS
    return slots.map((slot) => {
      const known = kept.bySlot.get(slot)
      // The slot may belong to a newer subscription now.
      return known && known.createdAt <= createdBy
        ? foundIn(kept, known)
        : { ...NO_SUBSCRIPTION, topicArn: kept.topicArn }
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
    const kept = keptOf(await this.#snapshots.slice({ sliceId, shard }), before)
    this.#kept.set(sliceId, kept)
    return kept
  }
}

function foundIn({ topicArn }: Kept, { id, name, endpoint }: Known): KnownSubscription {
  return { topicArn, subscriptionId: id, subscriptionName: name ?? null, endpoint }
}

/** Deleted subscriptions stay known for a while, because their last events come after the deletion. */
function keptOf(data: SliceData | null, before: Kept | undefined): Kept {
  const at = performance.now()
  if (!data) return { topicArn: null, bySlot: new Map(), byId: new Map(), ...before, at }
  const now = new Map(
    data.subscriptions.map(({ id, slot, createdAt, endpoint, name = null }) => [
      id,
      { id, slot, createdAt, endpoint, name },
    ]),
  )
  const gone = [...(before?.byId ?? [])].filter(([id]) => !now.has(id)).slice(-GONE_SUBSCRIPTIONS_MAX)
  const byId = new Map<string, Known>([...gone, ...now])
  const bySlot = new Map([...byId.values()].map((known) => [known.slot, known]))
  return { topicArn: data.topic.arn, bySlot, byId, at }
}
