/** Moves Redis's time, the only source of time for Fantail. */
import { batch, type Redis, SHARD_COUNT, shardBase } from '@fantail/store'
import { skewKey } from '@fantail/test-kit'

/** Moves the time forward for Fantail's scripts. BullMQ's locks and the timers of processes do not notice it. */
export async function moveRedisTime(redis: Redis, byMs: number): Promise<void> {
  const pipeline = batch(redis)
  for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.incrby(skewKey(shardBase(shard)), byMs)
  await pipeline.exec()
}
