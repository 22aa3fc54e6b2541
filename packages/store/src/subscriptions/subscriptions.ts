/**
 * Subscriptions. All data of a subscription (record, bit, lane) is in one slice, which its id names
 * (subscriptions-id.ts). The topic's home shard knows the used endpoints and tokens, and the free places of each slice.
 *
 * If slice and topic share a shard, as for a topic's first 500 subscriptions, a change is one script. Otherwise scripts
 * run in the home shard, the slice's shard, and the home shard, so the topic's revision changes before and after the
 * slice. The first step leaves a note. After a crash in between, a sweep finds the note and repairs the change
 * (topics-repair.ts).
 */
import {
  FantailError,
  FIFO_SUBSCRIPTIONS_MAX,
  formatMessageId,
  isFifoName,
  PROTOCOLS,
  SLICE_SUBSCRIPTIONS_MAX,
  type SubscriptionRecord,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { type CreationGate, type GrowthGuard, NO_QUOTAS, UNGUARDED } from '../capacity/growth.ts'
import { departedKey, endpointsKey, sliceKey, subscriptionsKey, tokensKey, topicKey } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { UnreadableRecordError } from '../records/stored-json.ts'
import { placeOfSubscription, SLICES_MAX } from '../records/subscriptions-id.ts'
import { batch } from '../redis/batch.ts'
import { type Page, replies } from '../redis/pages.ts'
import { ifReadable } from '../redis/unreadable.ts'
import { readFormer, type SearchedSubscription } from '../slices/former-subscriptions.ts'
import { moveStored } from '../slices/subscriptions-move.ts'
import {
  endpointHash,
  openSubscription,
  packSubscription,
  settingsBytes,
  sha1,
  subscriptionFields,
} from '../slices/subscriptions-record.ts'
import {
  type CreateLimits,
  createSubscription,
  deleteSubscription,
  finishDelete,
  type Placement,
  removeSubscription,
} from '../slices/subscriptions-scripts.ts'
import {
  changedBy,
  homeEntry,
  movedBy,
  type Stored,
  type SubscriptionChange,
  unpackStored,
} from '../slices/subscriptions-stored.ts'
import { pauseBeforeTry } from '../slices/topics-record.ts'
import { deleteUnreadable } from '../slices/unreadable-subscriptions.ts'
import { topicUidOf } from './confirmation-token.ts'
import { placeElsewhere, replaceStored } from './subscriptions-elsewhere.ts'
import { expirePending } from './subscriptions-expiry.ts'
import { type ListSubscriptions, listSubscriptions } from './subscriptions-listing.ts'

export type { ListSubscriptions, SubscriptionChange }

/** Tries to change a subscription that others change at the same time. Past it: `conflict`. */
const SUBSCRIPTION_TRIES_MAX = 100

/** A subscription without the fields that the store sets itself. */
export type NewSubscription = Omit<
  SubscriptionRecord,
  'id' | 'arn' | 'bit' | 'departures' | 'createdAt' | 'status' | 'unsubscribed' | 'token' | 'tokenExpiresAt'
> & {
  token?: string
  tokenExpiresAt?: number
  /** It is created paused. Not together with a handshake. */
  status?: 'paused'
}

/** A topic has at most one subscription with these. */
type Placed = Pick<SubscriptionRecord, 'topicArn' | 'protocol' | 'endpoint'>

interface SubscriptionsOptions {
  /** Subscriptions per slice; smaller in tests. */
  sliceSubscriptionsMax?: number
  /** Called with a record that cannot be read. Lists and sweeps then leave it out. If absent, they throw. */
  onUnreadable?: (error: Error) => void
  /** Asked before a subscription is created, or its record becomes longer. */
  growth?: GrowthGuard
  /** Asked before a subscription is created. */
  quotas?: CreationGate
}

/** The topic has as many subscriptions as allowed. */
export class TopicFullError extends FantailError {
  constructor(topicArn: string) {
    super('conflict', `topic ${topicArn} takes no more subscriptions`)
    this.name = 'TopicFullError'
  }
}

export class Subscriptions {
  readonly #redis: Redis
  readonly #sliceSubscriptionsMax: number
  readonly #onUnreadable: ((error: Error) => void) | undefined
  readonly #growth: GrowthGuard
  readonly #quotas: CreationGate

  constructor(redis: Redis, options: SubscriptionsOptions = {}) {
    this.#redis = redis
    this.#sliceSubscriptionsMax = options.sliceSubscriptionsMax ?? SLICE_SUBSCRIPTIONS_MAX
    this.#onUnreadable = options.onUnreadable
    this.#growth = options.growth ?? UNGUARDED
    this.#quotas = options.quotas ?? NO_QUOTAS
  }

  /**
   * Creates a subscription, or returns the existing one with the same topic, protocol and endpoint (`created` false).
   * Throws `not_found` without the topic, and `storage_full` or `quota_exceeded` if a new one would not fit. A
   * subscription that was unsubscribed by its link is replaced.
   */
  async create(input: NewSubscription): Promise<{ subscription: SubscriptionRecord; created: boolean }> {
    try {
      await this.#growth.admit()
      return await this.#create(input)
    } catch (error) {
      // The existing subscription needs no room.
      const existing = isRefused(error) ? await this.#find(input) : null
      if (existing && !existing.unsubscribed) return { subscription: existing, created: false }
      throw error
    }
  }

  async #create(input: NewSubscription): Promise<{ subscription: SubscriptionRecord; created: boolean }> {
    const placement = placementOf(input)
    const limits = this.#limitsOf(input.topicArn)
    for (let tries = 0; tries < SUBSCRIPTION_TRIES_MAX; tries++) {
      await pauseBeforeTry(tries)
      const result = await this.#quotas.within(input.topicArn, 'subscriptions', (validUntil) =>
        createSubscription(this.#redis, placement, { ...limits, validUntil }),
      )
      switch (result.outcome) {
        case 'missing':
          throw new FantailError('not_found', `no topic ${input.topicArn}`)
        case 'full':
          throw new TopicFullError(input.topicArn)
        case 'created':
          return {
            subscription: unpackStored(result.id, input.topicArn, result.record).record,
            created: true,
          }
        case 'reserved':
        case 'taken': {
          const found = result.outcome === 'taken' ? await this.get(result.id) : null
          if (found && !found.unsubscribed) return { subscription: found, created: false }
          if (found) await this.delete(found.id)
          else {
            const settled = await placeElsewhere(this.#redis, placement, result)
            if (settled) return settled
          }
        }
      }
    }
    throw new FantailError('conflict', `the endpoint's subscription is being changed by others`)
  }

  /** Also returns an unsubscribed subscription. The caller must check its flag. */
  async get(id: string): Promise<SubscriptionRecord | null> {
    return (await this.#read(id))?.record ?? null
  }

  /** null also if its record cannot be read. */
  async getReadable(id: string): Promise<SubscriptionRecord | null> {
    return this.get(id).catch((error: unknown) => {
      if (error instanceof UnreadableRecordError) return null
      throw error
    })
  }

  /** The place of the subscription, also of an unsubscribed one. */
  async locate(id: string): Promise<{ sliceId: string; shard: number; topicArn: string } | null> {
    const place = placeOfSubscription(id)
    if (!place) return null
    const base = shardBase(place.shard)
    const pipeline = batch(this.#redis)
      .hexists(subscriptionsKey(base, place.sliceId), id)
      .hget(sliceKey(base, place.sliceId), 'arn')
    const [exists, topicArn] = await replies(pipeline)
    if (exists !== 1 || typeof topicArn !== 'string') return null
    return { sliceId: place.sliceId, shard: place.shard, topicArn }
  }

  /** The topic of the subscription with this id, also if either was deleted. null: it is not known (any more). */
  async topicOf(id: string): Promise<string | null> {
    const place = placeOfSubscription(id)
    if (!place) return null
    const base = shardBase(place.shard)
    const pipeline = batch(this.#redis)
      .hget(sliceKey(base, place.sliceId), 'arn')
      .hget(departedKey(base, place.sliceId), 'arn')
    const [present, former] = (await replies(pipeline)) as (string | null)[]
    return present ?? former ?? null
  }

  /** The bit of the subscription, also of a deleted one. null: it is not known (any more). */
  async bitOf(id: string): Promise<(SearchedSubscription & { topicArn: string }) | null> {
    const place = placeOfSubscription(id)
    const topicArn = place && (await this.topicOf(id))
    if (!place || !topicArn) return null
    const { sliceId } = place
    const record = await this.get(id)
    if (record) return { id, sliceId, topicArn, bit: record.bit, departures: record.departures }
    const former = await readFormer(this.#redis, place, this.#onUnreadable ?? (() => undefined))
    const left = former.find((one) => one.id === id)
    return left ? { ...left, sliceId, topicArn } : null
  }

  /** Subscriptions by topic, slice and id, without unsubscribed ones. A page of a filtered list may be short. */
  async list(request: ListSubscriptions): Promise<Page<SubscriptionRecord>> {
    const { topicArn, endpoint, status } = request
    if (topicArn === undefined || endpoint === undefined) {
      return listSubscriptions(this.#redis, request, this.#onUnreadable)
    }
    const found = await Promise.all(PROTOCOLS.map((protocol) => this.#find({ topicArn, protocol, endpoint })))
    const items = found.filter((record) => record !== null)
    const shown = items.filter((item) => !item.unsubscribed && (status ?? item.status) === item.status)
    return { items: shown, nextCursor: null }
  }

  /**
   * Changes the members that `change` returns. Identity, endpoint, bit and time of creation stay. Throws `not_found`,
   * and `conflict` if other writers always came first.
   */
  async update(id: string, change: SubscriptionChange): Promise<SubscriptionRecord> {
    let stored = await this.#read(id)
    for (let tries = 0; tries < SUBSCRIPTION_TRIES_MAX; tries++) {
      await pauseBeforeTry(tries)
      if (!stored) throw new FantailError('not_found', 'no such subscription')
      const record = changedBy(stored.record, change)
      const text = packSubscription(record)
      if (text === stored.text) return record
      const grows = settingsBytes(record) > settingsBytes(stored.record)
      if (grows) await this.#growth.admit()
      const result = await replaceStored(this.#redis, stored, { record, text, grows })
      if (result.outcome === 'set') return record
      stored = result.outcome === 'missing' ? null : unpackStored(id, record.topicArn, result.record)
    }
    throw new FantailError('conflict', 'the subscription is being changed by others')
  }

  /**
   * Like `update`, and the endpoint may also change. Waiting deliveries stay. Rejects with `subscription_exists` if
   * another subscription of the topic has the endpoint. If that one was unsubscribed by its link, it loses the endpoint
   * instead.
   */
  async move(id: string, change: SubscriptionChange): Promise<SubscriptionRecord> {
    await this.#growth.admit()
    let stored = await this.#read(id)
    for (let tries = 0; tries < SUBSCRIPTION_TRIES_MAX; tries++) {
      await pauseBeforeTry(tries)
      if (!stored) throw new FantailError('not_found', 'no such subscription')
      const record = movedBy(stored.record, change)
      const text = packSubscription(record)
      if (text === stored.text) return record
      const result = await moveStored(this.#redis, { stored, record, text })
      if (result.outcome === 'set') return record
      if (result.outcome === 'taken') await this.#freeEndpoint(result.id)
      else if (result.outcome === 'changed') stored = unpackStored(id, record.topicArn, result.record)
      else stored = await this.#read(id)
    }
    throw new FantailError('conflict', 'the subscription is being changed by others')
  }

  async #freeEndpoint(holderId: string): Promise<void> {
    const holder = await this.get(holderId)
    if (holder?.unsubscribed) await this.delete(holderId)
    else if (holder)
      throw new FantailError('subscription_exists', `subscription ${holderId} has this endpoint`)
  }

  /** False if there is no such subscription. `take` discards and counts the waiting deliveries of its lane. */
  async delete(id: string): Promise<boolean> {
    try {
      return await this.#delete(id)
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error
      const topicArn = (await this.locate(id))?.topicArn
      return topicArn !== undefined && deleteUnreadable(this.#redis, { id, topicArn })
    }
  }

  async #delete(id: string): Promise<boolean> {
    let stored = await this.#read(id)
    for (let tries = 0; tries < SUBSCRIPTION_TRIES_MAX; tries++) {
      await pauseBeforeTry(tries)
      if (!stored) return false
      const outcome = await deleteSubscription(this.#redis, homeEntry(stored), stored.record.endpoint)
      if (outcome === 'deleted') return true
      if (outcome === 'begun') return this.#finishDelete(stored)
      const found = await this.#read(id)
      if (outcome === 'absent' && found?.record.endpoint === stored.record.endpoint) return false
      stored = found
    }
    throw new FantailError('conflict', 'the subscription is being changed by others')
  }

  /** Its endpoint and token may have changed since it was read. */
  async #finishDelete(stored: Stored): Promise<boolean> {
    const { place, record } = stored
    const text = await removeSubscription(this.#redis, place, record.id)
    const last = text === null ? [] : ifReadable(() => unpackStored(record.id, record.topicArn, text).record)
    await finishDelete(this.#redis, homeEntry(stored), last[0] ?? null)
    return text !== null
  }

  /**
   * The subscription with this token. The token names its topic. The subscription may be confirmed, expired or
   * unsubscribed.
   */
  async findByToken(token: string): Promise<SubscriptionRecord | null> {
    const place = topicUidOf(token)
    if (!place) return null
    const key = tokensKey(shardBase(place.homeShard), place.topicUid)
    const bytes = await this.#redis.hgetBuffer(key, sha1(token))
    const found = bytes && (await this.get(formatMessageId(bytes)))
    return found?.token === token ? found : null
  }

  /** Deletes pending and unsubscribed subscriptions whose token has expired. Returns how many. */
  expirePending(): Promise<number> {
    return expirePending({ redis: this.#redis, subscriptions: this, onUnreadable: this.#onUnreadable })
  }

  /** All subscriptions of a FIFO topic are in one slice, so that one script can hand a message to all of them. */
  #limitsOf(topicArn: string): Omit<CreateLimits, 'validUntil'> {
    if (isFifoName(topicArn)) return { perSlice: FIFO_SUBSCRIPTIONS_MAX, slices: 1 }
    return { perSlice: this.#sliceSubscriptionsMax, slices: SLICES_MAX }
  }

  async #read(id: string): Promise<Stored | null> {
    const place = placeOfSubscription(id)
    if (!place) return null
    const base = shardBase(place.shard)
    const pipeline = batch(this.#redis)
      .hget(subscriptionsKey(base, place.sliceId), id)
      .hget(sliceKey(base, place.sliceId), 'arn')
    const [text, topicArn] = await replies(pipeline)
    return typeof text === 'string' && typeof topicArn === 'string' ? unpackStored(id, topicArn, text) : null
  }

  async #find({ topicArn, protocol, endpoint }: Placed): Promise<SubscriptionRecord | null> {
    const uid = await this.#redis.hget(topicKey(topicArn), 'uid')
    if (!uid) return null
    const key = endpointsKey(shardBase(shardOf(topicArn)), uid)
    const bytes = await this.#redis.hgetBuffer(key, endpointHash(protocol, endpoint))
    return bytes ? this.get(formatMessageId(bytes)) : null
  }
}

const isRefused = (error: unknown) =>
  error instanceof FantailError && (error.code === 'storage_full' || error.code === 'quota_exceeded')

function placementOf(input: NewSubscription): Placement {
  const { topicArn, token, tokenExpiresAt, ...settings } = input
  const record = {
    ...settings,
    status: input.status ?? (input.confirmation === 'handshake' ? ('pending' as const) : ('active' as const)),
    token: token ?? null,
    tokenExpiresAt: tokenExpiresAt ?? null,
    unsubscribed: false,
  }
  return {
    topicArn,
    endpointHash: endpointHash(input.protocol, input.endpoint),
    open: openSubscription(record),
    fields: subscriptionFields(record),
  }
}
