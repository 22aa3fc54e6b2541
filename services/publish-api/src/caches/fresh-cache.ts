/**
 * A cache of records by ARN. An entry was current at most a second ago. If Redis announces a change, or this process
 * makes one, the entry is dropped at once. While Redis does not answer nothing can change, and an entry is valid for
 * three seconds. A publish then waits for Redis when it is stored, instead of being refused here.
 *
 * If every change is announced, one answer confirms all entries (announced-changes.ts). So records are not read again
 * for each use when many are in use, each of them rarely.
 *
 * Missing records are not cached. They are rare, and a record that another process makes must be found. If a record
 * changes during its look-up, the callers get the result, but it is not cached.
 */
import { LRUCache } from 'lru-cache'
import type { AnnouncedChanges } from './announced-changes.ts'

/** Time since a record in the API's cache was known to be current. Past it: it is read again. */
const RECORD_AGE_MS_MAX = 1_000
/**
 * An older entry is still returned, and looked up again at the same time. Records in use therefore never cause a wait.
 */
const REFRESH_MS = 500
/** Age of a record that was confirmed. Past it: it is read again. Past half of it, a use also starts a read. */
const CONFIRMED_AGE_MS_MAX = 10_000
/** The longest time for which an entry is valid while Redis does not answer. */
const BRIDGE_MS = 3_000
/** How long Redis counts as not answering after a failed question. */
const FAILED_MS = 500
/** Records in the API's cache. Past it: the least recently used one is dropped. */
const RECORDS_MAX = 10_000
/**
 * For each of the five caches: topics, queues, keys, sessions and portal sessions. The length of a record as JSON is
 * counted. Most records have less than 2 KB.
 * @limit memory (API × 5) Records in one of the API's caches. Past it: the least recently used one is dropped.
 */
const RECORDS_BYTES_MAX = 33_554_432
/** Approximate bytes of a record's object in addition to its texts. */
const RECORD_OVERHEAD_BYTES = 512
/** Counted for a small record, so that no more than RECORDS_MAX fit. The option `max` would reserve memory for all. */
const RECORD_BYTES_MIN = Math.ceil(RECORDS_BYTES_MAX / RECORDS_MAX)

interface Entry<T> {
  /** null: there is no record. Such an entry is returned to its callers and not kept. */
  value: T | null
  at: number
  /** When it was requested again. undefined: no request is under way. */
  askedAt: number | undefined
}

interface FreshCacheOptions<T> {
  /** Asks Redis. null: there is no record. */
  look: (arn: string) => Promise<T | null>
  /** Monotonic ms. */
  now?: (() => number) | undefined
}

export class FreshCache<T> {
  readonly #ask: (arn: string) => Promise<T | null>
  readonly #now: () => number
  readonly #entries: LRUCache<string, Entry<T>>
  #failedAt = Number.NEGATIVE_INFINITY
  #changes: Pick<AnnouncedChanges, 'completeAt' | 'ask'> | undefined

  constructor({ look, now }: FreshCacheOptions<T>) {
    this.#ask = look
    this.#now = now ?? (() => performance.now())
    this.#entries = new LRUCache({
      maxSize: RECORDS_BYTES_MAX,
      sizeCalculation: ({ value }) =>
        Math.max(RECORD_BYTES_MIN, RECORD_OVERHEAD_BYTES + 2 * JSON.stringify(value).length),
      fetchMethod: (arn, before, { signal }) => this.#look(arn, before, signal),
      // Callers get the result of a look-up even if its record was dropped meanwhile.
      ignoreFetchAbort: true,
      noDeleteOnFetchRejection: true,
    })
  }

  /** For records whose changes are all announced: entries stay valid while announcements are complete. */
  confirmBy(changes: Pick<AnnouncedChanges, 'completeAt' | 'ask'>): void {
    this.#changes = changes
  }

  /** The cached value, without a round trip. undefined: `find` must look it up. */
  known(arn: string): T | undefined {
    const entry = this.#entries.get(arn)
    if (!entry) return undefined
    const now = this.#now()
    const readAge = now - entry.at
    const changes = readAge <= CONFIRMED_AGE_MS_MAX ? this.#changes : undefined
    const at = Math.max(entry.at, changes?.completeAt ?? entry.at)
    const age = now - at
    // Also asked if this record must be read, because the answer confirms all others. Otherwise nothing would ever be
    // confirmed while each of many records is used less than once a second.
    const isConfirmed = age <= REFRESH_MS || changes?.ask() === true
    const usable = age <= RECORD_AGE_MS_MAX || (age <= BRIDGE_MS && this.#isUnanswered(entry, at, now))
    if (!usable) return undefined
    // A failed refresh is not reported here. The entry expires, and then `find` rejects for its callers.
    if (entry.askedAt === undefined && (!isConfirmed || readAge > CONFIRMED_AGE_MS_MAX / 2))
      this.find(arn).catch(() => undefined)
    return entry.value ?? undefined
  }

  /** Whether a request that was made while the entry was valid has no answer yet, or failed a moment ago. */
  #isUnanswered({ askedAt }: Entry<T>, at: number, now: number): boolean {
    return (askedAt !== undefined && askedAt - at <= RECORD_AGE_MS_MAX) || now - this.#failedAt < FAILED_MS
  }

  /** Asks Redis. null: there is no record. Callers at the same time share one request. */
  async find(arn: string): Promise<T | null> {
    const { value } = await this.#entries.forceFetch(arn, { forceRefresh: true })
    return value
  }

  /** Drops the entry of a record that changed. An ARN of another kind has no effect. */
  forget(arn: string): void {
    this.#entries.delete(arn)
  }

  /** Drops everything, because announcements may have been missed. */
  clear(): void {
    this.#entries.clear()
  }

  async #look(arn: string, before: Entry<T> | undefined, dropped: AbortSignal): Promise<Entry<T>> {
    const at = this.#now()
    if (before) before.askedAt = at
    try {
      const value = await this.#ask(arn)
      if (value === null && !dropped.aborted) this.forget(arn)
      return { value, at, askedAt: undefined }
    } catch (error) {
      this.#failedAt = this.#now()
      if (before) before.askedAt = undefined
      throw error
    }
  }
}
