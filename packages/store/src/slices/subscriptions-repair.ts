/** Finishes creations and deletions of subscriptions that a crash interrupted between two shards (topics-repair.ts). */
import type { Redis } from 'ioredis'
import { subscriptionsKey } from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'
import { placeOfSubscription, type SubscriptionPlace } from '../records/subscriptions-id.ts'
import { ifReadable } from '../redis/unreadable.ts'
import { subscriptionFields, unpackSubscription } from './subscriptions-record.ts'
import { finishCreate, finishDelete, removeSubscription, settleCreate } from './subscriptions-scripts.ts'
import { unpackStored } from './subscriptions-stored.ts'

interface Note {
  arn: string
  /** Hex. */
  endpointHash: string
  id: string
}

export async function resumeCreate(redis: Redis, note: Note): Promise<void> {
  const { place, endpointHash } = parsed(note)
  const text = await settleCreate(redis, place, note.id)
  const key = subscriptionsKey(shardBase(place.shard), place.sliceId)
  const record = text ? unpackSubscription(text, { id: note.id, topicArn: note.arn, key }) : null
  const tokenHash = record ? subscriptionFields(record).tokenHash : ''
  const entry = { place, id: note.id, arn: note.arn, endpointHash, tokenHash }
  await finishCreate(redis, entry, record !== null)
}

export async function resumeDelete(redis: Redis, note: Note): Promise<void> {
  const { place, endpointHash } = parsed(note)
  const text = await removeSubscription(redis, place, note.id)
  const last = text === null ? [] : ifReadable(() => unpackStored(note.id, note.arn, text).record)
  await finishDelete(redis, { place, id: note.id, arn: note.arn, endpointHash }, last[0] ?? null)
}

function parsed(note: Note): { place: SubscriptionPlace; endpointHash: Buffer } {
  const place = placeOfSubscription(note.id)
  if (!place) throw new Error(`a note of ${note.arn} names ${note.id}, which is not a subscription id`)
  return { place, endpointHash: Buffer.from(note.endpointHash, 'hex') }
}
