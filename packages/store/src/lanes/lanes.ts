/**
 * Lanes: every subscription's own list of waiting deliveries, in its slice's shard.
 *
 * A lane is a hash of settings, two sorted sets of waiting deliveries by due time (fresh ones, and retries), a sorted
 * set of leases, and the retry states. The shard's set `due` has the time when each lane next needs a take.
 *
 * park ──▶ waiting ──take──▶ in flight ──settle──▶ delivered, dead-lettered, discarded, expired
 *             ▲                  │
 *             └── retry, return, lease ended
 *
 * `renew` leaves a claim in flight and gives it a new send time.
 *
 * Every move is one Lua script, and no other lock is needed. If a worker dies, its leases end and its deliveries wait
 * again. If a worker was only frozen, its leases are no longer current, and its settlements are refused. A body is
 * stored once per shard, with a count of the deliveries that refer to it.
 */
import type { Redis } from 'ioredis'
import { BUSY_SHARDS, checkpointKey, dueKey, messageKey, unprovenKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { readNow } from '../redis/clock.ts'
import { ReplicaAcks } from '../redis/replica-acks.ts'
import { whenReadable } from '../redis/unreadable.ts'
import { hintDue, unprovenField } from './busy-lanes.ts'
import { deliveryStates, laneFigures, noteAttempts } from './figures/lane-figures.ts'
import {
  purgeLane,
  releaseDead,
  releaseLane,
  retryLaneNow,
  type SetAside,
  setAside,
  sweepLanes,
} from './lane-upkeep.ts'
import { reportAnswers } from './pace/report-answers.ts'
import { openCheckpoint, parkDeliveries, parkRedriven } from './park.ts'
import type * as lane from './records/lane-records.ts'
import { renewClaims } from './renewals/renew.ts'
import { settleDeliveries } from './settle.ts'
import { takeDeliveries } from './take.ts'

/** How long a fence is kept. A checkpoint that its job never deletes is kept for the same time. */
const FENCE_MS = 86_400_000

export class Lanes {
  readonly #redis: Redis
  readonly #acks: ReplicaAcks

  /**
   * `acks`: the connection for parking, which continues without missing replicas. Default: this connection, and
   * replicas are not waited for.
   */
  constructor(redis: Redis, acks = new ReplicaAcks(redis)) {
    this.#redis = redis
    this.#acks = acks
  }

  /**
   * Puts deliveries into their lanes and writes checkpoints, in one step. Callers bound the number of entries (1,000).
   */
  async park(shard: number, request: lane.ParkRequest): Promise<lane.ParkResult> {
    const { woke, ...result } = await parkDeliveries(this.#acks.redis, shard, request)
    await this.#acks.confirm(shardBase(shard), false)
    hintDue(this.#redis, shard, result.nextDueAt, woke)
    return result
  }

  async parkRedriven(shard: number, request: lane.ParkRedrivenRequest): Promise<lane.ParkRedrivenResult> {
    const { woke, result } = await parkRedriven(this.#acks.redis, shard, request)
    await this.#acks.confirm(shardBase(shard), false)
    if (!result.stale) hintDue(this.#redis, shard, result.nextDueAt, woke)
    return result
  }

  /** Stores the fence, then reads which deliveries earlier runs have settled. */
  async openCheckpoint(shard: number, job: string, fence: number): Promise<lane.Checkpoint> {
    const checkpoint = await openCheckpoint(this.#acks.redis, shard, job, fence)
    // The job may be completed because of deliveries that an earlier start parked before it died. They must be
    // confirmed too.
    if (checkpoint.fields.size > 0) await this.#acks.confirm(shardBase(shard), false)
    return checkpoint
  }

  async deleteCheckpoints(shard: number, jobs: string[]): Promise<void> {
    if (jobs.length > 0) await this.#redis.unlink(jobs.map((job) => checkpointKey(shardBase(shard), job)))
  }

  /** Deletes the checkpoint's record of deliveries. Its fence stays for a day, so that earlier runs remain refused. */
  async keepFence(shard: number, job: string, fence: number): Promise<void> {
    const key = checkpointKey(shardBase(shard), job)
    await this.#redis.multi().del(key).hset(key, 'f', fence).pexpire(key, FENCE_MS).exec()
  }

  /** Claims deliveries that are due. Lanes that have waited longest come first. */
  take(shard: number, request: lane.TakeRequest): Promise<lane.TakeResult> {
    return takeDeliveries(this.#redis, shard, request)
  }

  /** New send times for unsent claims, by lane and claim as in the request. */
  renew(shard: number, request: lane.RenewRequest): Promise<lane.RenewedClaim[][]> {
    return renewClaims(this.#redis, shard, request)
  }

  /** Bodies by message id or delivery. null: the body is gone. */
  async bodies(shard: number, ids: Buffer[]): Promise<(Buffer | null)[]> {
    const base = shardBase(shard)
    const read = (id: Buffer) => this.#redis.hgetBuffer(messageKey(base, id.subarray(0, 16)), 'b')
    return Promise.all(ids.map((id) => read(id).catch(asUnreadable)))
  }

  async settle(shard: number, settlements: lane.Settlement[]): Promise<lane.SettleResult> {
    const { woke, ...result } = await settleDeliveries(this.#redis, shard, settlements)
    hintDue(this.#redis, shard, result.nextDueAt, woke)
    return result
  }

  /** Reports answers of endpoints to lanes with a retry mode or a circuit breaker. */
  async reportAnswers(shard: number, results: lane.LaneResult[]): Promise<lane.NotedResults> {
    const { woke, ...circuits } = await reportAnswers(this.#redis, shard, results)
    hintDue(this.#redis, shard, circuits.nextDueAt, woke)
    return circuits
  }

  /** Stores the results of attempts, for the figures of lanes. Callers bound the number of notes (1,000). */
  noteAttempts(shard: number, notes: lane.AttemptNote[]): Promise<void> {
    return noteAttempts(this.#redis, shard, notes)
  }

  figures(ids: { subscriptionId: string; shard: number }[]): Promise<lane.LaneFigures[]> {
    return laneFigures(this.#redis, ids)
  }

  deliveryStates(shard: number, items: lane.DeliveryRef[]): Promise<lane.DeliveryWhere[]> {
    return deliveryStates(this.#redis, shard, items)
  }

  /** Makes deliveries that wait for a retry due now, or `maxPerSecond` apart. Returns how many were moved. */
  async retryNow(
    shard: number,
    subscriptionId: string,
    options: { maxPerSecond?: number } = {},
  ): Promise<number> {
    const { moved, woke, nextDueAt } = await retryLaneNow(this.#redis, shard, subscriptionId, options)
    hintDue(this.#redis, shard, nextDueAt, woke)
    return moved
  }

  /** Makes dead deliveries that wait for their dead-letter queue due now. Returns how many were moved. */
  async releaseDead(shard: number, subscriptionId: string): Promise<number> {
    const { moved, woke, nextDueAt } = await releaseDead(this.#redis, shard, subscriptionId)
    hintDue(this.#redis, shard, nextDueAt, woke)
    return moved
  }

  /** Declares a waiting delivery dead. It then goes to its dead-letter queue. `message`: 16 bytes of the id. */
  async setAside(shard: number, subscriptionId: string, message: Buffer): Promise<SetAside> {
    const { what, woke, nextDueAt } = await setAside(this.#redis, shard, subscriptionId, message)
    hintDue(this.#redis, shard, nextDueAt, woke)
    return what
  }

  /** Lets a blocked lane make attempts again. Returns false if the lane was not blocked. */
  async release(shard: number, subscriptionId: string): Promise<boolean> {
    const { wasBlocked, woke, nextDueAt } = await releaseLane(this.#redis, shard, subscriptionId)
    hintDue(this.#redis, shard, nextDueAt, woke)
    return wasBlocked
  }

  /** Discards the waiting deliveries. Deliveries in flight continue. */
  purge(shard: number, subscriptionId: string): Promise<number> {
    return purgeLane(this.#redis, shard, subscriptionId)
  }

  /**
   * One step of the sweep. It finds deliveries that are too old, in paused lanes too. It also finds times that are
   * wrong because a clock was set back.
   */
  sweep(shard: number, request: lane.SweepRequest): Promise<lane.SweepResult> {
    return sweepLanes(this.#redis, shard, request)
  }

  /**
   * Due times of all shards that have any; one round trip. A shard whose due set is no sorted set must not hide the
   * others.
   */
  async dueTimes(): Promise<lane.ShardTimes> {
    const first = async (key: (base: string) => string) => {
      const heads = Array.from({ length: SHARD_COUNT }, async (_, shard) => {
        const dueSet = key(shardBase(shard))
        const read = () => this.#redis.zrange(dueSet, '0', '0', 'WITHSCORES')
        return (await whenReadable(dueSet, ignore, read)) ?? []
      })
      return readTimes((await Promise.all(heads)).map(([, score], shard) => [shard, score]))
    }
    const [due, unproven] = await Promise.all([first(dueKey), first(unprovenKey)])
    return { due, unproven }
  }

  /**
   * The hints: shards with their earliest times. Scripts make these times earlier, and `noteDue` and `noteUnproven`
   * replace them.
   */
  async busyShards(): Promise<lane.ShardTimes> {
    const hints = Object.entries(await this.#redis.hgetall(BUSY_SHARDS))
    const [unproven, due] = [true, false].map((isUnproven) =>
      hints.filter(([field]) => field.startsWith('u') === isUnproven),
    ) as [[string, string][], [string, string][]]
    return { due: readTimes(due), unproven: readTimes(unproven.map(([field, at]) => [field.slice(1), at])) }
  }

  async noteDue(shard: number, dueAt: number | null): Promise<void> {
    await this.#note(String(shard), dueAt)
  }

  async noteUnproven(shard: number, unprovenAt: number | null): Promise<void> {
    await this.#note(unprovenField(shard), unprovenAt)
  }

  async #note(field: string, at: number | null): Promise<void> {
    if (at === null) await this.#redis.hdel(BUSY_SHARDS, field)
    else await this.#redis.hset(BUSY_SHARDS, field, String(at))
  }

  /** The shard's time, epoch ms. Due times and send times are in this time. */
  now(shard = 0): Promise<number> {
    return readNow(this.#redis, shard)
  }
}

/** The sweep of the redrive service lists such keys in the quarantine. */
const ignore = () => undefined

function readTimes(times: [shard: number | string, at: string | undefined][]): Map<number, number> {
  return new Map(times.flatMap(([shard, at]) => (at === undefined ? [] : [[Number(shard), Number(at)]])))
}

/** Redis's error as a body that cannot be decoded, if data of another type is under the message's key. */
function asUnreadable(error: unknown): Buffer {
  const message = error instanceof Error ? error.message : String(error)
  if (message.startsWith('WRONGTYPE')) return Buffer.from(message)
  throw error
}
