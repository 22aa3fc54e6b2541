/**
 * Loads the filters of a topic before its messages are cut into parts. A worker without filters would count every
 * subscription. A message to 100 of 50,000 subscriptions would then become 25 parts.
 *
 * Each snapshot is loaded once for all jobs. Slices are loaded one after the other, each in its own turn of the event
 * loop. Loading ends early if it can no longer change the result, or if the cache is full.
 */
import { CorruptRecordError, type SliceRef } from '@fantail/store'
import type { CompiledSlice, TopicSnapshot } from './compiled-slice.ts'
import type { FilterCache } from './filter-cache.ts'
import { sliceNumberOf } from './topic-filters.ts'

/**
 * Slices of a topic whose filters are loaded before its jobs are cut. Past it: jobs are cut without filters. Slices of
 * a topic that is loaded: about 100,000 subscriptions, whose filters take some 90 MB.
 */
export const SLICES_LOADED_MAX = 200

interface FilterLoadsOptions {
  filters: Pick<FilterCache, 'check' | 'of'>
  /** The slice of the snapshot. Its filters are cached if there is capacity. null: it is gone. */
  load(snapshot: TopicSnapshot, ref: SliceRef): Promise<CompiledSlice | null>
}

export class FilterLoads {
  readonly #options: FilterLoadsOptions
  readonly #loads = new WeakMap<TopicSnapshot, Promise<void>>()
  readonly #loaded = new WeakSet<TopicSnapshot>()

  constructor(options: FilterLoadsOptions) {
    this.#options = options
  }

  /**
   * Resolves when as many of the snapshot's filters are known as loading allows. It ends early if more than
   * `unfilteredMax` subscriptions have no filter. Rejects if Redis does not answer, and the next call continues.
   * Undefined: nothing is to be loaded.
   */
  load(snapshot: TopicSnapshot, unfilteredMax: number): Promise<void> | undefined {
    if (snapshot.slices.length > SLICES_LOADED_MAX || this.#loaded.has(snapshot)) return undefined
    const running = this.#loads.get(snapshot)
    if (running) return running
    const load = this.#load(snapshot, unfilteredMax).finally(() => this.#loads.delete(snapshot))
    // A lost run does not await this promise (see snapshot-cache.ts).
    load.catch(() => undefined)
    this.#loads.set(snapshot, load)
    return load
  }

  async #load(snapshot: TopicSnapshot, unfilteredMax: number): Promise<void> {
    const { filters } = this.#options
    await filters.check(snapshot)
    let unfiltered = 0
    for (const ref of snapshot.slices) {
      const known = () => filters.of(snapshot)?.get(sliceNumberOf(ref.sliceId))
      const slice = known() ? null : await this.#slice(snapshot, ref)
      if (slice?.filters || known()) snapshot.hasFilters = true
      unfiltered += slice?.unfiltered.length ?? known()?.filters.unfiltered ?? 0
      const isKept = !slice?.filters || known()
      if (unfiltered > unfilteredMax || !isKept) break
    }
    this.#loaded.add(snapshot)
  }

  /** A slice that cannot be read is reported when a message opens it. */
  async #slice(snapshot: TopicSnapshot, ref: SliceRef): Promise<CompiledSlice | null> {
    try {
      return await this.#options.load(snapshot, ref)
    } catch (error) {
      if (error instanceof CorruptRecordError) return null
      throw error
    }
  }
}
