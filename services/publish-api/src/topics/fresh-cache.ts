/**
 * A cache of records by ARN, at most a second old. A change that Redis announces, or that this process makes, drops the
 * entry at once. While Redis does not answer nothing can change, and an entry is valid for three seconds. A publish
 * then waits for Redis where it is stored, instead of being refused here.
 *
 * Missing records are not cached: they are rare, and a record made by another process must be found. A look-up that was
 * under way when its record changed answers its callers and is not cached.
 */
import { LRUCache } from 'lru-cache'

/** @limit Age of a topic's or queue's record in the API's cache. Past it: it is read again. */
const RECORD_AGE_MS_MAX = 1_000
/** Past this age an entry still answers, and is looked up anew beside it, so that what is busy never waits. */
const REFRESH_MS = 500
/** The most that an entry holds while Redis does not answer. */
const BRIDGE_MS = 3_000
/** How long a question that failed says that Redis does not answer. */
const FAILED_MS = 500
/** @limit Records in the API's cache. Past it: the one that was looked up longest ago is dropped. */
const RECORDS_MAX = 10_000
/**
 * For topics and for queues each, by the length of their records as JSON. Most records have less than 2 KB.
 * @limit memory Records in one of the API's caches. Past it: the one that was looked up longest ago is dropped.
 */
const RECORDS_BYTES_MAX = 33_554_432
/** About what an object of a record takes beside its texts. */
const RECORD_OVERHEAD_BYTES = 512

interface Entry<T> {
  /** null: there is no record. Such an entry answers its callers and is not kept. */
  value: T | null
  at: number
  /** When it was asked for again; undefined: no question is under way. */
  askedAt: number | undefined
}

interface FreshCacheOptions<T> {
  /** Asks Redis; null: there is none. */
  look: (arn: string) => Promise<T | null>
  /** Monotonic ms. */
  now?: (() => number) | undefined
}

export class FreshCache<T> {
  readonly #ask: (arn: string) => Promise<T | null>
  readonly #now: () => number
  readonly #entries: LRUCache<string, Entry<T>>
  #failedAt = Number.NEGATIVE_INFINITY

  constructor({ look, now }: FreshCacheOptions<T>) {
    this.#ask = look
    this.#now = now ?? (() => performance.now())
    this.#entries = new LRUCache({
      max: RECORDS_MAX,
      maxSize: RECORDS_BYTES_MAX,
      sizeCalculation: ({ value }) => RECORD_OVERHEAD_BYTES + 2 * JSON.stringify(value).length,
      fetchMethod: (arn, before, { signal }) => this.#look(arn, before, signal),
      // A look-up whose record was dropped meanwhile still answers its callers.
      ignoreFetchAbort: true,
      noDeleteOnFetchRejection: true,
    })
  }

  /** The cached value, without a round trip; undefined if `find` has to look it up. */
  known(arn: string): T | undefined {
    // The library drops the entry that was looked up longest ago. Entries in use are looked up twice a second, so
    // requests for made-up names cannot displace them.
    const entry = this.#entries.peek(arn)
    if (!entry) return undefined
    const now = this.#now()
    const age = now - entry.at
    const usable = age <= RECORD_AGE_MS_MAX || (age <= BRIDGE_MS && this.#isUnanswered(entry, now))
    if (!usable) return undefined
    // A failed refresh is not reported here: the entry expires, and `find` then fails its callers.
    if (age > REFRESH_MS && entry.askedAt === undefined) this.find(arn).catch(() => undefined)
    return entry.value ?? undefined
  }

  /** A question asked while the entry was good has no answer yet, or one failed a moment ago. */
  #isUnanswered({ at, askedAt }: Entry<T>, now: number): boolean {
    return (askedAt !== undefined && askedAt - at <= RECORD_AGE_MS_MAX) || now - this.#failedAt < FAILED_MS
  }

  /** Asks Redis; null: there is none. Callers at the same time share one question. */
  async find(arn: string): Promise<T | null> {
    const { value } = await this.#entries.forceFetch(arn, { forceRefresh: true })
    return value
  }

  /** Drops what is known of something that changed; an ARN of anything else changes nothing. */
  forget(arn: string): void {
    this.#entries.delete(arn)
  }

  /** Drops everything: announcements may have been missed. */
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
