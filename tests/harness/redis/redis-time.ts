/** Moving the one source of time. */
import { batch, type Redis, SHARD_COUNT, shardBase } from '@fantail/store'
import { skewKey } from '@fantail/test-kit'

/** Forward, as every script of ours reads it; BullMQ's locks and the processes' own timers go by theirs. */
export async function moveRedisTime(redis: Redis, byMs: number): Promise<void> {
  const pipeline = batch(redis)
  for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.incrby(skewKey(shardBase(shard)), byMs)
  await pipeline.exec()
}
