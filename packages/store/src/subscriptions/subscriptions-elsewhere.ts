/**
 * Changes of subscriptions whose slice is not in their topic's shard. The scripts run in the home shard, the slice's
 * shard, and the home shard again.
 */
import type { SubscriptionRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { placeOfSubscription } from '../records/subscriptions-id.ts'
import { idBytes, subscriptionFields } from '../slices/subscriptions-record.ts'
import {
  finishCreate,
  type Placement,
  placeSubscription,
  type Reservation,
  updateSubscription,
} from '../slices/subscriptions-scripts.ts'
import { type Stored, unpackStored } from '../slices/subscriptions-stored.ts'
import { newRevision } from '../slices/topics-record.ts'
import { touchTopic } from '../topics/topics-scripts.ts'

/** A taken place must be filled within this time. Refusals of late creations are remembered for twice as long. */
const PLACE_VALID_MS = 30_000

/** Stores a subscription in a slice of another shard. null: the place was given up meanwhile. */
export async function placeElsewhere(
  redis: Redis,
  placement: Placement,
  reservation: Reservation,
): Promise<{ subscription: SubscriptionRecord; created: boolean } | null> {
  const { topicArn } = placement
  const place = placeOfSubscription(reservation.id)
  if (!place || place.shard === place.homeShard) return null
  const request = { place, reservation, placement, validMs: PLACE_VALID_MS }
  const result = await placeSubscription(redis, request)
  if (result.outcome === 'late') return null
  const stored = 'record' in result ? unpackStored(reservation.id, topicArn, result.record) : null
  const tokenHash = stored ? subscriptionFields(stored.record).tokenHash : ''
  const entry = {
    place,
    id: reservation.id,
    arn: topicArn,
    endpointHash: placement.endpointHash,
    tokenHash,
  }
  await finishCreate(redis, entry, stored !== null)
  return stored && { subscription: stored.record, created: result.outcome === 'placed' }
}

/** Stores a changed record, unless another writer came first. Also updates the token's entry. */
export async function replaceStored(
  redis: Redis,
  stored: Stored,
  { record, text, grows }: { record: SubscriptionRecord; text: string; grows: boolean },
) {
  const { place } = stored
  const before = subscriptionFields(stored.record)
  const after = subscriptionFields(record)
  const update = {
    place,
    id: record.id,
    topicArn: record.topicArn,
    expected: stored.text,
    record: text,
    grows,
  }
  if (place.shard === place.homeShard) return updateSubscription(redis, { ...update, before, after })
  // The entry of the new token is added before the record is written, and the entry of the old token is removed after
  // that. If the record was not written, the entry of the new token is removed.
  const sameToken = record.token === stored.record.token
  const [oldToken, newToken] = sameToken ? (['', ''] as const) : [before.tokenHash, after.tokenHash]
  const touch = { arn: record.topicArn, uid: place.topicUid, rawId: idBytes(record.id) }
  const first = { ...touch, revision: newRevision(), removeToken: '' as const, addToken: newToken }
  await touchTopic(redis, first)
  const result = await updateSubscription(redis, { ...update, before, after })
  const removeToken = result.outcome === 'set' ? oldToken : newToken
  await touchTopic(redis, { ...touch, revision: newRevision(), removeToken, addToken: '' })
  return result
}
