/**
 * Push consumers: webhooks that get a queue's messages. They are stored in their queue's shard, and deleted with the
 * queue.
 *
 * Workers follow notices of changes. A receive carries the revision of the worker's record, so it shows a change even
 * if the notice was lost (push-leases.lua). The leases of a consumer's concurrency exist only while batches are
 * pushed.
 */
import { randomUUID } from 'node:crypto'
import {
  FantailError,
  PUSH_CONSUMER_BATCH_SIZE_DEFAULT,
  PUSH_CONSUMER_CONCURRENCY_DEFAULT,
  PUSH_CONSUMER_TIMEOUT_SECONDS_DEFAULT,
  PUSH_CONSUMERS_MAX,
  type PushConsumerRecord,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { admitLonger, type GrowthGuard, UNGUARDED } from '../capacity/growth.ts'
import { consumingKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase, shardOf } from '../keys/shards.ts'
import { queueMissing } from '../queues/items/queue-errors.ts'
import { parseRecord, sumRecord } from '../records/checksums.ts'
import { type FieldTable, RecordFields } from '../records/fields.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { sideBySide } from '../redis/side-by-side.ts'
import { ifReadable, type OnUnreadable, whenReadable } from '../redis/unreadable.ts'

/** The fields of a push consumer's record, stored as JSON by their own names. */
const PUSH_CONSUMER_FIELDS = {
  name: { required: true, type: 'string', shown: 'asItIs' },
  queueArn: { required: true, type: 'string', shown: 'asItIs' },
  url: { required: true, type: 'string', shown: 'asItIs' },
  outbound: { optional: true, default: null, shown: 'inOtherForm' },
  sealed: { optional: true, default: null, shown: 'never' },
  batchSize: { default: PUSH_CONSUMER_BATCH_SIZE_DEFAULT, shown: 'asItIs', setting: true },
  batchWindowSeconds: { default: 0, shown: 'asItIs', setting: true },
  concurrency: { default: PUSH_CONSUMER_CONCURRENCY_DEFAULT, shown: 'asItIs', setting: true },
  timeoutSeconds: { default: PUSH_CONSUMER_TIMEOUT_SECONDS_DEFAULT, shown: 'asItIs', setting: true },
  enabled: { default: true, shown: 'asItIs', setting: true },
  reportBatchItemFailures: { default: false, shown: 'asItIs', setting: true },
  revision: { required: true, type: 'string', shown: 'never' },
  createdAt: { required: true, type: 'number', shown: 'inOtherForm' },
  modifiedAt: { required: true, type: 'number', shown: 'inOtherForm' },
} as const satisfies FieldTable<PushConsumerRecord>

export const PUSH_CONSUMER = new RecordFields<PushConsumerRecord, typeof PUSH_CONSUMER_FIELDS>(
  PUSH_CONSUMER_FIELDS,
)

/** Fields that callers may set; the store sets all others of a PushConsumerRecord. */
export type PushConsumerSettings = Pick<
  PushConsumerRecord,
  keyof typeof PUSH_CONSUMER.settingDefaults | 'url' | 'outbound' | 'sealed'
>

const WRITE = readScript('write-push-consumer-1')
const READ = readScript('read-push-consumers-1')
const LIST = readScript('list-consuming-1')
const KEEP = readScript('keep-push-leases-1')

/** Tries to change a push consumer that others change at the same time. Past it: `conflict`. */
const PUSH_CONSUMER_WRITE_TRIES_MAX = 20
/** Queues with push consumers that one script lists. Past it: a further script follows. */
const LIST_QUEUES_MAX = 100
/** Leases that one script renews. Past it: a further script follows. */
const KEEP_PUSH_LEASES_MAX = 200

/** The members to set, or a function that computes them from the present record. */
type PushConsumerChange<Before = PushConsumerRecord> =
  | Partial<PushConsumerSettings>
  | ((before: Before) => Partial<PushConsumerSettings>)

export interface PushConsumerWithBatches {
  consumer: PushConsumerRecord
  /** Number of batches that are being pushed. */
  inFlight: number
}

interface StoredPushConsumer extends PushConsumerWithBatches {
  /** The record's text as it was read. A change is refused if the stored text differs. */
  text: string
}

/** A queue with push consumers, as workers see it. */
interface ConsumingQueue {
  arn: string
  consumers: PushConsumerRecord[]
  /** Ms until a message can be received. null: only after a new message was sent. */
  nextVisibleInMs: number | null
}

/** The right of a consumer to push one batch. It has as many as its concurrency. */
export interface PushLease {
  queueArn: string
  consumer: string
  batch: string
}

interface PushConsumerRecordsOptions {
  growth?: GrowthGuard
  /** Called with what cannot be read of consumers. The others are still pushed to. */
  onUnreadable?: OnUnreadable
}

export class PushConsumerRecords {
  readonly #redis: Redis
  readonly #onUnreadable: OnUnreadable
  readonly #growth: GrowthGuard

  /** The guard is asked before a consumer is created, or its record becomes longer. */
  constructor(
    redis: Redis,
    { growth = UNGUARDED, onUnreadable = () => undefined }: PushConsumerRecordsOptions = {},
  ) {
    this.#redis = redis
    this.#onUnreadable = onUnreadable
    this.#growth = growth
  }

  /**
   * Creates the consumer, or sets the given members. Throws `not_found` without the queue, and `validation_failed`
   * without a URL.
   */
  async put(arn: string, name: string, set: PushConsumerChange<PushConsumerRecord | undefined>) {
    return this.#write(arn, name, (before) => ({
      ...(before ?? PUSH_CONSUMER.initialSettings),
      ...(typeof set === 'function' ? set(before) : set),
    }))
  }

  /** Sets the given members, or those that a function computes from the present record. Throws `not_found`. */
  async patch(arn: string, name: string, set: PushConsumerChange): Promise<PushConsumerRecord> {
    const { consumer } = await this.#write(arn, name, (before) => {
      if (!before) throw new FantailError('not_found', 'no such consumer of this queue')
      return { ...before, ...(typeof set === 'function' ? set(before) : set) }
    })
    return consumer
  }

  /** Deletes the consumer, if it exists. Batches that are being pushed end normally. */
  async delete(arn: string, name: string): Promise<void> {
    await runScript(this.#redis, WRITE, { ...at(arn), name, expected: '', record: '', pushConsumersMax: 0 })
  }

  /** The queue's consumers by name. null: there is no such queue. */
  async of(arn: string): Promise<PushConsumerWithBatches[] | null> {
    const queue = await this.#read(arn)
    return queue?.consumers.map(({ consumer, inFlight }) => ({ consumer, inFlight })) ?? null
  }

  async get(arn: string, name: string): Promise<PushConsumerWithBatches | null> {
    const found = (await this.of(arn)) ?? []
    return found.find(({ consumer }) => consumer.name === name) ?? null
  }

  /** Every queue that has consumers; one round trip if there is none. Reports what cannot be read. */
  async all(): Promise<ConsumingQueue[]> {
    const pipeline = batch(this.#redis)
    for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.exists(consumingKey(shardBase(shard)))
    const used = (await replies(pipeline)).flatMap((exists, shard) => (exists === 1 ? [shard] : []))
    const lists = await Promise.all(
      used.map((shard) =>
        whenReadable(consumingKey(shardBase(shard)), this.#onUnreadable, () => this.#ofShard(shard)),
      ),
    )
    return lists.flatMap((of = []) => of)
  }

  /**
   * Renews the leases of batches that are being pushed, or gives them back. Returns false for each batch whose
   * lease had ended. All shards are asked side by side, because leases end while a distant Redis is asked one by one.
   */
  async keep(leases: PushLease[], how: 'renew' | 'end'): Promise<boolean[]> {
    const kept = new Map<PushLease, boolean>()
    await sideBySide(byShard(leases), SHARD_COUNT, async (chunk) => {
      const { base } = at(chunk[0]?.queueArn ?? '')
      const renew = how === 'renew'
      const batches = chunk.map(({ queueArn, consumer, batch }) => ({
        arn: queueArn,
        consumer,
        batch,
        renew,
      }))
      const results = (await runScript(this.#redis, KEEP, { base, batches })) as number[]
      chunk.forEach((lease, i) => {
        kept.set(lease, results[i] === 1)
      })
    })
    return leases.map((lease) => kept.get(lease) ?? false)
  }

  async #read(arn: string): Promise<{ now: number; consumers: StoredPushConsumer[] } | null> {
    const reply = (await runScript(this.#redis, READ, at(arn))) as [Buffer, [Buffer, number][]] | null
    if (reply === null) return null
    const consumers = reply[1].flatMap(([record, inFlight]) => {
      const text = String(record)
      return ifReadable(() => ({ consumer: parse(text, arn), inFlight, text }))
    })
    consumers.sort((a, b) => (a.consumer.name < b.consumer.name ? -1 : 1))
    return { now: Number(reply[0]), consumers }
  }

  async #ofShard(shard: number): Promise<ConsumingQueue[]> {
    const queues: ConsumingQueue[] = []
    for (let after = ''; ; ) {
      const args = { base: shardBase(shard), after, queuesMax: LIST_QUEUES_MAX }
      const [last, found, unreadable] = (await runScript(this.#redis, LIST, args)) as ListReply
      for (const [arn, nextMs, records] of found) {
        const nextVisibleInMs = nextMs < 0 ? null : nextMs
        const consumers = records.flatMap((text) =>
          ifReadable(
            () => parse(String(text), String(arn)),
            (error) => this.#onUnreadable(error, error.key),
          ),
        )
        queues.push({ arn: String(arn), consumers, nextVisibleInMs })
      }
      for (const arn of unreadable.map(String)) this.#onUnreadable(new TypeError(WRONG_TYPE), keyOf(arn))
      if (last.length === 0) return queues
      after = String(last)
    }
  }

  async #write(
    arn: string,
    name: string,
    change: (before: PushConsumerRecord | undefined) => Partial<PushConsumerRecord>,
  ): Promise<{ consumer: PushConsumerRecord; created: boolean }> {
    for (let tries = 0; tries < PUSH_CONSUMER_WRITE_TRIES_MAX; tries++) {
      const queue = await this.#read(arn)
      if (!queue) throw queueMissing()
      const before = queue.consumers.find(({ consumer }) => consumer.name === name)
      const set = change(before?.consumer)
      const consumer = completed({ createdAt: queue.now, ...set, name, queueArn: arn }, queue.now)
      const text = sumRecord(consumer)
      await admitLonger(this.#growth, before?.text ?? null, text)
      const args = { name, expected: before?.text ?? '', record: text, pushConsumersMax: PUSH_CONSUMERS_MAX }
      const written = await runScript(this.#redis, WRITE, { ...at(arn), ...args })
      if (written === null) throw queueMissing()
      if (written === 2)
        throw new FantailError('conflict', `a queue has at most ${PUSH_CONSUMERS_MAX} consumers`)
      if (written === 1) return { consumer, created: before === undefined }
    }
    const message = 'others change the consumer, or its record cannot be read: try again, or delete it'
    throw new FantailError('conflict', message)
  }
}

/** The arguments that all scripts of queues have. */
function at(arn: string): { base: string; arn: string } {
  return { base: shardBase(shardOf(arn)), arn }
}

function completed(record: Partial<PushConsumerRecord>, now: number): PushConsumerRecord {
  if (record.url === undefined) throw FantailError.invalid('url', 'is needed to create a consumer')
  return { ...record, revision: randomUUID(), modifiedAt: now } as PushConsumerRecord
}

type ListReply = [
  last: Buffer,
  found: [arn: Buffer, nextMs: number, records: Buffer[]][],
  unreadable: Buffer[],
]

const WRONG_TYPE = 'the queue or its consumers have another type'

function keyOf(queueArn: string): string {
  return `push consumers of ${queueArn}`
}

function parse(text: string, queueArn: string): PushConsumerRecord {
  const key = keyOf(queueArn)
  return PUSH_CONSUMER.complete(parseRecord(text, key), key)
}

/** Groups the leases by shard, with a bounded number in each group. */
function byShard(leases: PushLease[]): PushLease[][] {
  const shards = Map.groupBy(leases, ({ queueArn }) => shardOf(queueArn))
  return [...shards.values()].flatMap((of) =>
    Array.from({ length: Math.ceil(of.length / KEEP_PUSH_LEASES_MAX) }, (_, i) =>
      of.slice(i * KEEP_PUSH_LEASES_MAX, (i + 1) * KEEP_PUSH_LEASES_MAX),
    ),
  )
}
