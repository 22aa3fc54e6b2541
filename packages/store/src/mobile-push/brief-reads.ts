/**
 * Shares reads of records that many attempts need at about the same time. A result is used for at most
 * SNAPSHOT_AGE_MS_MAX. A change by another process therefore takes effect as fast as the change of a subscription.
 */
import { SNAPSHOT_AGE_MS_MAX } from '@fantail/contracts'
import { LRUCache } from 'lru-cache'

/**
 * Records of mobile push that a process keeps for a moment. Past it: they are read again. The limit holds separately
 * for applications and for endpoints.
 */
const BRIEF_READS_MAX = 2_000

interface BriefRead<T> {
  result: Promise<T>
  /** When the read began. */
  at: number
}

export class BriefReads<T> {
  readonly #read: (key: string) => Promise<T>
  readonly #now: () => number
  readonly #known = new LRUCache<string, BriefRead<T>>({ max: BRIEF_READS_MAX })

  /** `now`: monotonic ms. */
  constructor(read: (key: string) => Promise<T>, now: () => number = () => performance.now()) {
    this.#read = read
    this.#now = now
  }

  /** The record. Rejects if the read does. A failure is not cached. */
  get(key: string): Promise<T> {
    const known = this.#known.get(key)
    if (known && this.#now() - known.at < SNAPSHOT_AGE_MS_MAX) return known.result
    const made = { result: this.#read(key), at: this.#now() }
    this.#known.set(key, made)
    made.result.catch(() => {
      if (this.#known.peek(key) === made) this.#known.delete(key)
    })
    return made.result
  }

  /** Called when this process has changed the record. */
  forget(key: string): void {
    this.#known.delete(key)
  }
}
