/**
 * Reads who wrote a job's checkpoint in a shard last: which run, and which batch. Redis keeps the order of writes. So
 * if a batch is named there, all earlier writes exist too.
 */
import type { Redis } from 'ioredis'
import { checkpointKey } from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'

export interface CheckpointNames {
  /** Fence of the run that opened the checkpoint last. */
  fence: string | null
  /** The batch that was parked last. */
  batch: string | null
}

export async function readCheckpointNames(
  redis: Redis,
  shard: number,
  job: string,
): Promise<CheckpointNames> {
  const [fence = null, batch = null] = await redis.hmget(checkpointKey(shardBase(shard), job), 'f', 'p')
  return { fence, batch }
}
