/** Tokens that providers take instead of an application's credential. Each is made once, for all attempts. */
import { LRUCache } from 'lru-cache'

/** @limit Tokens of platform applications that a process keeps. Past it: the least recently used one is made again. */
const PUSH_TOKENS_MAX = 1_000

export interface MadeToken {
  token: string
  /** Epoch ms. */
  expiresAt: number
}

interface Kept {
  pending: Promise<MadeToken>
  /** Undefined while it is made. */
  made: MadeToken | undefined
}

export class AccessTokens {
  readonly #kept = new LRUCache<string, Kept>({ max: PUSH_TOKENS_MAX })

  /** `name` says whose token it is, and of which credential. Rejects if it cannot be made, and forgets that. */
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

  /** Another token is made for the next request, unless that has happened. */
  drop(name: string, token: string): void {
    if (this.#kept.peek(name)?.made?.token === token) this.#kept.delete(name)
  }
}
