/**
 * Caches the tokens that a provider or an endpoint accepts in place of a credential. All attempts share a token, and
 * all that come while it is being made wait for the same one.
 */
import { LRUCache } from 'lru-cache'

/** Tokens of platform applications that a process keeps. Past it: the least recently used one is made again. */
const TOKENS_MAX = 1_000

export interface MadeToken {
  token: string
  /** By the clock that `now` of `get` has. */
  expiresAt: number
}

interface Kept {
  pending: Promise<MadeToken>
  /** Undefined while the token is being made. */
  made: MadeToken | undefined
}

export class AccessTokens {
  readonly #kept: LRUCache<string, Kept>

  /** `max`: tokens that are kept. */
  constructor({ max = TOKENS_MAX } = {}) {
    this.#kept = new LRUCache({ max })
  }

  /**
   * Returns the token called `name`, which names the application and its credential. If there is none, `make` makes it.
   * A failure rejects and is not cached.
   */
  async get(name: string, now: number, make: () => Promise<MadeToken>): Promise<string> {
    const known = this.#kept.get(name)
    if (known && (known.made === undefined || known.made.expiresAt > now)) return (await known.pending).token
    const kept: Kept = { pending: make(), made: undefined }
    this.#kept.set(name, kept)
    try {
      kept.made = await kept.pending
      return kept.made.token
    } catch (error) {
      if (this.#kept.peek(name) === kept) this.#kept.delete(name)
      throw error
    }
  }

  /** Whether this is the token that the next attempt gets. */
  isCurrent(name: string, token: string): boolean {
    return this.#kept.peek(name)?.made?.token === token
  }

  /** Drops this token, so that another one is made for the next request. A newer token stays. */
  drop(name: string, token: string): void {
    if (this.isCurrent(name, token)) this.#kept.delete(name)
  }
}
