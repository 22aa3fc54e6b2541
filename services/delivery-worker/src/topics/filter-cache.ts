/**
 * Caches the filters of topics for longer than their slices. A topic of 100,000 subscriptions has filters of some 90
 * MB. They show for most messages that hardly a slice is needed. Its compiled subscriptions exceed the snapshot cache.
 * As with slices, filters that were checked since a snapshot was fetched belong to that snapshot.
 */
import type { SliceRef } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import type { SliceFilters } from './slice-filters.ts'
import { type Known, sliceNumberOf, TopicFilters } from './topic-filters.ts'
import type { TopicSnapshot } from './topic-snapshot.ts'

/** @limit memory Filters that a worker caches. Past it: the least recently used topic's are dropped. */
const FILTER_CACHE_BYTES_MAX = 134_217_728
const FILTERED_TOPIC_BYTES = 1_000

interface Cached {
  filters: TopicFilters
  /**
   * Everything known was checked since then, so it belongs to snapshots that were fetched before (performance.now()).
   */
  since: number
}

export class FilterCache {
  readonly #revisionOf: (ref: SliceRef) => Promise<string | null>
  /** By uid. */
  readonly #topics = new LRUCache<string, Cached>({
    maxSize: FILTER_CACHE_BYTES_MAX,
    sizeCalculation: ({ filters }) => FILTERED_TOPIC_BYTES + filters.weight,
  })
  readonly #checks = new WeakMap<TopicSnapshot, Promise<void>>()

  constructor(revisionOf: (ref: SliceRef) => Promise<string | null>) {
    this.#revisionOf = revisionOf
  }

  /** The slice was found to have these. */
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
    // As many slices of the largest topics as fit; the others are opened for every message.
    if (FILTERED_TOPIC_BYTES + topic.weight + filters.weight > FILTER_CACHE_BYTES_MAX)
      topic.delete(sliceNumber)
    else topic.set(sliceNumber, { ref, filters, checkedAt })
    // Another object, by which the cache sees that its size is another.
    this.#topics.set(uid, { filters: topic, since })
  }

  /** Filters of this very revision. */
  at({ sliceId }: SliceRef, revision: string): SliceFilters | undefined {
    const known = this.#topics.peek(topicUidOf(sliceId))?.filters.get(sliceNumberOf(sliceId))
    return known?.filters.revision === revision ? known.filters : undefined
  }

  /** Once they were checked for this snapshot, or a later one. */
  of({ topic: { uid }, since }: TopicSnapshot): TopicFilters | undefined {
    const cached = this.#topics.get(uid)
    return cached && cached.since >= since ? cached.filters : undefined
  }

  /** Asks once for each snapshot, in one trip, which of those that are known it still has. */
  check(snapshot: TopicSnapshot): Promise<void> {
    const running = this.#checks.get(snapshot)
    if (running) return running
    const check = this.#check(snapshot).finally(() => this.#checks.delete(snapshot))
    // A lost run does not wait for it; snapshot-cache.ts does the same.
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

  /** Filters from before the snapshot that are not confirmed may have changed. */
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
