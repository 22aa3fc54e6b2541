/**
 * The filters of topics, longer than their slices are kept: a topic of 100,000 subscriptions has filters of some
 * 90 MB, which say of most messages that hardly a slice is needed, and compiled subscriptions of more than the plan cache
 * holds. As with slices, what was checked since a plan was fetched belongs to that plan.
 */
import type { SliceRef } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import type { SliceFilters } from './slice-filters.ts'
import { type Known, sliceNumberOf, TopicFilters } from './topic-filters.ts'
import type { TopicPlan } from './topic-snapshot.ts'

const CACHE_BYTES_MAX = 134_217_728
const TOPIC_BYTES = 1_000

interface Cached {
  filters: TopicFilters
  /** Everything known was checked since then, so it belongs to plans that were fetched before (performance.now()). */
  since: number
}

export class FilterCache {
  readonly #revisionOf: (ref: SliceRef) => Promise<string | null>
  /** By uid. */
  readonly #topics = new LRUCache<string, Cached>({
    maxSize: CACHE_BYTES_MAX,
    sizeCalculation: ({ filters }) => TOPIC_BYTES + filters.weight,
  })
  readonly #checks = new WeakMap<TopicPlan, Promise<void>>()

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
    // As many slices of the greatest topics as there is room for; the others are opened for every message.
    if (TOPIC_BYTES + topic.weight + filters.weight > CACHE_BYTES_MAX) topic.delete(sliceNumber)
    else topic.set(sliceNumber, { ref, filters, checkedAt })
    // Another object, by which the cache sees that its size is another.
    this.#topics.set(uid, { filters: topic, since })
  }

  /** Of this very revision. */
  at({ sliceId }: SliceRef, revision: string): SliceFilters | undefined {
    const known = this.#topics.peek(topicUidOf(sliceId))?.filters.get(sliceNumberOf(sliceId))
    return known?.filters.revision === revision ? known.filters : undefined
  }

  /** Once they were checked for this plan, or a later one. */
  of({ topic: { uid }, since }: TopicPlan): TopicFilters | undefined {
    const cached = this.#topics.get(uid)
    return cached && cached.since >= since ? cached.filters : undefined
  }

  /** Asks once for each plan, in one trip, which of those that are known it still has. */
  check(plan: TopicPlan): Promise<void> {
    const running = this.#checks.get(plan)
    if (running) return running
    const check = this.#check(plan).finally(() => this.#checks.delete(plan))
    // A lost run does not wait for it; snapshot-cache.ts does the same.
    check.catch(() => undefined)
    this.#checks.set(plan, check)
    return check
  }

  async #check(plan: TopicPlan): Promise<void> {
    const startedAt = performance.now()
    const filters = this.#topics.get(plan.topic.uid)?.filters ?? new TopicFilters()
    const older = [...filters.known].filter(({ checkedAt }) => checkedAt < plan.since)
    const revisions = await Promise.all(older.map(({ ref }) => this.#revisionOf(ref)))
    const current = new Set(older.filter(({ filters: { revision } }, i) => revision === revisions[i]))
    this.#confirm(plan, filters, (known) => (current.has(known) ? startedAt : known.checkedAt))
  }

  /** What was known before the plan, and is not confirmed, may be another by now. */
  #confirm(plan: TopicPlan, filters: TopicFilters, checkedAt: (known: Known) => number): void {
    const cached = this.#topics.get(plan.topic.uid)
    if (cached && cached.filters !== filters) return
    const since = Math.max(cached?.since ?? 0, plan.since)
    for (const known of [...filters.known]) {
      known.checkedAt = checkedAt(known)
      if (known.checkedAt < since) filters.delete(sliceNumberOf(known.ref.sliceId))
    }
    this.#topics.set(plan.topic.uid, { filters, since })
  }
}

function topicUidOf(sliceId: string): string {
  return sliceId.slice(0, sliceId.lastIndexOf('.'))
}
