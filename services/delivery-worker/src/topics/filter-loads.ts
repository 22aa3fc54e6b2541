/**
 * Loads the filters of a topic before it is decided how its messages are cut into parts. A worker that knows no filters
 * would count every subscription: a message to 100 of 50,000 subscriptions would become 25 parts.
 *
 * Each plan is loaded once, however many jobs ask. Slices come one after the other, each in a turn of the event loop of
 * its own. Loading ends early where it can change nothing any more, or where no more filters can be kept.
 */
import { CorruptRecordError, type SliceRef } from '@fantail/store'
import type { CompiledSlice } from './compiled-slice.ts'
import type { FilterCache } from './filter-cache.ts'
import { sliceNumberOf } from './topic-filters.ts'
import type { TopicPlan } from './topic-snapshot.ts'

/** Slices of a topic that is loaded: about 100,000 subscriptions, whose filters take some 90 MB. */
export const SLICES_LOADED_MAX = 200

export interface FilterLoadsOptions {
  filters: Pick<FilterCache, 'check' | 'of'>
  /** The slice as of the plan; its filters are kept where there is room for them. null: it is gone. */
  load(plan: TopicPlan, ref: SliceRef): Promise<CompiledSlice | null>
}

export class FilterLoads {
  readonly #options: FilterLoadsOptions
  readonly #loads = new WeakMap<TopicPlan, Promise<void>>()
  readonly #loaded = new WeakSet<TopicPlan>()

  constructor(options: FilterLoadsOptions) {
    this.#options = options
  }

  /**
   * Resolves when the plan's filters are known as far as they are loaded. Ends early where more than `unfilteredMax`
   * subscriptions have no filter. Rejects where Redis does not answer; the next call goes on. Undefined: nothing to do.
   */
  load(plan: TopicPlan, unfilteredMax: number): Promise<void> | undefined {
    if (plan.slices.length > SLICES_LOADED_MAX || this.#loaded.has(plan)) return undefined
    const running = this.#loads.get(plan)
    if (running) return running
    const load = this.#load(plan, unfilteredMax).finally(() => this.#loads.delete(plan))
    // As in snapshot-cache.ts: a lost run does not wait for it.
    load.catch(() => undefined)
    this.#loads.set(plan, load)
    return load
  }

  async #load(plan: TopicPlan, unfilteredMax: number): Promise<void> {
    const { filters } = this.#options
    await filters.check(plan)
    let unfiltered = 0
    for (const ref of plan.slices) {
      const known = () => filters.of(plan)?.get(sliceNumberOf(ref.sliceId))
      const slice = known() ? null : await this.#slice(plan, ref)
      if (slice?.filters || known()) plan.hasFilters = true
      unfiltered += slice?.unfiltered.length ?? known()?.filters.unfiltered ?? 0
      const isKept = !slice?.filters || known()
      if (unfiltered > unfilteredMax || !isKept) break
    }
    this.#loaded.add(plan)
  }

  /** One that cannot be read is reported when a message opens it. */
  async #slice(plan: TopicPlan, ref: SliceRef): Promise<CompiledSlice | null> {
    try {
      return await this.#options.load(plan, ref)
    } catch (error) {
      if (error instanceof CorruptRecordError) return null
      throw error
    }
  }
}
