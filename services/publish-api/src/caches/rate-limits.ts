/**
 * Rate limits of keys over all processes, without a round trip per request. A process takes the tokens of 50 ms at a
 * time, and uses them without asking. Unused tokens expire after a second, so tokens that were taken long ago never add
 * to those of other processes. While Redis does not answer, each process allows as many requests as it would have taken
 * tokens.
 */
import type { Caller } from '@fantail/access'
import { FantailError, type KeyLimit } from '@fantail/contracts'
import type { KeyLimits } from '@fantail/store'
import { LRUCache } from 'lru-cache'

/** Tokens are taken for one part in this many of a second. */
const CHUNKS_PER_SECOND = 20
/** How long a process may use the tokens that it took of a key's rate limit. After it: it takes new ones. */
const TOKENS_AGE_MS_MAX = 1_000
const UNANSWERED_MS = 50
/** Limited keys whose tokens a process keeps. Past it: the tokens of the least recently used key are lost. */
const KEYS_REMEMBERED_MAX = 10_000
/** Tries of a request to get a token. Past it: `rate_limited`. */
const ASKS_MAX = 3

interface Bucket {
  tokens: number
  validUntil: number
  emptyUntil: number
  waiting: number
  asked: Promise<void> | undefined
}

interface RateLimitsOptions {
  limits: Pick<KeyLimits, 'take'>
  /** Monotonic ms. */
  now?: () => number
}

export class RateLimits {
  readonly #limits: Pick<KeyLimits, 'take'>
  readonly #now: () => number
  readonly #buckets = new LRUCache<string, Bucket>({ maxSize: KEYS_REMEMBERED_MAX, sizeCalculation: () => 1 })

  constructor({ limits, now }: RateLimitsOptions) {
    this.#limits = limits
    this.#now = now ?? (() => performance.now())
  }

  /**
   * Counts a request. Throws `rate_limited` past the limit of the key, or of a key that made it. Returns a promise only
   * if Redis must be asked for tokens.
   */
  admit(caller: Caller): void | Promise<void> {
    if (caller === null || caller.limits.length === 0) return
    return this.#admitBy(caller.limits, 0)
  }

  #admitBy(limits: readonly KeyLimit[], from: number): void | Promise<void> {
    for (let at = from; at < limits.length; at++) {
      const limit = limits[at] as KeyLimit
      const bucket = this.#bucketOf(limit.id)
      if (this.#take(bucket)) continue
      return this.#ask(bucket, limit).then(() => this.#admitBy(limits, at + 1))
    }
  }

  #bucketOf(id: string): Bucket {
    let bucket = this.#buckets.get(id)
    if (!bucket) {
      bucket = { tokens: 0, validUntil: 0, emptyUntil: 0, waiting: 0, asked: undefined }
      this.#buckets.set(id, bucket)
    }
    return bucket
  }

  /** Takes a token. Throws if the bucket is known to be empty. */
  #take(bucket: Bucket): boolean {
    const now = this.#now()
    if (bucket.tokens > 0 && now < bucket.validUntil) {
      bucket.tokens--
      return true
    }
    if (now < bucket.emptyUntil) throw limitReached(bucket.emptyUntil - now)
    return false
  }

  async #ask(bucket: Bucket, limited: KeyLimit): Promise<void> {
    for (let asks = 0; asks < ASKS_MAX; asks++) {
      bucket.waiting++
      bucket.asked ??= this.#fill(bucket, limited).finally(() => {
        bucket.asked = undefined
      })
      try {
        await bucket.asked
      } finally {
        bucket.waiting--
      }
      if (this.#take(bucket)) return
    }
    throw limitReached(1_000 / limited.maxRequestsPerSecond)
  }

  async #fill(bucket: Bucket, { id: keyId, maxRequestsPerSecond: ratePerSecond }: KeyLimit): Promise<void> {
    const wanted = Math.ceil(ratePerSecond / CHUNKS_PER_SECOND)
    // Waits until other callers of this turn of the event loop have joined, so that their requests are counted too.
    await Promise.resolve()
    const asked = { keyId, ratePerSecond, wanted: Math.max(wanted, bucket.waiting) }
    try {
      const { given, nextInMs } = await this.#limits.take(asked)
      bucket.tokens = given
      bucket.validUntil = this.#now() + TOKENS_AGE_MS_MAX
      bucket.emptyUntil = given < asked.wanted ? this.#now() + nextInMs : 0
    } catch {
      bucket.tokens = wanted
      bucket.validUntil = this.#now() + UNANSWERED_MS
      bucket.emptyUntil = bucket.validUntil
    }
  }
}

function limitReached(waitMs: number): FantailError {
  return new FantailError('rate_limited', 'this key makes more requests than its limit allows', {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  })
}
