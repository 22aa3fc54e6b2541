/**
 * Topics. A topic is a hash in the home shard of its ARN. Its record is replaced by compare-and-set. Every slice keeps
 * a copy with the record's version, so a late writer never restores an older record. topics-repair.ts finishes changes
 * that a crash has interrupted.
 */
import {
  ARN_DEFAULTS,
  type ArnDefaults,
  directOwnerOf,
  FantailError,
  isFifoName,
  nameOfArn,
  type TopicRecord,
  topicArn,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { admitLonger, type CreationGate, type GrowthGuard, NO_QUOTAS, UNGUARDED } from '../capacity/growth.ts'
import { sliceKey, topicKey, topicsKey, watchedTopicsKey } from '../keys/keys.ts'
import { shardBase, shardOf, sliceShard } from '../keys/shards.ts'
import { sumRecord } from '../records/checksums.ts'
import { openJson } from '../records/stored-json.ts'
import { createTopicUid } from '../records/subscriptions-id.ts'
import { TOPIC, type TopicSettings } from '../records/topic-fields.ts'
import { batch } from '../redis/batch.ts'
import { decodeCursor, encodeCursor, listNames, type Page, readableReplies, replies } from '../redis/pages.ts'
import { ifReadable } from '../redis/unreadable.ts'
import {
  keptField,
  newRevision,
  parseSlices,
  parseTopic,
  pauseBeforeTry,
  topicFields,
  watchedField,
} from '../slices/topics-record.ts'
import { finishPropagation, finishUnfinished, propagateTopic, purgeSlices } from './topics-repair.ts'
import { deleteTopic, type PutTopicResult, putTopic } from './topics-scripts.ts'

/** Tries to change a topic that others change at the same time. Past it: `conflict`. */
const TOPIC_TRIES_MAX = 100

export interface SubscriptionCounts {
  active: number
  pending: number
  paused: number
}

interface TopicsOptions {
  /** The account and region of the name prefix of a list. */
  defaults?: ArnDefaults
  /** Asked before a topic is created, or its record becomes longer. */
  growth?: GrowthGuard
  /** Asked before a topic is created. */
  quotas?: CreationGate
}

interface ListTopics {
  /** Prefix of the name, in the default account and region. Without it, topics of every account and region. */
  prefix?: string
  /** Prefix of the ARN. It selects an account's topics in a region. */
  arnPrefix?: string
  cursor?: string
  limit: number
}

interface ReadTopic {
  topic: TopicRecord
  text: string
}

export interface CountedTopic {
  topic: TopicRecord
  /** Counts without unsubscribed subscriptions. */
  subscriptions: SubscriptionCounts
  /** Revision of the topic's catalogue of event types; '': it has none. */
  eventTypes: string
  /** Number of subscriptions deleted so far, and of unsubscribed ones. */
  deleted: number
}

/** Computes the changed settings from the present topic. It is called again if another writer came first. */
type TopicChange = (current: TopicRecord) => Partial<TopicSettings>

export class Topics {
  readonly #redis: Redis
  readonly #defaults: ArnDefaults
  readonly #growth: GrowthGuard
  readonly #quotas: CreationGate

  constructor(redis: Redis, options: TopicsOptions = {}) {
    this.#redis = redis
    this.#defaults = options.defaults ?? ARN_DEFAULTS
    this.#growth = options.growth ?? UNGUARDED
    this.#quotas = options.quotas ?? NO_QUOTAS
  }

  /**
   * Creates the topic, or sets the given members of an existing one. Throws `storage_full` if the record would grow and
   * may not, and `quota_exceeded`.
   */
  put(arn: string, set: Partial<TopicSettings>): Promise<{ topic: TopicRecord; created: boolean }> {
    return this.#write(arn, async (current) => {
      const topic = await (current ? this.#replace(current, set) : this.#create(arn, set))
      return topic && { topic, created: current === null }
    })
  }

  /** Creates the topic. An existing one stays unchanged. Throws `quota_exceeded`. */
  create(arn: string, set: Partial<TopicSettings>): Promise<{ topic: TopicRecord; created: boolean }> {
    return this.#write(arn, async (current) => {
      if (current) return { topic: current.topic, created: false }
      const topic = await this.#create(arn, set)
      return topic && { topic, created: true }
    })
  }

  /** Sets the given members. Throws `not_found`. */
  patch(arn: string, set: Partial<TopicSettings>): Promise<TopicRecord> {
    return this.update(arn, () => set)
  }

  /** Sets the members that `change` returns. Throws `not_found`. */
  update(arn: string, change: TopicChange): Promise<TopicRecord> {
    return this.#write(arn, async (current) => {
      if (!current) throw new FantailError('not_found', `no topic ${arn}`)
      return this.#replace(current, change(current.topic))
    })
  }

  async get(arn: string): Promise<TopicRecord | null> {
    return (await this.#read(arn))?.topic ?? null
  }

  async getWithCounts(arn: string): Promise<CountedTopic | null> {
    const [text, slices, deleted, types] = await this.#redis.hmget(
      topicKey(arn),
      'record',
      'slices',
      'deleted',
      'types',
    )
    if (!text) return null
    const topic = parseTopic(text, topicKey(arn))
    const places = parseSlices(slices, topicKey(arn))
    const pipeline = batch(this.#redis)
    for (const number of places.keys()) {
      const key = sliceKey(shardBase(sliceShard(arn, number)), `${topic.uid}.${number}`)
      pipeline.hmget(key, 'n:active', 'n:pending', 'n:paused')
    }
    const subscriptions = { active: 0, pending: 0, paused: 0 }
    for (const reply of (await replies(pipeline)) as (string | null)[][]) {
      // A number that is corrupt is counted again by the next change of a subscription.
      subscriptions.active += Number(reply[0]) || 0
      subscriptions.pending += Number(reply[1]) || 0
      subscriptions.paused += Number(reply[2]) || 0
    }
    const { active, pending, paused } = subscriptions
    const taken = places.reduce((sum, count) => sum + count, 0)
    const unsubscribed = Math.max(0, taken - active - pending - paused)
    return { topic, subscriptions, eventTypes: types ?? '', deleted: Number(deleted ?? 0) + unsubscribed }
  }

  async exists(arns: string[]): Promise<boolean[]> {
    const pipeline = batch(this.#redis)
    for (const arn of arns) pipeline.exists(topicKey(arn))
    return (await replies(pipeline)).map((count) => count === 1)
  }

  /** Sorted by ARN, without topics whose record cannot be read. */
  async list(request: ListTopics): Promise<Page<TopicRecord>> {
    const { prefix = '', cursor, limit } = request
    const after = cursor ? (decodeCursor(cursor, 1)[0] ?? '') : ''
    const arnPrefix = request.arnPrefix ?? (prefix === '' ? '' : topicArn(prefix, this.#defaults))
    const names = { key: topicsKey, prefix: arnPrefix, after, limit: limit + 1 }
    const arns = await listNames(this.#redis, names)
    const page = arns.slice(0, limit)
    const items = await this.#readable(page)
    return { items, nextCursor: arns.length > limit ? encodeCursor([page.at(-1) ?? '']) : null }
  }

  /** The topics with `notices` or `disableAfterDays`, the first ones by ARN. */
  async watched(limit: number): Promise<TopicRecord[]> {
    const names = { key: watchedTopicsKey, prefix: '', after: '', limit }
    return this.#readable(await listNames(this.#redis, names))
  }

  /** A topic that was deleted since its name was read is left out. */
  async #readable(arns: string[]): Promise<TopicRecord[]> {
    if (arns.length === 0) return []
    const pipeline = batch(this.#redis)
    for (const arn of arns) pipeline.hget(topicKey(arn), 'record')
    const keyOf = (i: number) => topicKey(arns[i] ?? '')
    const texts = (await readableReplies(pipeline, { keyOf })) as (string | null | undefined)[]
    return arns.flatMap((arn, i) => {
      const text = texts[i]
      return text ? ifReadable(() => parseTopic(text, topicKey(arn))) : []
    })
  }

  /** Deletes the topic and its subscriptions, if it exists. After a crash in between, a sweep finishes the deletion. */
  async delete(arn: string): Promise<void> {
    const deleted = await deleteTopic(this.#redis, arn)
    if (deleted && deleted.slices > 1) await purgeSlices(this.#redis, { arn, ...deleted })
  }

  /** Finishes changes that crashes have interrupted, deletions too. Returns how many. */
  async resumeDeletions(options: { ageMs?: number } = {}): Promise<number> {
    return finishUnfinished(this.#redis, options.ageMs)
  }

  /** Calls `step` with the topic as read, again and again while it returns null. Returns its result. */
  async #write<T>(arn: string, step: (current: ReadTopic | null) => Promise<T | null>): Promise<T> {
    for (let tries = 0; tries < TOPIC_TRIES_MAX; tries++) {
      await pauseBeforeTry(tries)
      const written = await step(await this.#read(arn))
      if (written !== null) return written
    }
    throw new FantailError('conflict', `topic ${arn} is being changed by others`)
  }

  async #read(arn: string): Promise<ReadTopic | null> {
    const text = await this.#redis.hget(topicKey(arn), 'record')
    return text ? { topic: parseTopic(text, topicKey(arn)), text } : null
  }

  /** null: a concurrent change came first. */
  async #create(arn: string, set: Partial<TopicSettings>): Promise<TopicRecord | null> {
    const uid = createTopicUid(shardOf(arn))
    const name = nameOfArn(arn)
    const fifo = isFifoName(name) && { fifo: true as const }
    const topic = { arn, name, uid, ...fifo, ...TOPIC.initialSettings, ...TOPIC.givenSettings(set) }
    const put = { arn, expected: null, record: openJson(topic) }
    const result = await this.#quotas.within(arn, 'topics', (validUntil) =>
      this.#put({ ...put, validUntil }, topic),
    )
    return result.outcome === 'created' ? parseTopic(result.record, topicKey(arn)) : null
  }

  /** null: a concurrent change came first. An unchanged record is not written. */
  async #replace(current: ReadTopic, set: Partial<TopicSettings>): Promise<TopicRecord | null> {
    const topic = { ...current.topic, ...TOPIC.givenSettings(set) }
    const record = sumRecord(topic)
    if (record === current.text) {
      await finishPropagation(this.#redis, topic.arn)
      return topic
    }
    const put = { arn: topic.arn, expected: current.text, record, validUntil: null }
    const result = await this.#put(put, topic)
    if (result.outcome !== 'set') return null
    if (result.slices > 1) await propagateTopic(this.#redis, topic.arn)
    return topic
  }

  async #put(
    put: { arn: string; expected: string | null; record: string; validUntil: number | null },
    topic: TopicSettings & { uid: string },
  ): Promise<PutTopicResult> {
    await admitLonger(this.#growth, put.expected, put.record)
    const revision = newRevision()
    const expected = put.expected ?? ''
    const hidden = directOwnerOf(put.arn) === undefined ? '' : '1'
    return putTopic(this.#redis, {
      ...put,
      hidden,
      expected,
      uid: topic.uid,
      ...topicFields(topic),
      kept: keptField(topic),
      watched: watchedField(topic),
      revision,
    })
  }
}
