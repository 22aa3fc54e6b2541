/**
 * The filters of slices, longer than the slices themselves are kept: a topic of 100,000 subscriptions has filters of some
 * 50 MB, which say of most messages that hardly a slice is needed, and compiled subscriptions of more than the plan cache
 * holds. As with slices, what was checked since a plan was fetched belongs to that plan.
 */
import type { SliceRef } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import type { TopicPlan } from './plan-cache.ts'
import type { SliceFilters } from './slice-filters.ts'

const CACHE_BYTES_MAX = 134_217_728

interface Known {
  filters: SliceFilters
  checkedAt: number
}

export class FilterCache {
  readonly #revisionOf: (ref: SliceRef) => Promise<string | null>
  readonly #known = new LRUCache<string, Known>({
    maxSize: CACHE_BYTES_MAX,
    sizeCalculation: ({ filters }) => filters.weight,
  })
  readonly #checks = new WeakMap<TopicPlan, Promise<void>>()

  constructor(revisionOf: (ref: SliceRef) => Promise<string | null>) {
    this.#revisionOf = revisionOf
  }

  /** The slice was found to have these. */
  keep(sliceId: string, filters: SliceFilters | null, checkedAt: number): void {
    if (filters) this.#known.set(sliceId, { filters, checkedAt })
    else this.#known.delete(sliceId)
  }

  /** Of this very revision. */
  at(sliceId: string, revision: string): SliceFilters | undefined {
    const filters = this.#known.get(sliceId)?.filters
    return filters?.revision === revision ? filters : undefined
  }

  /** Where they are known and belong to the plan. */
  of(plan: TopicPlan, sliceId: string): SliceFilters | undefined {
    const known = this.#known.get(sliceId)
    return known && known.checkedAt >= plan.since ? known.filters : undefined
  }

  /** Asks once for each plan, in one trip, which of those that are known it still has. */
  check(plan: TopicPlan): Promise<void> {
    const running = this.#checks.get(plan) ?? this.#check(plan)
    this.#checks.set(plan, running)
    return running
  }

  async #check(plan: TopicPlan): Promise<void> {
    const startedAt = performance.now()
    const older = plan.slices.flatMap((ref) => {
      const known = this.#known.get(ref.sliceId)
      return known && known.checkedAt < plan.since ? [{ ref, known }] : []
    })
    try {
      const revisions = await Promise.all(older.map(({ ref }) => this.#revisionOf(ref)))
      for (const [i, { known }] of older.entries())
        if (known.filters.revision === revisions[i]) known.checkedAt = startedAt
      plan.filters = 'checked'
    } catch (error) {
      this.#checks.delete(plan)
      throw error
    }
  }
}
