/**
 * A subscription as it was read: its place, its text, and its record. A change is refused if the text has changed
 * since.
 */
import type { SubscriptionRecord } from '@fantail/contracts'
import { subscriptionsKey } from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'
import { placeOfSubscription, type SubscriptionPlace } from '../records/subscriptions-id.ts'
import { endpointHash, subscriptionFields, unpackSubscription } from './subscriptions-record.ts'
import type { HomeEntry } from './subscriptions-scripts.ts'

/** Computes the changed members from the present record. It is called again if another writer came first. */
export type SubscriptionChange = (current: SubscriptionRecord) => Partial<SubscriptionRecord>

export interface Stored {
  place: SubscriptionPlace
  text: string
  record: SubscriptionRecord
}

export function unpackStored(id: string, topicArn: string, text: string): Stored {
  const place = placeOfSubscription(id)
  if (!place) throw new TypeError(`${id} is not a subscription id`)
  const key = subscriptionsKey(shardBase(place.shard), place.sliceId)
  return { place, text, record: unpackSubscription(text, { id, topicArn, key }) }
}

export function changedBy(current: SubscriptionRecord, change: SubscriptionChange): SubscriptionRecord {
  const { id, arn, topicArn, protocol, endpoint, bit, departures, createdAt } = current
  const place = { bit, ...(departures !== undefined && { departures }), createdAt }
  return { ...current, ...change(current), id, arn, topicArn, protocol, endpoint, ...place }
}

export function movedBy(current: SubscriptionRecord, change: SubscriptionChange): SubscriptionRecord {
  const { endpoint = current.endpoint, ...others } = change(current)
  return { ...changedBy(current, () => others), endpoint }
}

export function homeEntry({ place, record }: Stored): HomeEntry {
  return {
    place,
    id: record.id,
    arn: record.topicArn,
    endpointHash: endpointHash(record.protocol, record.endpoint),
    tokenHash: subscriptionFields(record).tokenHash,
  }
}
