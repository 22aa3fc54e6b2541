/** Caches of those who call: API keys, sessions of the console and sessions of the portal. */
import { type KnownKey, keyOf } from '@fantail/access'
import { type ApiKeyRecord, type PortalSessionRecord, sealContextOf } from '@fantail/contracts'
import type { ApiKeys, PortalSessions, SessionRecord, Sessions } from '@fantail/store'
import { type Vault, VaultError } from '@fantail/vault'
import { LRUCache } from 'lru-cache'
import type { Log } from '../http/log.ts'
import { FreshCache } from './fresh-cache.ts'

interface Entry {
  known: KnownKey | undefined
}

interface KeyCacheOptions {
  keys: Pick<ApiKeys, 'get'>
  vault: Vault | undefined
  log: Pick<Log, 'error'>
  /** Monotonic ms. */
  now?: () => number
}

/**
 * It is as fresh as the cache of topics. A revoked key is dropped when the revocation is announced, and within a second
 * if the announcement is lost. Unknown keys are cached too, so that guesses do not cost a round trip each.
 */
export class KeyCache extends FreshCache<Entry> {
  constructor({ keys, vault, log, now }: KeyCacheOptions) {
    super({
      now,
      look: async (id) => {
        const record = await keys.get(id)
        return { known: record ? withSecret(record, vault, log) : undefined }
      },
    })
  }

  /** undefined: there is no such key, or its secret cannot be opened. */
  knownKey(id: string): KnownKey | undefined | Promise<KnownKey | undefined> {
    const entry = this.known(id)
    return entry ? entry.known : this.find(id).then((found) => found?.known)
  }
}

function withSecret(
  record: ApiKeyRecord,
  vault: Vault | undefined,
  log: Pick<Log, 'error'>,
): KnownKey | undefined {
  const { id, secretHash, sealedSecret } = record
  const key = keyOf(record)
  if (secretHash !== undefined) return { key, secretHash: Buffer.from(secretHash, 'hex') }
  try {
    if (vault === undefined) throw new Error('FANTAIL_MASTER_KEY is not set, so its secret cannot be opened')
    return { key, secret: vault.open(sealedSecret ?? '', sealContextOf(id)) }
  } catch (error) {
    // The caller gets 503, and the cache asks again.
    if (error instanceof VaultError && error.code === 'lockedKey') throw error
    log.error({ keyId: id, err: error }, 'key.unusable')
    return undefined
  }
}

/** The use of a session is stored at most once in this time. */
const TOUCH_MS = 60_000
/** Sessions whose last stored use a process remembers. Past it: the use of the oldest is stored sooner. */
const TOUCHED_MAX = 2_000

interface SessionCacheOptions {
  sessions: Pick<Sessions, 'get' | 'touch'>
  /** Epoch ms. */
  clock: () => number
}

/** Sessions by their digests. Sessions in use are renewed, so that they do not end. */
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

export class PortalCache extends FreshCache<PortalSessionRecord> {
  constructor(sessions: Pick<PortalSessions, 'get'>) {
    super({ look: (digest) => sessions.get(digest) })
  }
}
