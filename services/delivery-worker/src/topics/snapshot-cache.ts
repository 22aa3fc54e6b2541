/**
 * Caches topics and their slices for attempts, at most SNAPSHOT_AGE_MS_MAX old (invariant 6).
 *
 * Every burst of attempts first gets a snapshot. A snapshot that was checked recently is returned at once. Otherwise
 * its revision is read. All revisions that are needed in one turn of the event loop are read together. Only changed
 * parts are loaded again.
 */
import { SNAPSHOT_AGE_MS_MAX } from '@fantail/contracts'
import type { Steps } from '@fantail/policy'
import { TimeSlices, WeightedSemaphore } from '@fantail/runtime'
import type { PackedSlice, SliceRef, Snapshots } from '@fantail/store'
import DataLoader from 'dataloader'
import { LRUCache } from 'lru-cache'
import type { MessageContext } from '../messages/message-context.ts'
import type { TopicSnapshot } from './compiled-slice.ts'
import { type CompiledSlice, compileSlice } from './compiled-slice.ts'
import { FilterCache } from './filter-cache.ts'
import { FilterLoads } from './filter-loads.ts'
import { Matcher } from './matcher.ts'
import type { SliceFilters } from './slice-filters.ts'
import { type SliceMatch, sliceMatch } from './slice-match.ts'
import { weightOf } from './slice-weight.ts'
import type { TopicFilters, TopicMatch } from './topic-filters.ts'
import { dropTallies, fingerprintOf, isLasting } from './unchanged-slice.ts'

/**
 * After this time a snapshot is loaded again, even if its revision is unchanged. A slice with the same records then
 * stays as it was compiled.
 */
const RELOAD_MS = 60_000
/**
 * When the answer of a check comes, the check counts as at most this old. Otherwise each use would wait for a check of
 * its own if round trips take longer than SNAPSHOT_AGE_MS_MAX. Changes then act up to half a round trip later.
 */
const ANSWER_AGE_MS_MAX = SNAPSHOT_AGE_MS_MAX / 2
/** Age of the last check of a snapshot with which a claim is attempted. Past it: the revision is checked first. */
export const CLAIM_SNAPSHOT_AGE_MS_MAX = 80
/**
 * If a check takes longer than SNAPSHOT_AGE_MS_MAX, the slices of running lanes are checked at this interval. Otherwise
 * each attempt would wait a round trip for its own check, and a throttled one would miss its send time.
 */
const CLAIM_CHECK_EVERY_MS = 40
/** For how long after its last use a slice is checked at that interval. */
const WATCH_MS = 5_000
/** Slices that a worker checks at an interval while Redis is slow. Past it: attempts wait for their checks. */
const WATCHED_MAX = 200
/**
 * A topic with 100,000 plain webhooks fits. Otherwise each of its messages would read all slices again.
 * @limit memory (worker) Slices that a worker caches. Past it: the least recently used one is dropped.
 */
const SNAPSHOT_CACHE_BYTES_MAX = 134_217_728
/**
 * About 30,000 small topics. One took 1,084 bytes of the heap, and more with policies.
 * @limit memory (worker) Topics that a worker caches. Past it: the least recently used one is dropped.
 */
const TOPICS_BYTES_MAX = 33_554_432
const TOPIC_BYTES = 1_200
const SLICE_REF_BYTES = 100
/** Revisions that one round trip reads. Past it: a further round trip follows. */
const REVISIONS_PER_TRIP_MAX = 500
/**
 * Revisions that are requested in one turn of the event loop are read together. None is cached, so the next use checks
 * again.
 */
const TRIPS = { cache: false, maxBatchSize: REVISIONS_PER_TRIP_MAX, batchScheduleFn: setImmediate }

/** Slices that are read at a time. Past it: reads wait for others, because each brings up to 500 records. */
const READS_MAX = 64

/** Times by performance.now(). */
interface Cached<T> {
  value: T
  loadedAt: number
  /** When the latest check was requested. */
  checkedAt: number
  /** From when its age counts. Behind a slow Redis, a check is old when its answer comes. */
  freshFrom: number
}

/** A slice that is checked at an interval. */
interface Watched {
  ref: SliceRef
  /** By performance.now(). */
  until: number
  /** Whether the latest check has found it unchanged. */
  isUnchanged: boolean
  /** Called at the answer of the next check. */
  waiting: (() => void)[]
}

interface CachedSlice extends Cached<CompiledSlice> {
  /** A hash of the texts that were compiled. Undefined: the slice is compiled at each load. */
  fingerprint: string | undefined
}

export class SnapshotCache {
  readonly #snapshots: Snapshots
  readonly #topics = new LRUCache<string, Cached<TopicSnapshot>>({
    maxSize: TOPICS_BYTES_MAX,
    sizeCalculation: ({ value }) => TOPIC_BYTES + value.slices.length * SLICE_REF_BYTES,
  })
  readonly #slices = new LRUCache<string, CachedSlice>({
    maxSize: SNAPSHOT_CACHE_BYTES_MAX,
    sizeCalculation: (cached) => weightOf(cached.value),
  })
  readonly #topicRevisions: DataLoader<string, string | null>
  readonly #sliceRevisions: DataLoader<SliceRef, string | null>
  readonly #filters: FilterCache
  readonly #filterLoads: FilterLoads
  readonly #timeSlices = new TimeSlices()
  readonly #matcher = new Matcher(this.#timeSlices)
  /** Counts slices. */
  readonly #reads = new WeightedSemaphore(READS_MAX)
  readonly #loading = new Map<string, Promise<unknown>>()
  /** Slices that are checked at an interval, by id. */
  readonly #watched = new Map<string, Watched>()
  #watching: NodeJS.Timeout | undefined
  /** How long the latest check of a slice took. */
  #checkMs = 0
  readonly #onUnusable: (subscriptionId: string, error: unknown) => void

  constructor(snapshots: Snapshots, onUnusable: (subscriptionId: string, error: unknown) => void) {
    this.#snapshots = snapshots
    this.#onUnusable = onUnusable
    this.#topicRevisions = new DataLoader((arns) => snapshots.topicRevisions(arns), TRIPS)
    this.#sliceRevisions = new DataLoader((refs) => snapshots.sliceRevisions(refs), TRIPS)
    this.#filters = new FilterCache((ref) => this.#sliceRevisions.load(ref))
    this.#filterLoads = new FilterLoads({
      filters: this.#filters,
      load: (snapshot, ref) => this.#sliceForFilters(snapshot, ref),
    })
  }

  /** The topic's snapshot, or null if there is no such topic. Rejects if Redis does not answer. */
  topic(arn: string): Promise<TopicSnapshot | null> | TopicSnapshot {
    const cached = this.#topics.get(arn)
    if (cached && isFresh(cached)) return cached.value
    return this.#once(`t:${arn}`, () => this.#checkTopic(arn))
  }

  /** The slice with `revision` or a later one. null: it is gone. */
  slice(ref: SliceRef, revision?: string): Promise<CompiledSlice | null> | CompiledSlice {
    const cached = this.#slices.get(ref.sliceId)
    // A script read this revision some time ago. It does not show that the slice is current, so the time of its check
    // stays.
    if (cached && revision === cached.value.revision && !isOld(cached)) return cached.value
    if (cached && revision === undefined && isFresh(cached)) return cached.value
    return this.#once(`s:${ref.sliceId}`, () => this.#checkSlice(ref))
  }

  /** Called when a claim waits for its send time. Behind a slow Redis, its attempt then finds the slice checked. */
  expectClaim(ref: SliceRef): void {
    if (this.#checkMs > SNAPSHOT_AGE_MS_MAX) this.#watch(ref)
  }

  sliceForClaim(ref: SliceRef): Promise<CompiledSlice | null> | CompiledSlice {
    this.expectClaim(ref)
    const cached = this.#slices.get(ref.sliceId)
    if (cached && isFreshForClaim(cached)) return cached.value
    const watched = this.#watched.get(ref.sliceId)
    return watched?.isUnchanged ? this.#whenChecked(ref, watched) : this.slice(ref)
  }

  /** Waits for the answer of a check that is under way, because it comes earlier than that of a new one. */
  async #whenChecked(ref: SliceRef, watched: Watched): Promise<CompiledSlice | null> {
    await new Promise<void>((resolve) => watched.waiting.push(resolve))
    const cached = this.#slices.get(ref.sliceId)
    return cached && isFreshForClaim(cached) ? cached.value : this.slice(ref)
  }

  /**
   * A slice of a snapshot that the caller has. Every change of a slice changes its topic's revision too, so one check
   * is enough for both.
   */
  sliceOf(snapshot: TopicSnapshot, ref: SliceRef): Promise<CompiledSlice | null> | CompiledSlice {
    const cached = this.#slices.get(ref.sliceId)
    if (cached && cached.checkedAt >= snapshot.since && !isOld(cached)) return cached.value
    return this.#once(`s:${ref.sliceId}`, () => this.#checkSlice(ref))
  }

  /**
   * Matches by cached filters. Undefined if none are cached, or if the answer was given up. A promise only if
   * matching takes a while.
   */
  match(
    snapshot: TopicSnapshot,
    context: MessageContext,
    isGivenUp: () => boolean,
  ): TopicMatch | undefined | Promise<TopicMatch | undefined> {
    if (!snapshot.hasFilters || !this.#filters.of(snapshot)) return undefined
    return this.#matcher.match<TopicMatch | undefined>({
      context,
      isGivenUp,
      inOneGo: (work) => this.#filters.of(snapshot)?.match(snapshot, context, work),
      inSteps: () => inStepsOf(this.#filters.of(snapshot), snapshot, context),
    })
  }

  /** `bits`: those whose filters match, if that is known already. Undefined if the answer was given up. */
  matchSlice(
    slice: CompiledSlice,
    context: MessageContext,
    isGivenUp: () => boolean,
    bits?: readonly number[],
  ): SliceMatch | Promise<SliceMatch | undefined> {
    const { filters } = slice
    if (!filters || bits) return sliceMatch(slice, context, bits)
    return this.#matcher.match<SliceMatch>({
      context,
      isGivenUp,
      inOneGo: (work) => sliceMatch(slice, context, filters.match(context, work)),
      inSteps: () => sliceMatchInSteps(slice, context, filters),
    })
  }

  /** Checks the cached filters, so that `match` can use them. Returns a promise only if Redis must be asked. */
  checkFilters(snapshot: TopicSnapshot): Promise<void> | undefined {
    return snapshot.hasFilters && !this.#filters.of(snapshot) ? this.#filters.check(snapshot) : undefined
  }

  /** Like `checkFilters`, after missing filters were loaded (filter-loads.ts). */
  loadFilters(snapshot: TopicSnapshot, unfilteredMax: number): Promise<void> | undefined {
    return this.#filterLoads.load(snapshot, unfilteredMax) ?? this.checkFilters(snapshot)
  }

  /**
   * From when the age of the cached slice's last check counts, by performance.now(). This is its own check, or that of
   * its topic's snapshot.
   */
  checkedAt({ sliceId }: Pick<SliceRef, 'sliceId'>, snapshot?: TopicSnapshot): number {
    const slice = this.#slices.peek(sliceId)?.freshFrom ?? 0
    const topic = snapshot && this.#topics.peek(snapshot.topic.arn)
    return topic && topic.value === snapshot ? Math.max(slice, topic.freshFrom) : slice
  }

  /** Called when the topic was changed. The next use checks again. */
  invalidate(arn: string): void {
    const cached = this.#topics.get(arn)
    if (!cached) return
    cached.freshFrom = 0
    for (const { sliceId } of cached.value.slices) {
      const slice = this.#slices.get(sliceId)
      if (slice) Object.assign(slice, { checkedAt: 0, freshFrom: 0 })
    }
  }

  async #checkTopic(arn: string): Promise<TopicSnapshot | null> {
    const startedAt = performance.now()
    const revision = await this.#topicRevisions.load(arn)
    const cached = this.#topics.get(arn)
    if (revision === null) {
      this.#topics.delete(arn)
      return null
    }
    if (cached && cached.value.revision === revision && !isOld(cached)) {
      Object.assign(cached, checkedSince(startedAt))
      return cached.value
    }
    return this.#loadTopic(arn)
  }

  async #loadTopic(arn: string): Promise<TopicSnapshot | null> {
    const since = performance.now()
    const found = await this.#snapshots.topicSlices(arn)
    if (!found) return null
    const hasFilters = this.#topics.peek(arn)?.value.hasFilters ?? false
    const value: TopicSnapshot = { ...found, since, hasFilters }
    this.#topics.set(arn, { value, loadedAt: since, ...checkedSince(since) })
    return value
  }

  async #sliceForFilters(snapshot: TopicSnapshot, ref: SliceRef): Promise<CompiledSlice | null> {
    const cached = this.#slices.peek(ref.sliceId)
    if (!cached || cached.checkedAt < snapshot.since || isOld(cached))
      return this.#once(`s:${ref.sliceId}`, () => this.#checkSlice(ref, { evicts: false }))
    this.#filters.keep(ref, cached.value.filters, cached.checkedAt)
    return cached.value
  }

  /** `evicts: false`: the slice is cached only if no other slice must be dropped for it. */
  async #checkSlice(ref: SliceRef, { evicts } = { evicts: true }): Promise<CompiledSlice | null> {
    const startedAt = performance.now()
    const revision = await this.#sliceRevisions.load(ref)
    this.#checkMs = performance.now() - startedAt
    const cached = this.#slices.get(ref.sliceId)
    if (revision !== null && cached && cached.value.revision === revision && !isOld(cached)) {
      Object.assign(cached, checkedSince(startedAt))
      this.#filters.keep(ref, cached.value.filters, startedAt)
      return cached.value
    }
    const packed = revision === null ? null : await this.#read(ref)
    const answered = checkedSince(startedAt)
    if (!packed) {
      this.#slices.delete(ref.sliceId)
      this.#filters.keep(ref, null, startedAt)
      return null
    }
    const loaded = await this.#load(packed)
    const entry = Object.assign(loaded, { loadedAt: startedAt, ...answered })
    const { value } = entry
    const readyAt = performance.now()
    this.#filters.keep(ref, value.filters, startedAt)
    this.#timeSlices.spendSince(readyAt)
    const hasCapacity = this.#slices.calculatedSize + weightOf(value) <= SNAPSHOT_CACHE_BYTES_MAX
    if (evicts || hasCapacity) this.#slices.set(ref.sliceId, entry)
    return value
  }

  async #read(ref: SliceRef): Promise<PackedSlice | null> {
    await this.#reads.acquire(1)
    try {
      return await this.#snapshots.packedSlice(ref)
    } finally {
      this.#reads.release(1)
    }
  }

  /** The cached slice if it was compiled from the same texts, else a new one. */
  async #load(packed: PackedSlice): Promise<Pick<CachedSlice, 'value' | 'fingerprint'>> {
    const fingerprint = await this.#timeSlices.load(fingerprintOf(packed))
    const cached = this.#slices.peek(packed.sliceId)
    if (!cached || cached.fingerprint !== fingerprint || cached.value.revision !== packed.revision)
      return this.#timeSlices.load(this.#compile(packed, fingerprint))
    dropTallies(cached.value)
    return cached
  }

  *#compile(packed: PackedSlice, fingerprint: string): Steps<Pick<CachedSlice, 'value' | 'fingerprint'>> {
    const data = yield* this.#snapshots.unpack(packed)
    let isUsable = true
    const report = (subscriptionId: string, error: unknown) => {
      isUsable = false
      this.#onUnusable(subscriptionId, error)
    }
    const value = yield* compileSlice(data, report, this.#filters.at(packed, packed.revision))
    return { value, fingerprint: isUsable && isLasting(packed, data) ? fingerprint : undefined }
  }

  #watch({ sliceId, shard }: SliceRef): void {
    if (this.#watched.size >= WATCHED_MAX && !this.#watched.has(sliceId)) return
    const until = performance.now() + WATCH_MS
    const watched = this.#watched.get(sliceId)
    if (watched) watched.until = until
    else this.#watched.set(sliceId, { ref: { sliceId, shard }, until, isUnchanged: false, waiting: [] })
    this.#watching ??= setInterval(() => this.#checkWatched(), CLAIM_CHECK_EVERY_MS).unref()
  }

  #checkWatched(): void {
    for (const watched of this.#watched.values()) {
      if (performance.now() < watched.until) void this.#checkAgain(watched)
      else this.#forget(watched)
    }
    if (this.#watched.size > 0) return
    clearInterval(this.#watching)
    this.#watching = undefined
  }

  /** Does not load a changed slice. Its next use finds that its last check is old, and loads it. */
  async #checkAgain(watched: Watched): Promise<void> {
    const { ref } = watched
    const startedAt = performance.now()
    // If it fails, the next use checks again and gets the error.
    const revision = await this.#sliceRevisions.load(ref).catch(() => null)
    this.#checkMs = performance.now() - startedAt
    const cached = this.#slices.peek(ref.sliceId)
    watched.isUnchanged = cached?.value.revision === revision && !isOld(cached)
    if (cached && watched.isUnchanged) Object.assign(cached, checkedSince(startedAt))
    if (this.#checkMs <= SNAPSHOT_AGE_MS_MAX) this.#forget(watched)
    else for (const resolve of watched.waiting.splice(0)) resolve()
  }

  #forget(watched: Watched): void {
    this.#watched.delete(watched.ref.sliceId)
    for (const resolve of watched.waiting.splice(0)) resolve()
  }

  /** Callers that ask at the same time share one answer. */
  #once<T>(key: string, load: () => Promise<T>): Promise<T> {
    const running = this.#loading.get(key)
    if (running) return running as Promise<T>
    const promise = load().finally(() => this.#loading.delete(key))
    // A lost run does not await this promise. Node would end the process because of an unhandled rejection.
    promise.catch(() => undefined)
    this.#loading.set(key, promise)
    return promise
  }
}

function* inStepsOf(
  filters: TopicFilters | undefined,
  snapshot: TopicSnapshot,
  context: MessageContext,
): Steps<TopicMatch | undefined> {
  return filters && (yield* filters.matchInSteps(snapshot, context))
}

function* sliceMatchInSteps(
  slice: CompiledSlice,
  context: MessageContext,
  filters: SliceFilters,
): Steps<SliceMatch> {
  return sliceMatch(slice, context, yield* filters.matchInSteps(context))
}

/** The times of a check whose answer has just come. */
function checkedSince(startedAt: number): Pick<Cached<unknown>, 'checkedAt' | 'freshFrom'> {
  return { checkedAt: startedAt, freshFrom: Math.max(startedAt, performance.now() - ANSWER_AGE_MS_MAX) }
}

function isFresh<T>({ freshFrom }: Cached<T>): boolean {
  return performance.now() - freshFrom < SNAPSHOT_AGE_MS_MAX
}

function isFreshForClaim<T>({ freshFrom }: Cached<T>): boolean {
  return performance.now() - freshFrom < CLAIM_SNAPSHOT_AGE_MS_MAX
}

function isOld<T>(cached: Cached<T>): boolean {
  return performance.now() - cached.loadedAt > RELOAD_MS
}
