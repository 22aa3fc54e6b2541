/** Lists the rings of kept messages. */
import type { Redis } from 'ioredis'
import { keptKey, keptWholeKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'

/** A topic's ring, and about how many bytes it fills. */
export interface Ring {
  arn: string
  uid: string
  shard: number
  bytes: number
}

/** The rings of all topics, in one round trip. */
export async function ringsOf(redis: Redis): Promise<Ring[]> {
  const pipeline = batch(redis)
  for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.hgetall(keptKey(shardBase(shard)))
  const hashes = (await replies(pipeline)) as Record<string, string>[]
  return hashes.flatMap((hash, shard) =>
    Object.entries(hash).map(([name, bytes]) => ringOf(name, shard, Number(bytes))),
  )
}

/** Rings that have kept jobs whole, also removed ones whose jobs are not deleted yet. In one round trip. */
export async function ringsWithJobs(redis: Redis): Promise<Ring[]> {
  const pipeline = batch(redis)
  for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.smembers(keptWholeKey(shardBase(shard)))
  const sets = (await replies(pipeline)) as string[][]
  return sets.flatMap((names, shard) => names.map((name) => ringOf(name, shard, 0)))
}

function ringOf(name: string, shard: number, bytes: number): Ring {
  const [uid = '', arn = ''] = name.split(' ')
  return { arn, uid, shard, bytes }
}
