/** The scripts that sessions of the console and of the portal share. `base`: the beginning of their keys. */
import type { Redis } from 'ioredis'
import { PORTAL_LINKS_BASE, PORTAL_SESSIONS_BASE, SESSIONS_BASE } from '../keys/keys.ts'
import { parseRecord, sumRecord } from '../records/checksums.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { ifReadable, partsIfReadable } from '../redis/unreadable.ts'

const MAKE = readScript('make-session-1')
const END = readScript('end-session-1')
const END_OF_KEY = readScript('end-sessions-of-key-1')
const COUNT_LOGIN = readScript('count-login-1')

interface NewSession {
  base: string
  digest: string
  /** The API key with which the session acts. */
  keyId: string
  /** For whom the key has made it. Sessions with the same value share a bound. */
  customer: string
  record: object
  /** The session ends after this time without a use. */
  idleMs: number
  /** Epoch ms. */
  endsAt: number
  /** Epoch ms. */
  now: number
  customerMax: number
  keyMax: number
  sessionsMax: number
}

export async function storeSession(redis: Redis, { record, ...rest }: NewSession): Promise<void> {
  await runScript(redis, MAKE, { ...rest, record: sumRecord(record) })
}

/** Returns false if there was no such session. */
export async function removeSession(redis: Redis, base: string, digest: string): Promise<boolean> {
  return (await runScript(redis, END, { base, digest })) === 1
}

/** Ends what the key has made: its sessions, and its links to the portal. */
export async function endSessionsOfKey(redis: Redis, keyId: string): Promise<void> {
  for (const base of [SESSIONS_BASE, PORTAL_LINKS_BASE, PORTAL_SESSIONS_BASE])
    await runScript(redis, END_OF_KEY, { base, keyId })
}

interface Counted {
  base: string
  /** Whose uses are counted. */
  address: string
  windowMs: number
  max: number
}

/** Counts a login or another use. Returns null if it is allowed, else the ms until its window ends. */
export async function countUse(redis: Redis, { max, ...args }: Counted): Promise<number | null> {
  const [count, endsInMs] = (await runScript(redis, COUNT_LOGIN, args)) as [number, number]
  return count > max ? Math.max(0, endsInMs) : null
}

/**
 * Lists all sessions; their number is bounded (sessions.ts, portal-sessions.ts). `ttlMs`: after which a session ends
 * unless it is used. Those that end last come first.
 */
export async function listSessions(
  redis: Redis,
  base: string,
): Promise<{ digest: string; record: Record<string, unknown>; ttlMs: number }[]> {
  const members = await redis.zrevrange(`${base}expiry`, 0, -1)
  const found = await Promise.all(
    members.map(async (member) => {
      const [digest = ''] = member.split(' ', 1)
      const key = `${base}session:${digest}`
      return partsIfReadable(async () => {
        const [text, ttlMs] = await Promise.all([redis.get(key), redis.pttl(key)])
        // An idle session ends before its name leaves the list.
        if (text === null) return []
        return ifReadable(() => ({ digest, record: parseRecord(text, key), ttlMs }))
      })
    }),
  )
  return found.flat()
}
