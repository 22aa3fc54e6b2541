/**
 * Stores the sessions of the console, by the SHA-256 of their tokens. A session has the rights of its API key, and ends
 * when the key does. Redis removes a session that was not used for an hour. Processes cache sessions. WAKE_CHANGES
 * notifies them when a session ends.
 */
import type { Redis } from 'ioredis'
import { type GrowthGuard, UNGUARDED } from '../capacity/growth.ts'
import { loginsKey, SESSIONS_BASE, sessionKey } from '../keys/keys.ts'
import { parseRecord } from '../records/checksums.ts'
import { ifReadable } from '../redis/unreadable.ts'
import { countUse, listSessions, removeSession, storeSession } from './session-scripts.ts'

/** A session that was not used for this time ends. */
const SESSION_IDLE_MS = 3_600_000
/** @limit Life of a session of the console. Past it: the browser must log in again. */
export const SESSION_MS_MAX = 43_200_000
/** @limit Sessions of the console. Past it: the first of the key with the most sessions ends now. */
const SESSIONS_MAX = 1_000
/** @limit Sessions of the console with one API key. Past it: the session of the key that would end first ends now. */
const SESSIONS_PER_KEY_MAX = 200
/** Sessions of the console have no customer. */
const NO_CUSTOMER = '-'
const LOGIN_WINDOW_MS = 60_000
/** @limit Failed logins of an address in a minute. Past it: a login with a wrong key gets 429. */
const FAILED_LOGINS_MAX = 5

export interface SessionRecord {
  keyId: string
  /** The value that its page must send with every request. */
  csrf: string
  createdAt: number
  endsAt: number
}

export class Sessions {
  readonly #redis: Redis
  readonly #growth: GrowthGuard

  constructor(redis: Redis, { growth = UNGUARDED }: { growth?: GrowthGuard } = {}) {
    this.#redis = redis
    this.#growth = growth
  }

  /** Throws `storage_full`. */
  async make(digest: string, record: SessionRecord): Promise<void> {
    await this.#growth.admit()
    await storeSession(this.#redis, {
      base: SESSIONS_BASE,
      digest,
      keyId: record.keyId,
      customer: NO_CUSTOMER,
      record,
      idleMs: SESSION_IDLE_MS,
      endsAt: record.endsAt,
      now: record.createdAt,
      customerMax: SESSIONS_PER_KEY_MAX,
      keyMax: SESSIONS_PER_KEY_MAX,
      sessionsMax: SESSIONS_MAX,
    })
  }

  /** null also if its record was changed. The browser then logs in again. */
  async get(digest: string): Promise<SessionRecord | null> {
    const text = await this.#redis.get(sessionKey(digest))
    if (text === null) return null
    return ifReadable(() => recordOf(parseRecord(text, sessionKey(digest))))[0] ?? null
  }

  /** All sessions by their digests. The session that ends last comes first. `lastUsedAt`: to the minute, epoch ms. */
  async list(now: number): Promise<{ digest: string; record: SessionRecord; lastUsedAt: number }[]> {
    const found = await listSessions(this.#redis, SESSIONS_BASE)
    return found.map(({ digest, record, ttlMs }) => {
      const session = recordOf(record)
      // The end of a session may cut its idle time. In its last hour a session therefore looks as if it was used
      // earlier.
      return { digest, record: session, lastUsedAt: Math.min(now, now + ttlMs - SESSION_IDLE_MS) }
    })
  }

  /** Called when the session is used: its idle time begins again. It still ends at `endsAt`. */
  async touch(digest: string, { endsAt }: SessionRecord, now: number): Promise<void> {
    await this.#redis.pexpire(sessionKey(digest), Math.max(1, Math.min(SESSION_IDLE_MS, endsAt - now)))
  }

  /** Ends the session. Returns false if there was no such session. */
  async end(digest: string): Promise<boolean> {
    return removeSession(this.#redis, SESSIONS_BASE, digest)
  }

  /** Counts a login. Returns null if it is allowed, else the ms until the address may try again. */
  async countLogin(address: string): Promise<number | null> {
    return countUse(this.#redis, {
      base: SESSIONS_BASE,
      address,
      max: FAILED_LOGINS_MAX,
      windowMs: LOGIN_WINDOW_MS,
    })
  }

  /** Takes a counted login back, because it succeeded. */
  async forgiveLogin(address: string): Promise<void> {
    const key = loginsKey(address)
    // If the count has expired meanwhile, this command has made a new one that would never expire.
    if ((await this.#redis.decr(key)) <= 0) await this.#redis.del(key)
  }
}

function recordOf({ keyId, csrf = '', createdAt, endsAt }: Record<string, unknown>): SessionRecord {
  return { keyId: String(keyId), csrf: String(csrf), createdAt: Number(createdAt), endsAt: Number(endsAt) }
}
