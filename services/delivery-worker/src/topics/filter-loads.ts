/**
 * Loads the filters of a topic before its messages are cut into parts. A worker without filters would count every
 * subscription. A message to 100 of 50,000 subscriptions would then become 25 parts.
 *
 * Each snapshot is loaded once for all jobs. Slices are loaded one after the other, each in its own turn of the event
 * loop. If reads take long, the next slices are read beside each one. Loading ends early if it can no longer change the
 * result, or if the cache is full.
 */
import { type SliceRef, UnreadableRecordError } from '@fantail/store'
import type { CompiledSlice, TopicSnapshot } from './compiled-slice.ts'
import type { FilterCache } from './filter-cache.ts'
import { sliceNumberOf } from './topic-filters.ts'

/**
 * Slices of a topic whose filters are loaded before its jobs are cut. Past it: jobs are cut without filters. Slices of
 * a topic that is loaded: about 100,000 subscriptions, whose filters take some 90 MB.
 */
export const SLICES_LOADED_MAX = 200

/** A read that took longer. Past it: reads run beside each other. */
const LONG_READ_MS = 20
/** Slices that are read beside the one that is waited for, because a round trip may take long. */
export const SLICES_AHEAD = 15

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
    const knownOf = ({ sliceId }: SliceRef) => filters.of(snapshot)?.get(sliceNumberOf(sliceId))
    const reads = new Map<SliceRef, Promise<CompiledSlice | null>>()
    let ahead = 0
    for (const [i, ref] of snapshot.slices.entries()) {
      for (const next of snapshot.slices.slice(i, i + 1 + ahead))
        if (!reads.has(next) && !knownOf(next)) reads.set(next, this.#slice(snapshot, next))
      const known = () => knownOf(ref)
      const askedAt = performance.now()
      const slice = known() ? null : ((await reads.get(ref)) ?? null)
      reads.delete(ref)
      if (performance.now() - askedAt > LONG_READ_MS) ahead = SLICES_AHEAD
      if (slice?.filters || known()) snapshot.hasFilters = true
      unfiltered += slice?.unfiltered.length ?? known()?.filters.unfiltered ?? 0
      const isKept = !slice?.filters || known()
      if (unfiltered > unfilteredMax || !isKept) break
    }
    this.#loaded.add(snapshot)
  }

  /** A slice that cannot be read is reported when a message opens it. */
  #slice(snapshot: TopicSnapshot, ref: SliceRef): Promise<CompiledSlice | null> {
    const slice = this.#options.load(snapshot, ref).catch((error: unknown) => {
      if (error instanceof UnreadableRecordError) return null
      throw error
    })
    // If loading ends early, nobody awaits what was read ahead.
    slice.catch(() => undefined)
    return slice
  }
}
