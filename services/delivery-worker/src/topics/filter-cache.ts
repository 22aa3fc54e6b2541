/**
 * Caches the filters of topics for longer than their slices. The filters of a topic with 100,000 subscriptions take
 * about 90 MB. They show that most messages need only few slices. All compiled subscriptions of such a topic would not
 * fit into the snapshot cache. Cached filters are used with a snapshot only if they were checked after the snapshot was
 * fetched. The same holds for cached slices.
 */
import type { SliceRef } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import type { TopicSnapshot } from './compiled-slice.ts'
import type { SliceFilters } from './slice-filters.ts'
import { type Known, sliceNumberOf, TopicFilters } from './topic-filters.ts'

/**
 * @limit memory (worker) Filters that a worker caches. Past it: filters of the least recently used topic are dropped.
 */
const FILTER_CACHE_BYTES_MAX = 134_217_728
const FILTERED_TOPIC_BYTES = 1_000

interface Cached {
  filters: TopicFilters
  /**
   * All known filters were checked at this time or later, by performance.now(). They therefore belong to snapshots that
   * were fetched before.
   */
  since: number
}

export class FilterCache {
  readonly #revisionOf: (ref: SliceRef) => Promise<string | null>
  /** Uid of the topic → its filters. */
  readonly #topics = new LRUCache<string, Cached>({
    maxSize: FILTER_CACHE_BYTES_MAX,
    sizeCalculation: ({ filters }) => FILTERED_TOPIC_BYTES + filters.weight,
  })
  readonly #checks = new WeakMap<TopicSnapshot, Promise<void>>()

  constructor(revisionOf: (ref: SliceRef) => Promise<string | null>) {
    this.#revisionOf = revisionOf
  }

  /** Stores the filters of a slice that was just read. */
  keep(ref: SliceRef, filters: SliceFilters | null, checkedAt: number): void {
    const uid = topicUidOf(ref.sliceId)
    const cached = this.#topics.get(uid)
    const sliceNumber = sliceNumberOf(ref.sliceId)
    if (!filters) {
      cached?.filters.delete(sliceNumber)
      return
    }
    const { filters: topic, since } = cached ?? { filters: new TopicFilters(), since: 0 }
    if (checkedAt < since) return
    // Slices of the largest topics are cached while they fit. Other slices are opened for every message.
    if (FILTERED_TOPIC_BYTES + topic.weight + filters.weight > FILTER_CACHE_BYTES_MAX)
      topic.delete(sliceNumber)
    else topic.set(sliceNumber, { ref, filters, checkedAt })
    // A new object tells the cache that the size has changed.
    this.#topics.set(uid, { filters: topic, since })
  }

  at({ sliceId }: SliceRef, revision: string): SliceFilters | undefined {
    const known = this.#topics.peek(topicUidOf(sliceId))?.filters.get(sliceNumberOf(sliceId))
    return known?.filters.revision === revision ? known.filters : undefined
  }

  /** The topic's filters, if they were checked for this snapshot or a later one. */
  of({ topic: { uid }, since }: TopicSnapshot): TopicFilters | undefined {
    const cached = this.#topics.get(uid)
    return cached && cached.since >= since ? cached.filters : undefined
  }

  /** Asks Redis once for each snapshot, in one round trip, which known slices are unchanged. */
  check(snapshot: TopicSnapshot): Promise<void> {
    const running = this.#checks.get(snapshot)
    if (running) return running
    const check = this.#check(snapshot).finally(() => this.#checks.delete(snapshot))
    // A lost run does not await this promise (see snapshot-cache.ts).
    check.catch(() => undefined)
    this.#checks.set(snapshot, check)
    return check
  }

  async #check(snapshot: TopicSnapshot): Promise<void> {
    const startedAt = performance.now()
    const filters = this.#topics.get(snapshot.topic.uid)?.filters ?? new TopicFilters()
    const older = [...filters.known].filter(({ checkedAt }) => checkedAt < snapshot.since)
    const revisions = await Promise.all(older.map(({ ref }) => this.#revisionOf(ref)))
    const current = new Set(older.filter(({ filters: { revision } }, i) => revision === revisions[i]))
    this.#confirm(snapshot, filters, (known) => (current.has(known) ? startedAt : known.checkedAt))
  }

  /** Filters that are older than the snapshot and were not confirmed may have changed. */
  #confirm(snapshot: TopicSnapshot, filters: TopicFilters, checkedAt: (known: Known) => number): void {
    const cached = this.#topics.get(snapshot.topic.uid)
    if (cached && cached.filters !== filters) return
    const since = Math.max(cached?.since ?? 0, snapshot.since)
    for (const known of [...filters.known]) {
      known.checkedAt = checkedAt(known)
      if (known.checkedAt < since) filters.delete(sliceNumberOf(known.ref.sliceId))
    }
    this.#topics.set(snapshot.topic.uid, { filters, since })
  }
}

function topicUidOf(sliceId: string): string {
  return sliceId.slice(0, sliceId.lastIndexOf('.'))
}
