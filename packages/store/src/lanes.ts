/**
 * Lanes: every subscription's own waiting line, in its slice's shard.
 *
 * A lane is a hash of settings, two sorted sets of waiting deliveries by due time (fresh, and those with attempts
 * behind them), a sorted set of leases, and the retry states. `due` of the shard says which lane next needs a take.
 *
 *   park ──▶ waiting ──take──▶ in flight ──settle──▶ delivered, dead-lettered, discarded, expired
 *               ▲                  │
 *               └── retry, return, lease ended
 *
 * Every move is one Lua script; Redis's atomicity is the only lock. A worker that dies leaves leases, which end: its
 * deliveries wait again. One that was only frozen holds leases that are no longer current, and its settlements are
 * refused. A body is stored once per shard and counted by the deliveries that refer to it.
 */
import type { Redis } from 'ioredis'
import { hintDue } from './busy-lanes.ts'
import { readNow } from './clock.ts'
import { HeldWrites } from './held-writes.ts'
import { BUSY_SHARDS, checkpointKey, dueKey, messageKey } from './keys.ts'
import type { LaneStore } from './lane-api.ts'
import { deliveryStates, laneFigures } from './lane-figures.ts'
import type * as lane from './lane-records.ts'
import { purgeLane, retryLaneNow, sweepLanes } from './lane-upkeep.ts'
import { noteResults } from './note-results.ts'
import { openCheckpoint, parkDeliveries, parkRedriven } from './park.ts'
import { settleDeliveries } from './settle.ts'
import { SHARD_COUNT, shardBase } from './shards.ts'
import { takeDeliveries } from './take.ts'

/** As long as a checkpoint that nobody deletes. */
const FENCE_MS = 86_400_000

export class Lanes implements LaneStore {
  readonly #redis: Redis
  readonly #held: HeldWrites

  /** `held`: how deliveries are parked; default: on this connection, and replicas are not waited for. */
  constructor(redis: Redis, held = new HeldWrites(redis)) {
    this.#redis = redis
    this.#held = held
  }

  async park(shard: number, request: lane.ParkRequest): Promise<lane.ParkResult> {
    const { woke, ...result } = await parkDeliveries(this.#held.redis, shard, request)
    await this.#held.confirm(shardBase(shard))
    if (woke) hintDue(this.#redis, shard, result.nextDueAt)
    return result
  }

  async parkRedriven(shard: number, request: lane.ParkRedrivenRequest): Promise<lane.ParkRedrivenResult> {
    const { woke, result } = await parkRedriven(this.#held.redis, shard, request)
    await this.#held.confirm(shardBase(shard))
    if (woke && !result.stale) hintDue(this.#redis, shard, result.nextDueAt)
    return result
  }

  openCheckpoint(shard: number, job: string, fence: number): Promise<lane.Checkpoint> {
    return openCheckpoint(this.#redis, shard, job, fence)
  }

  async deleteCheckpoints(shard: number, jobs: string[]): Promise<void> {
    if (jobs.length > 0) await this.#redis.unlink(jobs.map((job) => checkpointKey(shardBase(shard), job)))
  }

  async keepFence(shard: number, job: string, fence: number): Promise<void> {
    const key = checkpointKey(shardBase(shard), job)
    await this.#redis.multi().del(key).hset(key, 'f', fence).pexpire(key, FENCE_MS).exec()
  }

  take(shard: number, request: lane.TakeRequest): Promise<lane.TakeResult> {
    return takeDeliveries(this.#redis, shard, request)
  }

  async messages(shard: number, ids: Buffer[]): Promise<(Buffer | null)[]> {
    const base = shardBase(shard)
    return Promise.all(ids.map((id) => this.#redis.hgetBuffer(messageKey(base, id.subarray(0, 16)), 'b')))
  }

  async settle(shard: number, settlements: lane.Settlement[]): Promise<lane.SettleResult> {
    const { woke, ...result } = await settleDeliveries(this.#redis, shard, settlements)
    if (woke) hintDue(this.#redis, shard, result.nextDueAt)
    return result
  }

  async note(shard: number, results: lane.LaneResult[]): Promise<lane.NotedResults> {
    const { woke, ...noted } = await noteResults(this.#redis, shard, results)
    if (woke) hintDue(this.#redis, shard, noted.nextDueAt)
    return noted
  }

  figures(ids: { subscriptionId: string; shard: number }[]): Promise<lane.LaneFigures[]> {
    return laneFigures(this.#redis, ids)
  }

  deliveryStates(shard: number, items: lane.DeliveryRef[]): Promise<lane.DeliveryWhere[]> {
    return deliveryStates(this.#redis, shard, items)
  }

  async retryNow(
    shard: number,
    subscriptionId: string,
    options: { maxPerSecond?: number } = {},
  ): Promise<number> {
    const { moved, wokeFor } = await retryLaneNow(this.#redis, shard, subscriptionId, options)
    if (wokeFor !== null) hintDue(this.#redis, shard, wokeFor)
    return moved
  }

  purge(shard: number, subscriptionId: string): Promise<number> {
    return purgeLane(this.#redis, shard, subscriptionId)
  }

  sweep(shard: number, request: lane.SweepRequest): Promise<lane.SweepResult> {
    return sweepLanes(this.#redis, shard, request)
  }

  async dueTimes(): Promise<(number | null)[]> {
    const heads = Array.from({ length: SHARD_COUNT }, (_, shard) =>
      this.#redis.zrange(dueKey(shardBase(shard)), '0', '0', 'WITHSCORES'),
    )
    return (await Promise.all(heads)).map(([, score]) => (score === undefined ? null : Number(score)))
  }

  async busyShards(): Promise<Map<number, number>> {
    const hints = await this.#redis.hgetall(BUSY_SHARDS)
    return new Map(Object.entries(hints).map(([shard, dueAt]) => [Number(shard), Number(dueAt)]))
  }

  async noteDue(shard: number, dueAt: number | null): Promise<void> {
    if (dueAt === null) await this.#redis.hdel(BUSY_SHARDS, String(shard))
    else await this.#redis.hset(BUSY_SHARDS, String(shard), String(dueAt))
  }

  now(shard = 0): Promise<number> {
    return readNow(this.#redis, shard)
  }
}
