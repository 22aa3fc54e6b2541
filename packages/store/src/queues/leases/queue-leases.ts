/**
 * Leases of queues. A queue with `leaseSeconds` is deleted when nobody has received from it for this time, together
 * with the subscriptions that deliver to it.
 *
 * The end of each lease is in a sorted set of the queue's shard. It is written before the queue, and removed after it,
 * so a crash leaves an entry at most, which the sweep ends. Topics are noted before they get a subscription to the
 * queue. A queue that was made without a lease gets none later, because its topics were not noted. A lease that has
 * ended is renewed by a receive, until the sweep has begun to delete the queue. Time in which nobody could receive does
 * not count (queue-lease.lua): each API notes every SERVICE_NOTE_MS that it serves the shards with leases. It knows
 * those in which it has granted or renewed a lease, and looks for others in all shards within a minute.
 */
import { FantailError, type QueueRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { leasedQueuesKey, leasedTopicsKey, queueKey } from '../../keys/keys.ts'
import { SHARD_COUNT, shardBase, shardOf } from '../../keys/shards.ts'
import { batch } from '../../redis/batch.ts'
import { readNow } from '../../redis/clock.ts'
import { replies } from '../../redis/pages.ts'
import { readScript, runScript } from '../../redis/scripts.ts'
import { SHARDS_AT_ONCE, sideBySide } from '../../redis/side-by-side.ts'
import { type OnUnreadable, whenReadable } from '../../redis/unreadable.ts'
import { NUMBER } from '../../scripts/lua-numbers.ts'
import { Subscriptions } from '../../subscriptions/subscriptions.ts'
import { queueMissing } from '../items/queue-errors.ts'
import { atQueue } from '../items/queue-records.ts'

const RENEW = readScript('renew-queue-lease-1')
const DROP = readScript('drop-queue-lease-1')
const END = readScript('end-queue-lease-1')
const NOTE_SERVICE = readScript('note-service-1')
const LIST_ENDED = readScript('list-ended-leases-1')

/** @limit Topics with subscriptions to one leased queue. Past it: subscribing answers 400. */
const LEASED_TOPICS_MAX = 100
/** Ended leases of a shard that one sweep looks at. Past it: the next sweep continues. */
const ENDED_LEASES_MAX = 1_000
const SUBSCRIPTIONS_AT_ONCE = 100
/** Topics from which the subscriptions to a queue are deleted at a time. Past it: the others follow. */
const LEASED_TOPICS_AT_ONCE = 8
/** Between two notes that an API serves. A longer gap than UNSERVED_MAX_MS is an outage. */
export const SERVICE_NOTE_MS = 10_000
const ALL_SHARDS = Array.from({ length: SHARD_COUNT }, (_, shard) => shard)
/** A note looks for leases in so many shards, so that idle APIs cost Redis little. The first note looks in all. */
const SHARDS_PER_LOOK = Math.ceil(SHARD_COUNT / 6)

/** The queues themselves. */
interface Definitions {
  get(arn: string): Promise<QueueRecord | null>
  /** Deletes the queue with this uid. Returns how many messages it had. */
  delete(arn: string, only: { uid: string }): Promise<number>
}

/** Called for each queue that was deleted because nobody received from it. Its messages have expired. */
export type OnLeaseEnd = (arn: string, messages: number) => void

export class QueueLeases {
  readonly #redis: Redis
  readonly #queues: Definitions
  readonly #subscriptions: Subscriptions
  readonly #onEnd: OnLeaseEnd
  /** Shards with leases, as far as this process knows. */
  readonly #leased = new Set<number>()
  /** The shard at which the next look for leases begins. Undefined: nothing has been looked at. */
  #nextLook: number | undefined

  constructor(redis: Redis, queues: Definitions, onEnd: OnLeaseEnd) {
    this.#redis = redis
    this.#queues = queues
    this.#onEnd = onEnd
    this.#subscriptions = new Subscriptions(redis)
  }

  /** Called before a queue with a lease is written. If the lease of an earlier one has ended, that queue is deleted. */
  async grant(arn: string, leaseSeconds: number): Promise<void> {
    while (!(await this.#renew(arn, leaseSeconds, false))) await this.#end(arn)
  }

  /** Throws `not_found` if the lease has ended. */
  async renew({ arn, leaseSeconds }: QueueRecord): Promise<void> {
    if (leaseSeconds && !(await this.#renew(arn, leaseSeconds, true))) throw queueMissing()
  }

  async #renew(arn: string, leaseSeconds: number, onlyRenew: boolean): Promise<boolean> {
    this.#leased.add(shardOf(arn))
    return (
      (await runScript(this.#redis, RENEW, { ...atQueue(arn), leaseMs: leaseSeconds * 1_000, onlyRenew })) ===
      1
    )
  }

  /** When the lease ends, epoch ms. null: there is none. */
  async endsAt(arn: string): Promise<number | null> {
    const score = await this.#redis.zscore(leasedQueuesKey(shardBase(shardOf(arn))), arn)
    return score === null ? null : Number(score)
  }

  /**
   * Called before a subscription to a leased queue is made, or moved to it. Throws `validation_failed` past
   * LEASED_TOPICS_MAX.
   */
  async noteTopic(arn: string, topicArn: string): Promise<void> {
    const key = leasedTopicsKey(arn)
    const [known, count] = await Promise.all([this.#redis.sismember(key, topicArn), this.#redis.scard(key)])
    if (known === 1) return
    if (count >= LEASED_TOPICS_MAX) {
      const message = `is a queue with a lease, which takes subscriptions of at most ${LEASED_TOPICS_MAX} topics`
      throw FantailError.invalid('endpoint', message)
    }
    await this.#redis.sadd(key, topicArn)
  }

  /** Called when a queue has lost its lease. */
  async drop(arn: string): Promise<void> {
    const ends = await this.endsAt(arn)
    if (ends !== null) await this.#drop(arn, ends)
  }

  /** Called after the queue was deleted. `ends`: when its lease would have ended. */
  async afterDelete(arn: string, ends: number): Promise<void> {
    await this.#deleteSubscriptions(arn, await readNow(this.#redis, shardOf(arn)))
    await this.#drop(arn, ends)
  }

  /**
   * Deletes a queue whose lease has ended, and the subscriptions to it. A queue that was created again meanwhile stays.
   */
  async #end(arn: string): Promise<void> {
    const [ends, queue] = await Promise.all([this.endsAt(arn), this.#queues.get(arn)])
    const now = await readNow(this.#redis, shardOf(arn))
    if (ends === null || ends > now) return
    if (ends !== NUMBER.DELETING && !(await this.#begin(arn, ends))) return
    if (queue === null || queue.leaseSeconds) {
      await this.#deleteSubscriptions(arn, now)
      if (queue) this.#onEnd(arn, await this.#queues.delete(arn, { uid: queue.uid }))
    }
    await this.#drop(arn, NUMBER.DELETING)
  }

  /**
   * Ends the leases that are over. A queue that cannot be read does not stop the others. The next sweep tries it again.
   */
  async sweep(onUnreadable: OnUnreadable): Promise<void> {
    await this.#eachShard(await this.#shardsWithLeases(ALL_SHARDS), onUnreadable, async (base) => {
      const over = await runScript(this.#redis, LIST_ENDED, { base, leasesMax: ENDED_LEASES_MAX })
      for (const arn of (over as Buffer[]).map(String)) {
        await whenReadable(queueKey(arn), onUnreadable, () => this.#end(arn))
      }
    })
  }

  /** Notes that an API serves the queues. The sweep reports shards whose leases cannot be read. */
  async noteService(): Promise<void> {
    const from = this.#nextLook
    // After a failure, the next note looks in all shards.
    this.#nextLook = undefined
    const shards = from === undefined ? ALL_SHARDS : ALL_SHARDS.slice(from, from + SHARDS_PER_LOOK)
    // A lease that is granted meanwhile adds its shard again.
    for (const shard of shards) this.#leased.delete(shard)
    for (const shard of await this.#shardsWithLeases(shards)) this.#leased.add(shard)
    const next = (from ?? 0) + SHARDS_PER_LOOK
    this.#nextLook = next < SHARD_COUNT ? next : 0
    await this.#eachShard(
      [...this.#leased],
      () => undefined,
      (base) => runScript(this.#redis, NOTE_SERVICE, { base }),
    )
  }

  async #shardsWithLeases(shards: number[]): Promise<number[]> {
    const looks = batch(this.#redis)
    for (const shard of shards) looks.exists(leasedQueuesKey(shardBase(shard)))
    const found = await replies(looks)
    return shards.filter((_, at) => found[at] === 1)
  }

  async #eachShard(
    shards: number[],
    onUnreadable: OnUnreadable,
    work: (base: string) => Promise<unknown>,
  ): Promise<void> {
    await sideBySide(shards.map(shardBase), SHARDS_AT_ONCE, (base) =>
      whenReadable(leasedQueuesKey(base), onUnreadable, () => work(base)),
    )
  }

  /** False: the lease was renewed meanwhile. */
  async #begin(arn: string, ends: number): Promise<boolean> {
    return (await runScript(this.#redis, END, { ...atQueue(arn), ends })) === 1
  }

  /** Deletes the subscriptions that were made until this time. A queue that is created again gets others. */
  async #deleteSubscriptions(arn: string, until: number): Promise<void> {
    const topics = await this.#redis.smembers(leasedTopicsKey(arn))
    await sideBySide(topics, LEASED_TOPICS_AT_ONCE, async (topicArn) => {
      const { items } = await this.#subscriptions.list({
        topicArn,
        endpoint: arn,
        limit: SUBSCRIPTIONS_AT_ONCE,
      })
      for (const { id, createdAt } of items) if (createdAt <= until) await this.#subscriptions.delete(id)
    })
  }

  async #drop(arn: string, ends: number): Promise<void> {
    await runScript(this.#redis, DROP, { ...atQueue(arn), ends })
  }
}
