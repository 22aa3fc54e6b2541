/**
 * Recorded attempts in Redis: the newest of each subscription, within one bound of bytes over all. All records have one
 * hash tag, so a worker writes its gathered attempts by one script. Past the bound, the records of the subscription
 * whose last record is oldest are removed first. `sweep` removes the records of deleted subscriptions.
 */
import type { Redis } from 'ioredis'
import { ATTEMPTS_BASE, attemptBytesKey, attemptsKey, subscriptionsKey } from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'
import { type BodySeals, SealKeyError } from '../records/sealed-messages.ts'
import { placeOfSubscription } from '../records/subscriptions-id.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { type OnUnreadable, whenReadable } from '../redis/unreadable.ts'
import { type AttemptRecord, openAnswer, unpackAttempt } from './attempt-record.ts'

const RECORD = readScript('record-attempts-1')
const DROP = readScript('drop-attempts-1')

/** @limit memory (Redis, each subscription) Recorded attempts of a subscription. Past it: its oldest one is removed. */
export const ATTEMPTS_KEPT_MAX = 100
/** The number of subscriptions that one sweep checks, approximately. The next sweep continues after them. */
const SWEPT_SUBSCRIPTIONS = 1_000

/** New records of one subscription, packed, oldest first. */
export interface AttemptShare {
  subscription: string
  records: readonly string[]
}

interface AttemptWrite {
  /** Epoch ms. */
  now: number
  /** Bytes that the records of all subscriptions may take. */
  bytesMax: number
  shares: readonly AttemptShare[]
}

export class AttemptStore {
  readonly #redis: Redis
  readonly #seals: BodySeals | undefined
  #cursor = '0'

  /** `seals`: opens sealed answers. Absent: records have none of them. */
  constructor(redis: Redis, seals?: BodySeals) {
    this.#redis = redis
    this.#seals = seals
  }

  async add({ shares, ...write }: AttemptWrite): Promise<void> {
    await runScript(this.#redis, RECORD, {
      base: ATTEMPTS_BASE,
      kept: ATTEMPTS_KEPT_MAX,
      ...write,
      shares: shares.map(({ subscription, records }) => ({ subscription, records: records.join('\n') })),
    })
  }

  /** The newest attempt comes first. */
  async read(subscriptionId: string): Promise<AttemptRecord[]> {
    const texts = await this.#redis.lrange(attemptsKey(subscriptionId), 0, ATTEMPTS_KEPT_MAX - 1)
    return texts
      .flatMap((text) => unpackAttempt(text) ?? [])
      .map((record) => this.#opened(subscriptionId, record))
  }

  #opened(subscriptionId: string, record: AttemptRecord): AttemptRecord {
    if (record.sealed === undefined) return record
    const { sealed: _, ...open } = record
    try {
      return this.#seals ? openAnswer(subscriptionId, record, this.#seals) : open
    } catch (error) {
      if (error instanceof SealKeyError) return open
      throw error
    }
  }

  /** Removes the records of deleted subscriptions. Each call checks only a part of the subscriptions with records. */
  async sweep(onUnreadable: OnUnreadable): Promise<number> {
    return (await whenReadable(ATTEMPTS_BASE, onUnreadable, () => this.#sweep())) ?? 0
  }

  async #sweep(): Promise<number> {
    const [next, fields] = await this.#redis.hscan(
      attemptBytesKey(),
      this.#cursor,
      'COUNT',
      SWEPT_SUBSCRIPTIONS,
    )
    this.#cursor = next
    const ids = fields.filter((_, i) => i % 2 === 0)
    const gone = await this.#goneAmong(ids)
    if (gone.length > 0) await this.drop(gone)
    return gone.length
  }

  /** Removes the records of these subscriptions. */
  async drop(ids: readonly string[]): Promise<void> {
    await runScript(this.#redis, DROP, {
      base: ATTEMPTS_BASE,
      subscriptions: ids.map((subscription) => ({ subscription })),
    })
  }

  async #goneAmong(ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return []
    const pipeline = batch(this.#redis)
    for (const id of ids) {
      const { shard = 0, sliceId = '' } = placeOfSubscription(id) ?? {}
      pipeline.hexists(subscriptionsKey(shardBase(shard), sliceId), id)
    }
    const exists = await replies(pipeline)
    return ids.filter((_, i) => exists[i] === 0)
  }
}
