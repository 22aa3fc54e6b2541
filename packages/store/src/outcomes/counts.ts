/**
 * Reads the counts that scripts keep when they remove deliveries: discarded (by cause), expired, dead-lettered,
 * quarantined.
 */
import type { Redis } from 'ioredis'
import { countsKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const COUNT = readScript('count-cause-1')

export class Counts {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /**
   * Counts a message or delivery that was never in a lane, so no other script counts it. It works also when memory is
   * full.
   */
  async add(cause: string): Promise<void> {
    await runScript(this.#redis, COUNT, { base: shardBase(0), cause })
  }

  /** Cause → count, over all shards, since this Redis was first used. */
  async read(): Promise<Record<string, number>> {
    const shards = Array.from({ length: SHARD_COUNT }, (_, shard) =>
      this.#redis.hgetall(countsKey(shardBase(shard))),
    )
    const totals: Record<string, number> = {}
    for (const counts of await Promise.all(shards)) {
      for (const [cause, count] of Object.entries(counts))
        totals[cause] = (totals[cause] ?? 0) + Number(count)
    }
    return totals
  }
}
