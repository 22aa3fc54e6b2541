/** A cache of portal sessions by their digests. It is as up to date as the cache of keys. */
import type { PortalSessionRecord } from '@fantail/contracts'
import type { PortalSessions } from '@fantail/store'
import { FreshCache } from './fresh-cache.ts'

export class PortalCache extends FreshCache<PortalSessionRecord> {
  constructor(sessions: Pick<PortalSessions, 'get'>) {
    super({ look: (digest) => sessions.get(digest) })
  }
}
