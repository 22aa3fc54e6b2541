/**
 * Reads for dispatch: revisions of topics and slices, and a slice as of one instant. A revision is a random id. It
 * shows that something has changed, never which of two is newer.
 */
import type { SubscriptionRecord, TopicRecord } from '@fantail/contracts'
import { inOneGo, type Steps } from '@fantail/policy'
import type { Redis } from 'ioredis'
import { sliceKey, subscriptionsKey, topicKey } from '../keys/keys.ts'
import { shardBase, sliceShard } from '../keys/shards.ts'
import { UnreadableRecordError } from '../records/stored-json.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { type FormerSubscription, readFormer } from '../slices/former-subscriptions.ts'
import { unpackSubscription } from '../slices/subscriptions-record.ts'
import { parseSlices, parseTopic } from '../slices/topics-record.ts'

const READ_SLICE = readScript('read-slice-1')

export interface SliceRef {
  sliceId: string
  shard: number
}

/** A slice as it was at some moment. The bits of its subscriptions belong to that moment. */
export interface SliceMoment extends SliceRef {
  /** How many subscriptions the slice had lost. Absent: none. */
  departures?: number
}

interface TopicSlices {
  revision: string
  topic: TopicRecord
  /** The slices that may have subscriptions. */
  slices: SliceRef[]
  /** How many they hold, about. */
  subscriptions: number
}

export interface SliceData extends SliceMoment {
  revision: string
  topic: TopicRecord
  subscriptions: SubscriptionRecord[]
}

/** A slice whose records are not parsed yet. */
export interface PackedSlice extends SliceMoment {
  revision: string
  topic: TopicRecord
  /** The topic's record as it is stored. */
  topicText: Buffer
  /** Id and text of each subscription, alternating. */
  records: readonly Buffer[]
}

interface SnapshotsOptions {
  /** Called with a subscription's record that cannot be read. The others are loaded. */
  onUnreadable?: (error: UnreadableRecordError) => void
}

export class Snapshots {
  readonly #redis: Redis
  readonly #onUnreadable: (error: UnreadableRecordError) => void

  constructor(redis: Redis, options: SnapshotsOptions = {}) {
    this.#redis = redis
    this.#onUnreadable = options.onUnreadable ?? ((error) => process.emitWarning(error))
  }

  /** null: no such topic. */
  async topicRevisions(arns: readonly string[]): Promise<(string | null)[]> {
    if (arns.length === 0) return []
    const pipeline = batch(this.#redis)
    for (const arn of arns) pipeline.hget(topicKey(arn), 'rev')
    return (await replies(pipeline)) as (string | null)[]
  }

  /** null: the slice does not exist (any more). */
  async sliceRevisions(refs: readonly SliceRef[]): Promise<(string | null)[]> {
    if (refs.length === 0) return []
    const pipeline = batch(this.#redis)
    for (const { sliceId, shard } of refs) pipeline.hget(sliceKey(shardBase(shard), sliceId), 'rev')
    return (await replies(pipeline)) as (string | null)[]
  }

  async topicSlices(arn: string): Promise<TopicSlices | null> {
    const [text, revision, counts] = await this.#redis.hmget(topicKey(arn), 'record', 'rev', 'slices')
    if (!text || !revision) return null
    const topic = parseTopic(text, topicKey(arn))
    const perSlice = parseSlices(counts, topicKey(arn))
    const slices = perSlice.flatMap((count, number) =>
      count > 0 ? [{ sliceId: `${topic.uid}.${number}`, shard: sliceShard(arn, number) }] : [],
    )
    return { revision, topic, slices, subscriptions: perSlice.reduce((sum, count) => sum + count, 0) }
  }

  /** null: the slice does not exist (any more). */
  async slice(ref: SliceRef): Promise<SliceData | null> {
    const packed = await this.packedSlice(ref)
    return packed && inOneGo(this.unpack(packed)).value
  }

  /** Like `slice`, but the records are not parsed yet. */
  async packedSlice({ sliceId, shard }: SliceRef): Promise<PackedSlice | null> {
    const base = shardBase(shard)
    const [revision, text, departures, ...records] = (await runScript(this.#redis, READ_SLICE, {
      base,
      slice: sliceId,
    })) as Buffer[]
    if (!revision || !text) return null
    const topic = parseTopic(String(text), `${sliceKey(base, sliceId)} topic`)
    const moment = { sliceId, shard, departures: Number(departures) }
    return { ...moment, revision: String(revision), topic, topicText: text, records }
  }

  /** Subscriptions that have left the slice. */
  async former(slice: SliceRef): Promise<FormerSubscription[]> {
    return readFormer(this.#redis, slice, this.#onUnreadable)
  }

  /** Parses the records, in steps. A step reads about one byte. */
  *unpack({ records, topicText: _, ...slice }: PackedSlice): Steps<SliceData> {
    const subscriptions: SubscriptionRecord[] = []
    for (let i = 0; i + 1 < records.length; i += 2) {
      const text = String(records[i + 1])
      const record = this.#unpackOne(String(records[i]), text, slice)
      if (record) subscriptions.push(record)
      yield text.length
    }
    return { ...slice, subscriptions }
  }

  #unpackOne(id: string, text: string, slice: Omit<PackedSlice, 'records' | 'topicText'>) {
    const key = subscriptionsKey(shardBase(slice.shard), slice.sliceId)
    return this.#readable(() => unpackSubscription(text, { id, topicArn: slice.topic.arn, key }))
  }

  /** undefined: the record cannot be read. */
  #readable<T>(unpack: () => T): T | undefined {
    try {
      return unpack()
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error
      this.#onUnreadable(error)
      return undefined
    }
  }
}
