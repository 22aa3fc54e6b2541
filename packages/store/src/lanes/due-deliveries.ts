/**
 * Counts the deliveries in lanes that are due now and that nothing but a lack of workers holds back. Autoscalers use
 * this figure, so it must not count what another worker could not attempt either.
 */
import type { Redis } from 'ioredis'
import { shardBase } from '../keys/shards.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { SHARDS_AT_ONCE, sideBySide } from '../redis/side-by-side.ts'
import { whenReadable } from '../redis/unreadable.ts'
import { shardsInUse } from './busy-lanes.ts'

const COUNT_DUE = readScript('count-due-1')
/** Due lanes of a shard that are read, at about 10 µs of Redis each. Past it: each other lane counts as one. */
const FULLY_COUNTED_MAX = 100

/** Takes one round trip if nothing waits, else one more for each shard with work. */
export async function countDueDeliveries(redis: Redis, lanesMax = FULLY_COUNTED_MAX): Promise<number> {
  const counts = await sideBySide(await shardsInUse(redis), SHARDS_AT_ONCE, async (shard) => {
    const base = shardBase(shard)
    // A due set of another type is in the quarantine, and must not hide the lanes of all shards.
    const count = await whenReadable(
      base,
      () => undefined,
      () => runScript(redis, COUNT_DUE, { base, lanesMax }),
    )
    return Number(count ?? 0)
  })
  return counts.reduce((sum, count) => sum + count, 0)
}
