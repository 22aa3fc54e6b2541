/**
 * Subscriptions. Each lives whole in one slice (record, slot, lane), and its id says in which (subscriptions-id.ts);
 * the topic's home shard keeps which endpoints and tokens are taken and how many places each slice has left.
 *
 * Where slice and topic share a shard, which they do for a topic's first 500 subscriptions, a change is one script.
 * Else it is home, slice, home, so that a topic's revision changes before and after the slice does; the first step
 * leaves a mark by which a sweep makes good what a crash leaves in between (topics-repair.ts).
 */
import {
  type CircuitBreaker,
  type DeliveryPolicy,
  FantailError,
  FIFO_SUBSCRIPTIONS_MAX,
  type FilterPolicy,
  type FilterPolicyScope,
  formatMessageId,
  isFifoName,
  type OutboundSettings,
  type Protocol,
  type RedrivePolicy,
  type RetryMode,
  SLICE_SUBSCRIPTIONS_MAX,
  type SubscriptionRecord,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { batch } from './batch.ts'
import { topicUidOf } from './confirmation-token.ts'
import { endpointsKey, expiriesKey, sliceKey, subscriptionsKey, tokensKey, topicKey } from './keys.ts'
import { type Page, replies } from './pages.ts'
import { shardBase, shardOf } from './shards.ts'
import { placeOfSubscription, SLICES_MAX, type SubscriptionPlace } from './subscriptions-id.ts'
import { type ListSubscriptions, listSubscriptions } from './subscriptions-listing.ts'
import {
  endpointHash,
  idBytes,
  packSubscription,
  sha1,
  subscriptionFields,
  unpackSubscription,
} from './subscriptions-record.ts'
import {
  createSubscription,
  deleteSubscription,
  finishCreate,
  finishDelete,
  type HomeEntry,
  type Placement,
  placeSubscription,
  type Reservation,
  type Room,
  removeSubscription,
  updateSubscription,
} from './subscriptions-scripts.ts'
import { CorruptRecordError, newRevision, pauseBeforeTry } from './topics-record.ts'
import { shardsWith } from './topics-repair.ts'
import { listElapsed, touchTopic } from './topics-scripts.ts'

export type { ListSubscriptions }

const TRIES_MAX = 100
/** How long a place taken may be filled; refusals of late comers are remembered for twice as long. */
const PLACE_VALID_MS = 30_000
/** Expired ones deleted per shard and sweep. */
  retryMode?: RetryMode
  circuitBreaker?: CircuitBreaker | null
const EXPIRED_MAX = 200
/** One that cannot be read is looked at again after this long, and does not hold up the others. */
const CORRUPT_AGAIN_MS = 3_600_000
const PROTOCOLS: Protocol[] = ['http', 'https', 'sqs']

export interface NewSubscription {
  topicArn: string
  protocol: Protocol
  endpoint: string
  outbound?: OutboundSettings | null
  sealed?: string | null
  rawMessageDelivery: boolean
  deliveryPolicy: DeliveryPolicy | null
  redrivePolicy: RedrivePolicy | null
  filterPolicy?: FilterPolicy | null
  filterPolicyScope?: FilterPolicyScope
  maxInFlight: number
  confirmation: 'none' | 'handshake'
  token?: string
  tokenExpiresAt?: number
  confirmationWasAuthenticated?: true
  authenticateOnUnsubscribe?: true
  attributes: Record<string, string>
}

export interface SubscriptionsOptions {
  /** Subscriptions per slice; smaller in tests. */
  sliceSubscriptionsMax?: number
  /** Told of a record that cannot be read, which lists and sweeps then leave out; without it they throw. */
  onCorrupt?: (error: Error) => void
}

/** Computes the members to change from the record as it stands; called again where another writer came first. */
export type SubscriptionChange = (current: SubscriptionRecord) => Partial<SubscriptionRecord>

/** The topic has as many subscriptions as it takes. */
export class TopicFullError extends FantailError {
  constructor(topicArn: string) {
    super('conflict', `topic ${topicArn} takes no more subscriptions`)
    this.name = 'TopicFullError'
  }
}

interface Stored {
  place: SubscriptionPlace
  text: string
  record: SubscriptionRecord
}

export class Subscriptions {
  readonly #redis: Redis
  readonly #sliceSubscriptionsMax: number
  readonly #onCorrupt: ((error: Error) => void) | undefined

  constructor(redis: Redis, options: SubscriptionsOptions = {}) {
    this.#redis = redis
    this.#sliceSubscriptionsMax = options.sliceSubscriptionsMax ?? SLICE_SUBSCRIPTIONS_MAX
    this.#onCorrupt = options.onCorrupt
  }

  /**
   * The new subscription, or the one that has the same topic, protocol and endpoint (`created` false); `not_found`
   * without the topic. One that was unsubscribed through its link makes room for the new one.
   */
  async create(input: NewSubscription): Promise<{ subscription: SubscriptionRecord; created: boolean }> {
    const placement = placementOf(input)
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      await pauseBeforeTry(tries)
      const result = await createSubscription(this.#redis, placement, this.#roomOf(input.topicArn))
      switch (result.outcome) {
        case 'missing':
          throw new FantailError('not_found', `no topic ${input.topicArn}`)
        case 'full':
          throw new TopicFullError(input.topicArn)
        case 'created':
          return { subscription: unpack(result.id, input.topicArn, result.record).record, created: true }
        case 'reserved':
        case 'taken': {
          const found = result.outcome === 'taken' ? await this.get(result.id) : null
          if (found && !found.unsubscribed) return { subscription: found, created: false }
          if (found) await this.delete(found.id)
          else {
            const settled = await this.#place(placement, result)
            if (settled) return settled
          }
        }
      }
    }
    throw new FantailError('conflict', `the endpoint's subscription is being changed by others`)
  }

  /** Unsubscribed ones too: the caller looks at the flag. */
  async get(id: string): Promise<SubscriptionRecord | null> {
    return (await this.#read(id))?.record ?? null
  }

  /** Where the subscription lives, unsubscribed ones too. */
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

  /** Without those that are unsubscribed, by topic, slice and id. A page of a filtered list may be short. */
  async list(request: ListSubscriptions): Promise<Page<SubscriptionRecord>> {
    const { topicArn, endpoint, status } = request
    if (topicArn === undefined || endpoint === undefined) {
      return listSubscriptions(this.#redis, request, this.#onCorrupt)
    }
    const found = await Promise.all(PROTOCOLS.map((protocol) => this.#find(topicArn, protocol, endpoint)))
    const items = found.filter((record) => record !== null)
    const shown = items.filter((item) => !item.unsubscribed && (status ?? item.status) === item.status)
    return { items: shown, nextCursor: null }
  }

  /**
   * Changes what `change` returns; identity, endpoint, slot and time of creation stay. `not_found`; `conflict` where
   * other writers came first time and again.
   */
  async update(id: string, change: SubscriptionChange): Promise<SubscriptionRecord> {
    let stored = await this.#read(id)
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      await pauseBeforeTry(tries)
      if (!stored) throw new FantailError('not_found', 'no such subscription')
      const record = changed(stored.record, change)
      const text = packSubscription(record)
      if (text === stored.text) return record
      const result = await this.#replace(stored, record, text)
      if (result.outcome === 'set') return record
      stored = result.outcome === 'missing' ? null : unpack(id, record.topicArn, result.record)
    }
    throw new FantailError('conflict', 'the subscription is being changed by others')
  }

  /** False where there is no such subscription. What waits in its lane is discarded and counted by `take`. */
  async delete(id: string): Promise<boolean> {
    const stored = await this.#read(id)
    if (!stored) return false
    const entry = homeEntry(stored)
    const outcome = await deleteSubscription(this.#redis, entry)
    if (outcome !== 'begun') return outcome === 'deleted'
    const token = await removeSubscription(this.#redis, stored.place, id)
    await finishDelete(this.#redis, { ...entry, tokenHash: token ? sha1(token) : '' })
    return token !== null
  }

  /** The subscription with this token, which says by itself where to look; expired, confirmed or unsubscribed as it may be. */
  async findByToken(token: string): Promise<SubscriptionRecord | null> {
    const place = topicUidOf(token)
    if (!place) return null
    const key = tokensKey(shardBase(place.homeShard), place.topicUid)
    const bytes = await this.#redis.hgetBuffer(key, sha1(token))
    const found = bytes && (await this.get(formatMessageId(bytes)))
    return found?.token === token ? found : null
  }

  /** Deletes pending and unsubscribed ones whose token has expired; answers how many. */
  async expirePending(): Promise<number> {
    let expired = 0
    for (const shard of await shardsWith(this.#redis, expiriesKey)) {
      const list = { shard, set: 'expiries' as const, ageMs: 0, limit: EXPIRED_MAX }
      const { now, members } = await listElapsed(this.#redis, list)
      for (const id of members) {
        if (await this.#expire(id, { now, shard })) expired += 1
      }
    }
    return expired
  }

  /**
   * Made invisible without a token first: whoever confirms at this moment either comes before that, and the
   * subscription stays, or finds no token any more.
   */
  async #expire(id: string, { now, shard }: { now: number; shard: number }): Promise<boolean> {
    let due = false
    try {
      await this.update(id, (current) => {
        const awaited = current.status === 'pending' || current.unsubscribed
        due = awaited && current.tokenExpiresAt !== null && current.tokenExpiresAt <= now
        return due ? { unsubscribed: true, token: null } : {}
      })
      return due && (await this.delete(id))
    } catch (error) {
      const key = expiriesKey(shardBase(shard))
      if (error instanceof FantailError && error.code === 'not_found') await this.#redis.zrem(key, id)
      else if (!(error instanceof CorruptRecordError) || !this.#onCorrupt) throw error
      else {
        this.#onCorrupt(error)
        await this.#redis.zadd(key, now + CORRUPT_AGAIN_MS, id)
      }
      return false
    }
  }

  /** A FIFO topic is whole in one slice, so that one script can hand a message to all of its subscriptions. */
  #roomOf(topicArn: string): Room {
    if (isFifoName(topicArn)) return { perSlice: FIFO_SUBSCRIPTIONS_MAX, slices: 1 }
    return { perSlice: this.#sliceSubscriptionsMax, slices: SLICES_MAX }
  }

  /** Stores a subscription in a slice elsewhere; null where the place was given up meanwhile. */
  async #place(
    placement: Placement,
    reservation: Reservation,
  ): Promise<{ subscription: SubscriptionRecord; created: boolean } | null> {
    const { topicArn } = placement
    const place = placeOfSubscription(reservation.id)
    if (!place || place.shard === place.homeShard) return null
    const request = { place, reservation, placement, validMs: PLACE_VALID_MS }
    const result = await placeSubscription(this.#redis, request)
    if (result.outcome === 'late') return null
    const stored = 'record' in result ? unpack(reservation.id, topicArn, result.record) : null
    const tokenHash = stored ? subscriptionFields(stored.record).tokenHash : ''
    const entry = {
      place,
      id: reservation.id,
      arn: topicArn,
      endpointHash: placement.endpointHash,
      tokenHash,
    }
    await finishCreate(this.#redis, entry, stored !== null)
    return stored && { subscription: stored.record, created: result.outcome === 'placed' }
  }

  async #replace(stored: Stored, record: SubscriptionRecord, text: string) {
    const { place } = stored
    const before = subscriptionFields(stored.record)
    const after = subscriptionFields(record)
    const update = { place, id: record.id, topicArn: record.topicArn, expected: stored.text, record: text }
    if (place.shard === place.homeShard) return updateSubscription(this.#redis, { ...update, before, after })
    // The new token's entry comes first and the old one's goes last; where nothing was written, the new one's goes.
    const sameToken = record.token === stored.record.token
    const [oldToken, newToken] = sameToken ? (['', ''] as const) : [before.tokenHash, after.tokenHash]
    const touch = { arn: record.topicArn, uid: place.topicUid, idBytes: idBytes(record.id) }
    const first = { ...touch, revision: newRevision(), removeToken: '' as const, addToken: newToken }
    await touchTopic(this.#redis, first)
    const result = await updateSubscription(this.#redis, { ...update, before, after })
    const removeToken = result.outcome === 'set' ? oldToken : newToken
    await touchTopic(this.#redis, { ...touch, revision: newRevision(), removeToken, addToken: '' })
    return result
  }

  async #read(id: string): Promise<Stored | null> {
    const place = placeOfSubscription(id)
    if (!place) return null
    const base = shardBase(place.shard)
    const pipeline = batch(this.#redis)
      .hget(subscriptionsKey(base, place.sliceId), id)
      .hget(sliceKey(base, place.sliceId), 'arn')
    const [text, topicArn] = await replies(pipeline)
    return typeof text === 'string' && typeof topicArn === 'string' ? unpack(id, topicArn, text) : null
  }

  async #find(topicArn: string, protocol: Protocol, endpoint: string): Promise<SubscriptionRecord | null> {
    const uid = await this.#redis.hget(topicKey(topicArn), 'uid')
    if (!uid) return null
    const key = endpointsKey(shardBase(shardOf(topicArn)), uid)
    const bytes = await this.#redis.hgetBuffer(key, endpointHash(protocol, endpoint))
    return bytes ? this.get(formatMessageId(bytes)) : null
  }
}

function placementOf(input: NewSubscription): Placement {
  const { topicArn, token, tokenExpiresAt, ...settings } = input
  const record = {
    ...settings,
    status: input.confirmation === 'handshake' ? ('pending' as const) : ('active' as const),
    token: token ?? null,
    tokenExpiresAt: tokenExpiresAt ?? null,
    unsubscribed: false,
  }
  return {
    topicArn,
    endpointHash: endpointHash(input.protocol, input.endpoint),
    open: packSubscription(record).slice(0, -1),
    fields: subscriptionFields(record),
  }
}

function unpack(id: string, topicArn: string, text: string): Stored {
  const place = placeOfSubscription(id)
  if (!place) throw new TypeError(`${id} is no subscription id`)
  const key = subscriptionsKey(shardBase(place.shard), place.sliceId)
  return { place, text, record: unpackSubscription(text, { id, topicArn, key }) }
}

function changed(current: SubscriptionRecord, change: SubscriptionChange): SubscriptionRecord {
  const { id, arn, topicArn, protocol, endpoint, slot, createdAt } = current
  return { ...current, ...change(current), id, arn, topicArn, protocol, endpoint, slot, createdAt }
}

function homeEntry({ place, record }: Stored): HomeEntry {
  return {
    place,
    id: record.id,
    arn: record.topicArn,
    endpointHash: endpointHash(record.protocol, record.endpoint),
    tokenHash: subscriptionFields(record).tokenHash,
  }
}
