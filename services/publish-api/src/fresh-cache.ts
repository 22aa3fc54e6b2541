/**
 * What is known by an ARN, at most a second old. A change announced by Redis, or made through this process, drops the entry
 * at once.
 *
 * What does not exist is not remembered: that is rare, and what is made elsewhere must be found. A lookup that was under
 * way when its object changed answers its callers and is not kept.
 */
const AGE_MAX_MS = 1_000
/** Past this age an entry still answers, and is looked up anew beside it, so that what is busy never waits. */
const REFRESH_MS = 500
const ENTRIES_MAX = 10_000

interface Entry<T> {
  value: T
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
  readonly #lookups = new Map<string, Promise<T | null>>()

  constructor({ look, now }: FreshCacheOptions<T>) {
    this.#ask = look
    this.#now = now ?? (() => performance.now())
  }

  /** What is known, without a trip; undefined where `find` has to ask. */
  known(arn: string): T | undefined {
    const entry = this.#entries.get(arn)
    if (entry === undefined) return undefined
    const age = this.#now() - entry.at
    if (age > AGE_MAX_MS) return undefined
    // A failed refresh is not told here: the entry runs out, and `find` then fails its callers.
    if (age > REFRESH_MS && !this.#lookups.has(arn)) this.find(arn).catch(() => undefined)
    return entry.value
  }

  /** Asks Redis; null: there is none. Callers at the same time share one question. */
  find(arn: string): Promise<T | null> {
    const running = this.#lookups.get(arn)
    if (running) return running
    const lookup: Promise<T | null> = this.#look(arn, () => this.#lookups.get(arn) === lookup)
    this.#lookups.set(arn, lookup)
    return lookup
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

  async #look(arn: string, isCurrent: () => boolean): Promise<T | null> {
    const at = this.#now()
    try {
      const value = await this.#ask(arn)
      if (isCurrent()) this.#keep(arn, value === null ? null : { value, at })
      return value
    } finally {
      if (isCurrent()) this.#lookups.delete(arn)
    }
  }

  #keep(arn: string, entry: Entry<T> | null): void {
    this.#entries.delete(arn)
    if (entry === null) return
    if (this.#entries.size >= ENTRIES_MAX) this.#entries.clear()
    this.#entries.set(arn, entry)
  }
}
