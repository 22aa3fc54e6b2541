/** Deletes subscriptions that were not confirmed, or not restored, in time. */
import { FantailError, type SubscriptionRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { expiriesKey } from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'
import { UnreadableRecordError } from '../records/stored-json.ts'
import { SHARDS_AT_ONCE, sideBySide } from '../redis/side-by-side.ts'
import { shardsWith } from '../topics/topics-repair.ts'
import { listElapsed } from '../topics/topics-scripts.ts'

/** Unconfirmed subscriptions that one sweep deletes in a shard. Past it: the next sweep deletes the others. */
const EXPIRED_PER_SWEEP_MAX = 200
/** A record that cannot be read is tried again after this time, so that it does not delay the others. */
const UNREADABLE_AGAIN_MS = 3_600_000

interface Tools {
  redis: Redis
  subscriptions: {
    update(id: string, change: (current: SubscriptionRecord) => Partial<SubscriptionRecord>): Promise<unknown>
    delete(id: string): Promise<boolean>
  }
  /** Called with a record that cannot be read. If absent, the error is thrown. */
  onUnreadable?: ((error: Error) => void) | undefined
}

/** Deletes pending and unsubscribed subscriptions whose token has expired. Returns how many. */
export async function expirePending(tools: Tools): Promise<number> {
  let expired = 0
  await sideBySide(await shardsWith(tools.redis, expiriesKey), SHARDS_AT_ONCE, async (shard) => {
    const list = { shard, set: 'expiries' as const, ageMs: 0, limit: EXPIRED_PER_SWEEP_MAX }
    const { now, members } = await listElapsed(tools.redis, list)
    for (const id of members) {
      if (await expire(tools, id, { now, shard })) expired += 1
    }
  })
  return expired
}

/**
 * First makes the subscription invisible and removes its token. A concurrent confirmation may come before that, and
 * then the subscription stays. Otherwise the confirmation finds no token.
 */
async function expire(
  tools: Tools,
  id: string,
  { now, shard }: { now: number; shard: number },
): Promise<boolean> {
  const { redis, subscriptions, onUnreadable } = tools
  let due = false
  try {
    await subscriptions.update(id, (current) => {
      const awaited = current.status === 'pending' || current.unsubscribed
      due = awaited && current.tokenExpiresAt !== null && current.tokenExpiresAt <= now
      return due ? { unsubscribed: true, token: null } : {}
    })
    return due && (await subscriptions.delete(id))
  } catch (error) {
    const key = expiriesKey(shardBase(shard))
    if (error instanceof FantailError && error.code === 'not_found') await redis.zrem(key, id)
    else if (!(error instanceof UnreadableRecordError) || !onUnreadable) throw error
    else {
      onUnreadable(error)
      await redis.zadd(key, now + UNREADABLE_AGAIN_MS, id)
    }
    return false
  }
}
