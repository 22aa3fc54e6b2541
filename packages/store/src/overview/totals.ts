/** Counts topics, subscriptions, queues, dead letters and active redrives, and reads how full Redis is. */
import { DEAD_LETTER_REASONS } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { type MemorySample, readMemory } from '../capacity/storage-guard.ts'
import { queueKey, queuesKey, redrivingKey, topicKey, topicsKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase, shardOf } from '../keys/shards.ts'
import { batch } from '../redis/batch.ts'
import { readableReplies } from '../redis/pages.ts'
import { ifReadable } from '../redis/unreadable.ts'
import { parseSlices } from '../slices/topics-record.ts'

/** @limit Topics, and queues, of a shard that totals count. Past it: the others are left out, and the totals say so. */
const COUNTED_PER_SHARD_MAX = 500
const REASONS = DEAD_LETTER_REASONS.map((reason) => `r:${reason}`)

export interface Totals {
  topics: { arn: string; subscriptions: number }[]
  queues: { arn: string; deadLetters: number }[]
  /** ARNs of the sources of active redrives. */
  redriving: string[]
  memory: MemorySample
  /** False: a shard had more topics or queues than are counted. */
  isComplete: boolean
}

interface Names {
  topics: string[]
  queues: string[]
  redriving: string[]
  isComplete: boolean
}

/** Takes three round trips, and one command for each topic and two for each queue. */
export async function readTotals(
  redis: Redis,
  {
    memoryBytes,
    perShardMax = COUNTED_PER_SHARD_MAX,
  }: { memoryBytes?: number | undefined; perShardMax?: number } = {},
): Promise<Totals> {
  const [{ topics, queues, redriving, isComplete }, memory] = await Promise.all([
    readNames(redis, perShardMax),
    readMemory(redis, memoryBytes),
  ])
  const [slices, uids] = await Promise.all([
    fieldOf(redis, topics.map(topicKey), 'slices'),
    fieldOf(redis, queues.map(queueKey), 'uid'),
  ])
  const letters = await countLetters(redis, queues, uids)
  return {
    topics: topics.map((arn, i) => ({ arn, subscriptions: subscriptionsIn(arn, slices[i] ?? null) })),
    queues: queues.map((arn, i) => ({ arn, deadLetters: letters[i] ?? 0 })),
    redriving,
    memory,
    isComplete,
  }
}

async function readNames(redis: Redis, max: number): Promise<Names> {
  const pipeline = batch(redis)
  for (let shard = 0; shard < SHARD_COUNT; shard++) {
    const base = shardBase(shard)
    pipeline.zrange(topicsKey(base), '0', String(max)).zrange(queuesKey(base), '0', String(max))
    pipeline.hkeys(redrivingKey(base))
  }
  const lists = ((await readableReplies(pipeline, { keyOf: String })) as (string[] | undefined)[]).map(
    (names = []) => names,
  )
  const [topics, queues, redriving] = [0, 1, 2].map((kind) => lists.filter((_, i) => i % 3 === kind)) as [
    string[][],
    string[][],
    string[][],
  ]
  return {
    topics: topics.flatMap((names) => names.slice(0, max)),
    queues: queues.flatMap((names) => names.slice(0, max)),
    redriving: redriving.flat(),
    isComplete: [...topics, ...queues].every((names) => names.length <= max),
  }
}

async function fieldOf(redis: Redis, keys: string[], field: string): Promise<(string | null)[]> {
  if (keys.length === 0) return []
  const pipeline = batch(redis)
  for (const key of keys) pipeline.hget(key, field)
  const found = (await readableReplies(pipeline, { keyOf: String })) as (string | null | undefined)[]
  return found.map((value) => value ?? null)
}

/** 0 for a topic that was deleted a moment ago, or that cannot be read. */
function subscriptionsIn(arn: string, slices: string | null): number {
  const [counts = []] = slices === null ? [] : ifReadable(() => parseSlices(slices, topicKey(arn)))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function countLetters(redis: Redis, queues: string[], uids: (string | null)[]): Promise<number[]> {
  if (queues.length === 0) return []
  const pipeline = batch(redis)
  for (const [i, arn] of queues.entries()) {
    pipeline.hmget(`${shardBase(shardOf(arn))}q:${uids[i] ?? ''}:dead`, ...REASONS)
  }
  const found = (await readableReplies(pipeline, { keyOf: String })) as ((string | null)[] | undefined)[]
  return found.map((counts = []) => counts.reduce((sum, count) => sum + Number(count ?? 0), 0))
}
