/** Deletes a subscription whose record cannot be read, so that an operator can remove it. */
import type { Redis } from 'ioredis'
import { endpointsKey, tokensKey } from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'
import { placeOfSubscription } from '../records/subscriptions-id.ts'
import { idBytes } from './subscriptions-record.ts'
import { deleteSubscription, finishDelete, removeSubscription } from './subscriptions-scripts.ts'

/** Entries of an index that one command reads. */
const INDEX_SCAN_COUNT = 1_000

/**
 * False if it is gone already. The record would name the entries of the topic's indexes, so they are searched for the
 * id.
 */
export async function deleteUnreadable(
  redis: Redis,
  { id, topicArn }: { id: string; topicArn: string },
): Promise<boolean> {
  const place = placeOfSubscription(id)
  if (!place) return false
  const home = shardBase(place.homeShard)
  const endpointHash = await fieldOf(redis, endpointsKey(home, place.topicUid), idBytes(id))
  const tokenHash = await fieldOf(redis, tokensKey(home, place.topicUid), idBytes(id))
  const entry = {
    place,
    id,
    arn: topicArn,
    endpointHash: endpointHash ?? Buffer.alloc(0),
    tokenHash: tokenHash ?? ('' as const),
  }
  const outcome = await deleteSubscription(redis, entry, '')
  if (outcome !== 'begun') return outcome === 'deleted'
  const text = await removeSubscription(redis, place, id)
  await finishDelete(redis, entry, null)
  return text !== null
}

async function fieldOf(redis: Redis, key: string, value: Buffer): Promise<Buffer | undefined> {
  let cursor = '0'
  do {
    const [next, flat] = await redis.hscanBuffer(key, cursor, 'COUNT', INDEX_SCAN_COUNT)
    cursor = String(next)
    for (let i = 0; i + 1 < flat.length; i += 2) if (flat[i + 1]?.equals(value)) return flat[i]
  } while (cursor !== '0')
  return undefined
}
