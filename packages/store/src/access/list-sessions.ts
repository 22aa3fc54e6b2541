/** Lists sessions, of the console or of the portal. Their number is bounded (sessions.ts, portal-sessions.ts). */

import type { Redis } from 'ioredis'
import { parseStored } from '../records/stored-json.ts'
import { ifReadable } from '../redis/unreadable.ts'

/** `ttlMs`: after which it ends unless it is used. Those that end last come first. */
export async function listSessions(
  redis: Redis,
  base: string,
): Promise<{ digest: string; record: Record<string, unknown>; ttlMs: number }[]> {
  const members = await redis.zrevrange(`${base}ends`, 0, -1)
  const found = await Promise.all(
    members.map(async (member) => {
      const [digest = ''] = member.split(' ', 1)
      const key = `${base}session:${digest}`
      const [text, ttlMs] = await Promise.all([redis.get(key), redis.pttl(key)])
      // An idle session ends before its name leaves the list.
      if (text === null) return []
      return ifReadable(() => ({ digest, record: parseStored(text, key), ttlMs }))
    }),
  )
  return found.flat()
}
