/**
 * Caches access tokens. A provider accepts such a token in place of the application's credential. All attempts share a
 * token.
 */
import { LRUCache } from 'lru-cache'

/** Tokens of platform applications that a process keeps. Past it: the least recently used one is made again. */
const PUSH_TOKENS_MAX = 1_000

export interface MadeToken {
  token: string
  /** Epoch ms. */
  expiresAt: number
}

interface Kept {
  pending: Promise<MadeToken>
  /** Undefined while the token is being made. */
  made: MadeToken | undefined
}

export class AccessTokens {
  readonly #kept = new LRUCache<string, Kept>({ max: PUSH_TOKENS_MAX })

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

  /** Drops this token, so that another one is made for the next request. A newer token stays. */
  drop(name: string, token: string): void {
    if (this.#kept.peek(name)?.made?.token === token) this.#kept.delete(name)
  }
}
