/**
 * Portal links and sessions. Redis has the SHA-256 of their tokens.
 *
 * link (10 minutes) ─redeemed once→ session (up to 24 hours) ─ended, or its time is over→ gone
 */
import type { PortalLinkRecord, PortalSessionRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { type GrowthGuard, UNGUARDED } from '../capacity/growth.ts'
import { PORTAL_LINKS_BASE, PORTAL_SESSIONS_BASE, PORTAL_USES_BASE } from '../keys.ts'
import { parseStored } from '../records/stored-json.ts'
import { listSessions } from './list-sessions.ts'
import { countUse, removeSession, storeSession } from './session-scripts.ts'

/** @limit Life of a portal link. Past it: it cannot be redeemed. */
export const PORTAL_LINK_MS_MAX = 600_000
/** @limit memory (Redis) Portal links that were not redeemed yet. Past it: the oldest end now. */
const PORTAL_LINKS_MAX = 1_000
/** @limit memory (Redis) Sessions of the portal. Past it: the sessions that would end first end now. */
const PORTAL_SESSIONS_MAX = 1_000

interface Uses {
  /** The session's id. */
  id: string
  what: string
  max: number
  windowMs: number
}

export class PortalSessions {
  readonly #redis: Redis
  readonly #growth: GrowthGuard

  constructor(redis: Redis, { growth = UNGUARDED }: { growth?: GrowthGuard } = {}) {
    this.#redis = redis
    this.#growth = growth
  }

  /** Throws `storage_full`. */
  async makeLink(digest: string, record: PortalLinkRecord, now: number): Promise<void> {
    await this.#growth.admit()
    await storeSession(this.#redis, {
      base: PORTAL_LINKS_BASE,
      digest,
      record,
      idleMs: PORTAL_LINK_MS_MAX,
      endsAt: now + PORTAL_LINK_MS_MAX,
      now,
      sessionsMax: PORTAL_LINKS_MAX,
    })
  }

  /** The link, which is gone afterwards. null: there is none, or somebody else has redeemed it. */
  async takeLink(digest: string): Promise<PortalLinkRecord | null> {
    const key = `${PORTAL_LINKS_BASE}session:${digest}`
    const text = await this.#redis.getdel(key)
    if (text === null) return null
    await this.#redis.zrem(`${PORTAL_LINKS_BASE}ends`, digest)
    return parseStored(text, key) as unknown as PortalLinkRecord
  }

  /** Throws `storage_full`. */
  async make(digest: string, record: PortalSessionRecord): Promise<void> {
    await this.#growth.admit()
    const { createdAt: now, endsAt } = record
    await storeSession(this.#redis, {
      base: PORTAL_SESSIONS_BASE,
      digest,
      record,
      idleMs: endsAt - now,
      endsAt,
      now,
      sessionsMax: PORTAL_SESSIONS_MAX,
    })
  }

  async get(digest: string): Promise<PortalSessionRecord | null> {
    const key = `${PORTAL_SESSIONS_BASE}session:${digest}`
    const text = await this.#redis.get(key)
    return text === null ? null : (parseStored(text, key) as unknown as PortalSessionRecord)
  }

  /** Ends the session. Returns false if there was no such session. */
  async end(digest: string): Promise<boolean> {
    return removeSession(this.#redis, PORTAL_SESSIONS_BASE, digest)
  }

  /** All sessions by their digests. The session that ends last comes first. */
  async list(): Promise<{ digest: string; record: PortalSessionRecord }[]> {
    const found = await listSessions(this.#redis, PORTAL_SESSIONS_BASE)
    return found.map(({ digest, record }) => ({ digest, record: record as unknown as PortalSessionRecord }))
  }

  /**
   * Counts an action that a session may do only a few times. Returns null if it is allowed, or else the ms until it is
   * allowed again.
   */
  async countUse({ id, what, max, windowMs }: Uses): Promise<number | null> {
    return countUse(this.#redis, { base: PORTAL_USES_BASE, address: `${what}:${id}`, max, windowMs })
  }
}
