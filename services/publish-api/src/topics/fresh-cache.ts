/**
 * A cache of records by ARN, at most a second old. A change that Redis announces, or that this process makes, drops the
 * entry at once. While Redis does not answer nothing can change, and an entry is valid for three seconds. A publish
 * then waits for Redis where it is stored, instead of being refused here.
 *
 * Missing records are not cached: they are rare, and a record made by another process must be found. A look-up that was
 * under way when its record changed answers its callers and is not cached.
 */
/** @limit Age of a topic's or queue's record in the API's cache. Past it: it is read again. */
const RECORD_AGE_MS_MAX = 1_000
/** Past this age an entry still answers, and is looked up anew beside it, so that what is busy never waits. */
const REFRESH_MS = 500
/** The most that an entry holds while Redis does not answer. */
const BRIDGE_MS = 3_000
/** How long a question that failed says that Redis does not answer. */
const FAILED_MS = 500
/** @limit Records in the API's cache. Past it: the oldest is dropped. */
const RECORDS_MAX = 10_000

interface Entry<T> {
  value: T
  at: number
}

interface Lookup<T> {
  answer: Promise<T | null>
  /** When it was asked. */
  at: number
}

export interface FreshCacheOptions<T> {
  /** Asks Redis; null: there is none. */
  look: (arn: string) => Promise<T | null>
  /** Monotonic ms. */
  now?: (() => number) | undefined
}

export class FreshCache<T> {
  readonly #ask: (arn: string) => Promise<T | null>
  readonly #now: () => number
  readonly #entries = new Map<string, Entry<T>>()
  readonly #lookups = new Map<string, Lookup<T>>()
  #failedAt = Number.NEGATIVE_INFINITY

  constructor({ look, now }: FreshCacheOptions<T>) {
    this.#ask = look
    this.#now = now ?? (() => performance.now())
  }

  /** The cached value, without a round trip; undefined if `find` has to look it up. */
  known(arn: string): T | undefined {
    const entry = this.#entries.get(arn)
    if (entry === undefined) return undefined
    const now = this.#now()
    const age = now - entry.at
    const usable = age <= RECORD_AGE_MS_MAX || (age <= BRIDGE_MS && this.#isUnanswered(arn, entry, now))
    if (!usable) return undefined
    // A failed refresh is not reported here: the entry expires, and `find` then fails its callers.
    if (age > REFRESH_MS && !this.#lookups.has(arn)) this.find(arn).catch(() => undefined)
    return entry.value
  }

  /** A question asked while the entry was good has no answer yet, or one failed a moment ago. */
  #isUnanswered(arn: string, entry: Entry<T>, now: number): boolean {
    const lookup = this.#lookups.get(arn)
    return (
      (lookup !== undefined && lookup.at - entry.at <= RECORD_AGE_MS_MAX) || now - this.#failedAt < FAILED_MS
    )
  }

  /** Asks Redis; null: there is none. Callers at the same time share one question. */
  find(arn: string): Promise<T | null> {
    const running = this.#lookups.get(arn)
    if (running) return running.answer
    const at = this.#now()
    const lookup: Lookup<T> = { at, answer: this.#look(arn, at, () => this.#lookups.get(arn) === lookup) }
    this.#lookups.set(arn, lookup)
    return lookup.answer
  }

  /** Drops what is known of something that changed; an ARN of anything else changes nothing. */
  forget(arn: string): void {
    this.#entries.delete(arn)
    this.#lookups.delete(arn)
  }

  /** Drops everything: announcements may have been missed. */
  clear(): void {
    this.#entries.clear()
    this.#lookups.clear()
  }

  async #look(arn: string, at: number, isCurrent: () => boolean): Promise<T | null> {
    try {
      const value = await this.#ask(arn)
      if (isCurrent()) this.#keep(arn, value === null ? null : { value, at })
      return value
    } catch (error) {
      this.#failedAt = this.#now()
      throw error
    } finally {
      if (isCurrent()) this.#lookups.delete(arn)
    }
  }

  #keep(arn: string, entry: Entry<T> | null): void {
    this.#entries.delete(arn)
    if (entry === null) return
    // The entry that was looked up longest ago goes. Entries in use are looked up twice a second, so requests for
    // made-up names cannot displace them.
    if (this.#entries.size >= RECORDS_MAX) this.#entries.delete(this.#entries.keys().next().value ?? '')
    this.#entries.set(arn, entry)
  }
}
