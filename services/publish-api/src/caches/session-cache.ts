/**
 * A cache of sessions by their digests. It is as up to date as the cache of keys. It also renews sessions in use, so
 * that they do not end.
 */
import type { SessionRecord, Sessions } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import { FreshCache } from './fresh-cache.ts'

/** The use of a session is stored at most once in this time. */
const TOUCH_MS = 60_000
/** Sessions whose last stored use a process remembers. Past it: the use of the oldest is stored sooner. */
const TOUCHED_MAX = 2_000

interface SessionCacheOptions {
  sessions: Pick<Sessions, 'get' | 'touch'>
  /** Epoch ms. */
  clock: () => number
}

export class SessionCache extends FreshCache<SessionRecord> {
  readonly #options: SessionCacheOptions
  readonly #touched = new LRUCache<string, true>({ max: TOUCHED_MAX, ttl: TOUCH_MS })

  constructor(options: SessionCacheOptions) {
    super({ look: (digest) => options.sessions.get(digest) })
    this.#options = options
  }

  /** The session, which is in use now. null: it has ended. */
  async use(digest: string): Promise<SessionRecord | null> {
    const record = this.known(digest) ?? (await this.find(digest))
    const now = this.#options.clock()
    if (!record || record.endsAt <= now) return null
    this.#touch(digest, record, now)
    return record
  }

  #touch(digest: string, record: SessionRecord, now: number): void {
    if (this.#touched.has(digest)) return
    this.#touched.set(digest, true)
    // The next request notes it again.
    this.#options.sessions.touch(digest, record, now).catch(() => this.#touched.delete(digest))
  }
}
