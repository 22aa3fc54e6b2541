/**
 * Portal links and sessions. Redis has the SHA-256 of their tokens.
 *
 * link (10 minutes) ─redeemed once→ session (up to 24 hours) ─ended, or its time is over→ gone
 */
import { hash } from 'node:crypto'
import type { PortalGrant, PortalLinkRecord, PortalSessionRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { type GrowthGuard, UNGUARDED } from '../capacity/growth.ts'
import { PORTAL_LINKS_BASE, PORTAL_SESSIONS_BASE, PORTAL_USES_BASE } from '../keys/keys.ts'
import { parseRecord } from '../records/checksums.ts'
import { ifReadable } from '../redis/unreadable.ts'
import { countUse, listSessions, removeSession, storeSession } from './session-scripts.ts'

/** @limit Life of a portal link. Past it: it cannot be redeemed. */
export const PORTAL_LINK_MS_MAX = 600_000
/**
 * @limit memory (Redis) Portal links that were not redeemed yet. Past it: the oldest of the key with the most ends now.
 */
const PORTAL_LINKS_MAX = 1_000
/**
 * @limit memory (Redis) Sessions of the portal. Past it: the session of the key with the most that would end first ends
 * now.
 */
const PORTAL_SESSIONS_MAX = 1_000
/**
 * @limit Portal links of one API key, and sessions. Past it: the first of the customer with the most of them ends now.
 */
const PORTAL_PER_KEY_MAX = 500
/** @limit Portal links of one API key with the same grant, and sessions. Past it: the first of them ends now. */
const PORTAL_PER_CUSTOMER_MAX = 20
const CUSTOMER_CHARS = 16

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
      ...ownerOf(record),
      record,
      idleMs: PORTAL_LINK_MS_MAX,
      endsAt: now + PORTAL_LINK_MS_MAX,
      now,
      sessionsMax: PORTAL_LINKS_MAX,
    })
  }

  /** The link, which is gone afterwards. null: there is none, it was changed, or somebody else has redeemed it. */
  async takeLink(digest: string): Promise<PortalLinkRecord | null> {
    const key = `${PORTAL_LINKS_BASE}session:${digest}`
    const text = await this.#redis.getdel(key)
    if (text === null) return null
    const [record] = ifReadable(() => parseRecord(text, key) as unknown as PortalLinkRecord)
    if (!record) return null
    const { keyId, customer } = ownerOf(record)
    await this.#redis.zrem(`${PORTAL_LINKS_BASE}expiry`, `${digest} ${keyId} ${customer}`)
    return record
  }

  /** Throws `storage_full`. */
  async make(digest: string, record: PortalSessionRecord): Promise<void> {
    await this.#growth.admit()
    const { createdAt: now, endsAt } = record
    await storeSession(this.#redis, {
      base: PORTAL_SESSIONS_BASE,
      digest,
      ...ownerOf(record),
      record,
      idleMs: endsAt - now,
      endsAt,
      now,
      sessionsMax: PORTAL_SESSIONS_MAX,
    })
  }

  /** null also if its record was changed. The customer then needs another link. */
  async get(digest: string): Promise<PortalSessionRecord | null> {
    const key = `${PORTAL_SESSIONS_BASE}session:${digest}`
    const text = await this.#redis.get(key)
    if (text === null) return null
    return ifReadable(() => parseRecord(text, key) as unknown as PortalSessionRecord)[0] ?? null
  }

  /** Ends the session. Returns false if there was no such session. */
  async end(digest: string): Promise<boolean> {
    return removeSession(this.#redis, PORTAL_SESSIONS_BASE, digest)
  }

  /**
   * Ends the links and sessions whose grants match, such as those of a customer who leaves. Returns how many.
   */
  async endAll(matches: (grant: PortalGrant) => boolean): Promise<number> {
    let ended = 0
    for (const base of [PORTAL_LINKS_BASE, PORTAL_SESSIONS_BASE]) {
      for (const { digest, record } of await listSessions(this.#redis, base)) {
        if (matches(record as unknown as PortalGrant) && (await removeSession(this.#redis, base, digest)))
          ended++
      }
    }
    return ended
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

/** A customer is known by the key and the grant. */
function ownerOf({ keyId, prefixes, subscriptions }: PortalGrant) {
  const grant = JSON.stringify([prefixes.toSorted(), subscriptions?.toSorted() ?? null])
  return {
    keyId,
    customer: hash('sha256', grant, 'hex').slice(0, CUSTOMER_CHARS),
    customerMax: PORTAL_PER_CUSTOMER_MAX,
    keyMax: PORTAL_PER_KEY_MAX,
  }
}
