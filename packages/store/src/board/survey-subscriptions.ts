/**
 * Reads the parts of subscriptions that a survey of lanes shows. They are cached until the revision of their slice
 * changes. Every change of a subscription changes this revision.
 */
import type { SubscriptionRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { sliceKey, subscriptionsKey } from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'
import { UnreadableRecordError } from '../records/stored-json.ts'
import { placeOfSubscription } from '../records/subscriptions-id.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'
import { unpackSubscription } from '../slices/subscriptions-record.ts'

export type SurveyedSubscription = Pick<
  SubscriptionRecord,
  | 'id'
  | 'topicArn'
  | 'endpoint'
  | 'protocol'
  | 'name'
  | 'status'
  | 'pausedBecause'
  | 'createdAt'
  | 'circuitBreaker'
>

interface KnownSlice {
  revision: string
  topicArn: string
  /** null: there is no such subscription, or callers do not see it. */
  subscriptions: Map<string, SurveyedSubscription | null>
}

interface AskedSlice {
  sliceId: string
  base: string
  ids: string[]
}

/** Subscriptions whose records are read together. */
const RECORDS_AT_ONCE = 200

export class SurveySubscriptions {
  readonly #redis: Redis
  #slices = new Map<string, KnownSlice>()

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** The subscriptions among these ids that exist. Slices that are not asked for are forgotten. */
  async read(ids: string[]): Promise<Map<string, SurveyedSubscription>> {
    const asked = slicesOf(ids)
    this.#slices = await this.#known(asked)
    for (const slice of asked) await this.#readMissing(slice)
    const found = ids.flatMap((id) => {
      const record = this.#slices.get(placeOfSubscription(id)?.sliceId ?? '')?.subscriptions.get(id)
      return record ? [[id, record] as const] : []
    })
    return new Map(found)
  }

  async #known(asked: AskedSlice[]): Promise<Map<string, KnownSlice>> {
    if (asked.length === 0) return new Map()
    const pipeline = batch(this.#redis)
    for (const { base, sliceId } of asked) pipeline.hmget(sliceKey(base, sliceId), 'rev', 'arn')
    const found = (await replies(pipeline)) as [string | null, string | null][]
    const known = asked.flatMap(({ sliceId }, i): [string, KnownSlice][] => {
      const [revision, topicArn] = found[i] ?? []
      if (!revision || !topicArn) return []
      const before = this.#slices.get(sliceId)
      const isSame = before?.revision === revision
      return [[sliceId, isSame ? before : { revision, topicArn, subscriptions: new Map() }]]
    })
    return new Map(known)
  }

  async #readMissing({ sliceId, base, ids }: AskedSlice): Promise<void> {
    const slice = this.#slices.get(sliceId)
    if (!slice) return
    const missing = ids.filter((id) => !slice.subscriptions.has(id))
    const key = subscriptionsKey(base, sliceId)
    for (let at = 0; at < missing.length; at += RECORDS_AT_ONCE) {
      const part = missing.slice(at, at + RECORDS_AT_ONCE)
      const texts = await this.#redis.hmget(key, ...part)
      for (const [i, id] of part.entries()) {
        slice.subscriptions.set(id, readSurveyed(texts[i] ?? null, { id, topicArn: slice.topicArn, key }))
      }
    }
  }
}

function slicesOf(ids: string[]): AskedSlice[] {
  const bySlice = Map.groupBy(ids, (id) => placeOfSubscription(id)?.sliceId ?? '')
  return [...bySlice].flatMap(([sliceId, list]) => {
    const place = placeOfSubscription(list[0] ?? '')
    return place ? [{ sliceId, base: shardBase(place.shard), ids: list }] : []
  })
}

/**
 * null: there is no such subscription, or its record cannot be read. The subscription's own page reports the latter.
 */
function readSurveyed(
  text: string | null,
  at: { id: string; topicArn: string; key: string },
): SurveyedSubscription | null {
  if (text === null) return null
  try {
    const record = unpackSubscription(text, at)
    const { id, topicArn, endpoint, protocol, name, status, pausedBecause, createdAt, circuitBreaker } =
      record
    if (record.unsubscribed) return null
    return {
      ...{ id, topicArn, endpoint, protocol, status, createdAt },
      ...(name && { name }),
      ...(pausedBecause && { pausedBecause }),
      ...(circuitBreaker && { circuitBreaker }),
    }
  } catch (error) {
    if (error instanceof UnreadableRecordError) return null
    throw error
  }
}
