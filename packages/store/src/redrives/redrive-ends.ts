/** Reads how the deliveries of a redrive have ended. Each shard counts the deliveries in its own lanes. */
import type { RedriveTask } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { redriveEndsKey } from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'

type Ends = Pick<RedriveTask, 'delivered' | 'backInDlq' | 'discarded'>

export async function readEnds(
  redis: Redis,
  { id, shards }: Pick<RedriveTask, 'id' | 'shards'>,
): Promise<Ends> {
  const ends = { delivered: 0, backInDlq: 0, discarded: 0 }
  if (shards.length === 0) return ends
  const pipeline = batch(redis)
  // The names are ENDS of scripts/lua-names.ts.
  for (const shard of shards) pipeline.hmget(redriveEndsKey(shardBase(shard), id), 'd', 'q', 'x')
  for (const [delivered, dead, discarded] of (await replies(pipeline)) as (string | null)[][]) {
    ends.delivered += Number(delivered ?? 0)
    ends.backInDlq += Number(dead ?? 0)
    ends.discarded += Number(discarded ?? 0)
  }
  return ends
}
