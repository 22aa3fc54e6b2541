/**
 * Where something waits or is in flight: the hint that a shard has become due, and lanes and shards for gauges and
 * sweeps.
 */
import type { Redis } from 'ioredis'
import { BUSY_SHARDS, dueKey, heldKey, laneKey, sliceKey, turnsKey } from '../keys.ts'
import { batch } from '../redis/batch.ts'
import { SHARD_COUNT, shardBase } from '../redis/shards.ts'
import type { Wakes } from './lane-replies.ts'

/** Beside the wake that a script published; another slot, so it cannot be part of the script. */
export function hintDue(redis: Redis, shard: number, dueAt: number | null, woke: Wakes): void {
  const lost = () => {
    // The hint's deliveries are stored. If wake and hint are lost, the sweep of all shards finds them.
  }
  if ((woke & 1) !== 0 && dueAt !== null) redis.hset(BUSY_SHARDS, String(shard), String(dueAt)).catch(lost)
  // The take that this brings about corrects the time.
  if ((woke & 2) !== 0) redis.hset(BUSY_SHARDS, turnField(shard), '0').catch(lost)
}

/** In the same hash, so that one command reads both. */
export function turnField(shard: number): string {
  return `t${shard}`
}

interface BusyLane {
  subscriptionId: string
  shard: number
  paused: boolean
  topicArn: string
}

/** At most `max` of each shard's lanes, those that are due first; three trips. */
export async function busyLanes(redis: Redis, max: number): Promise<BusyLane[]> {
  const bases = Array.from({ length: SHARD_COUNT }, (_, shard) => shardBase(shard))
  const ids = await Promise.all(
    bases.map(async (base) => {
      const [due, turns, paused] = await Promise.all([
        redis.zrange(dueKey(base), '0', String(max - 1)),
        redis.zrange(turnsKey(base), '0', String(max - 1)),
        redis.srandmember(heldKey(base), String(max)),
      ])
      return [...new Set([...due, ...turns, ...paused])].slice(0, max)
    }),
  )
  const found = ids.flatMap((list, shard) => list.map((subscriptionId) => ({ subscriptionId, shard })))
  const settings = await Promise.all(
    found.map(({ subscriptionId, shard }) =>
      redis.hmget(laneKey(shardBase(shard), subscriptionId), 's', 'p'),
    ),
  )
  const slices = new Map(found.map(({ shard }, i) => [settings[i]?.[0] ?? '', shard]))
  const topics = new Map(
    await Promise.all(
      [...slices].map(
        async ([id, shard]) => [id, await redis.hget(sliceKey(shardBase(shard), id), 'arn')] as const,
      ),
    ),
  )
  return found.flatMap((lane, i) => {
    const [sliceId, paused] = settings[i] ?? []
    const topicArn = topics.get(sliceId ?? '')
    return topicArn ? [{ ...lane, paused: paused === '1', topicArn }] : []
  })
}

/** Shards in which anything waits or is in flight; one trip, so that looking after the others costs nothing. */
export async function shardsInUse(redis: Redis): Promise<number[]> {
  const pipeline = batch(redis)
  for (let shard = 0; shard < SHARD_COUNT; shard++) {
    const base = shardBase(shard)
    pipeline.exists(dueKey(base), turnsKey(base), heldKey(base))
  }
  const replies = (await pipeline.exec()) ?? []
  return replies.flatMap(([error, found], shard) => {
    if (error) throw error
    return found === 0 ? [] : [shard]
  })
}
