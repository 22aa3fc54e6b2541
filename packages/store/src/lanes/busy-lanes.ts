/**
 * Finds lanes and shards with deliveries that wait or are in flight, for gauges and sweeps. Also writes the hint that a
 * shard has become due.
 */
import type { Redis } from 'ioredis'
import { BUSY_SHARDS, dueKey, laneKey, pausedKey, sliceKey, unprovenKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { batch } from '../redis/batch.ts'
import { whenReadable } from '../redis/unreadable.ts'
import type { Wakes } from './records/lane-replies.ts'

/**
 * Writes the hint, in addition to the wake that a script published. The hint is in another slot, so the script cannot
 * write it.
 */
export function hintDue(redis: Redis, shard: number, dueAt: number | null, woke: Wakes): void {
  const lost = () => {
    // The deliveries are stored. If both wake and hint are lost, the sweep of all shards finds them.
  }
  if ((woke & 1) !== 0 && dueAt !== null) redis.hset(BUSY_SHARDS, String(shard), String(dueAt)).catch(lost)
  // The exact time is not known, so 0 is stored. The next take corrects it.
  if ((woke & 2) !== 0) redis.hset(BUSY_SHARDS, unprovenField(shard), '0').catch(lost)
}

/** Fields of unproven endpoints are in the hash of due times, so that one command reads both. */
export function unprovenField(shard: number): string {
  return `u${shard}`
}

interface BusyLane {
  subscriptionId: string
  shard: number
  paused: boolean
  topicArn: string
}

/** At most `max` lanes of each shard. Lanes that are due first are chosen. Takes three round trips. */
export async function busyLanes(redis: Redis, max: number): Promise<BusyLane[]> {
  const bases = Array.from({ length: SHARD_COUNT }, (_, shard) => shardBase(shard))
  const ids = await Promise.all(
    bases.map(async (base) => {
      const [due, unproven, paused] = await Promise.all([
        idsOf(dueKey(base), (key) => redis.zrange(key, '0', String(max - 1))),
        idsOf(unprovenKey(base), (key) => redis.zrange(key, '0', String(max - 1))),
        idsOf(pausedKey(base), (key) => redis.srandmember(key, String(max))),
      ])
      return [...new Set([...due, ...unproven, ...paused])].slice(0, max)
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
    return topicArn ? [{ ...lane, paused: Boolean(paused), topicArn }] : []
  })
}

/** Nothing if the key has another type. One such key must not hide the lanes of all shards. */
async function idsOf(key: string, read: (key: string) => Promise<string[]>): Promise<string[]> {
  return (
    (await whenReadable(
      key,
      () => undefined,
      () => read(key),
    )) ?? []
  )
}

/** Shards with deliveries that wait or are in flight. Takes one round trip, so idle shards cost nothing. */
export async function shardsInUse(redis: Redis): Promise<number[]> {
  const pipeline = batch(redis)
  for (let shard = 0; shard < SHARD_COUNT; shard++) {
    const base = shardBase(shard)
    pipeline.exists(dueKey(base), unprovenKey(base), pausedKey(base))
  }
  const replies = (await pipeline.exec()) ?? []
  return replies.flatMap(([error, found], shard) => {
    if (error) throw error
    return found === 0 ? [] : [shard]
  })
}
