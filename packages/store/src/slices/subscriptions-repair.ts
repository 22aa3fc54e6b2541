/** Finishes creations and deletions of subscriptions that a crash interrupted between two shards (topics-repair.ts). */
import type { Redis } from 'ioredis'
import { subscriptionsKey } from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'
import { placeOfSubscription, type SubscriptionPlace } from '../records/subscriptions-id.ts'
import { ifReadable } from '../redis/unreadable.ts'
import { subscriptionFields, unpackSubscription } from './subscriptions-record.ts'
import { finishCreate, finishDelete, removeSubscription, settleCreate } from './subscriptions-scripts.ts'
import { unpackStored } from './subscriptions-stored.ts'

interface Mark {
  arn: string
  /** Hex. */
  endpointHash: string
  id: string
}

export async function resumeCreate(redis: Redis, mark: Mark): Promise<void> {
  const { place, endpointHash } = parsed(mark)
  const text = await settleCreate(redis, place, mark.id)
  const key = subscriptionsKey(shardBase(place.shard), place.sliceId)
  const record = text ? unpackSubscription(text, { id: mark.id, topicArn: mark.arn, key }) : null
  const tokenHash = record ? subscriptionFields(record).tokenHash : ''
  const entry = { place, id: mark.id, arn: mark.arn, endpointHash, tokenHash }
  await finishCreate(redis, entry, record !== null)
}

export async function resumeDelete(redis: Redis, mark: Mark): Promise<void> {
  const { place, endpointHash } = parsed(mark)
  const text = await removeSubscription(redis, place, mark.id)
  const last = text === null ? [] : ifReadable(() => unpackStored(mark.id, mark.arn, text).record)
  await finishDelete(redis, { place, id: mark.id, arn: mark.arn, endpointHash }, last[0] ?? null)
}

function parsed(mark: Mark): { place: SubscriptionPlace; endpointHash: Buffer } {
  const place = placeOfSubscription(mark.id)
  if (!place) throw new Error(`a mark of ${mark.arn} names ${mark.id}, which is no subscription id`)
  return { place, endpointHash: Buffer.from(mark.endpointHash, 'hex') }
}
