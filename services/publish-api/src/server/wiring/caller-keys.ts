/** The layer of callers: their keys, sessions and rate limits. */
import { ApiKeys, KeyLimits, PortalSessions, Sessions, type StorageGuard } from '@fantail/store'
import { KeyCache, PortalCache, SessionCache } from '../../caches/caller-caches.ts'
import { RateLimits } from '../../caches/rate-limits.ts'
import type { ApiGround } from './api-ground.ts'
import type { PublishApiOptions } from './api-options.ts'

export type CallerKeys = ReturnType<typeof createCallerKeys>

export function createCallerKeys(
  { redis, now: clock }: ApiGround,
  growth: StorageGuard,
  { vault, log }: PublishApiOptions,
) {
  const keys = new ApiKeys(redis, { growth })
  const sessions = new Sessions(redis, { growth })
  const portalSessions = new PortalSessions(redis, { growth })
  return {
    keys,
    sessions,
    sessionCache: new SessionCache({ sessions, clock }),
    portalSessions,
    portalCache: new PortalCache(portalSessions),
    keyCache: new KeyCache({ keys, vault, log }),
    rateLimits: new RateLimits({ limits: new KeyLimits(redis) }),
  }
}
