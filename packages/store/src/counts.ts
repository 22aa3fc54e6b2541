/** Counts kept in Redis by the scripts that remove deliveries: discarded by cause, expired, dead-lettered, set aside. */
import type { Redis } from 'ioredis'
import { asideKey, countsKey } from './keys.ts'
import { SHARD_COUNT, shardBase } from './shards.ts'

const ASIDE_MAX = 1_000

export class Counts {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** Counts what no script counts, because it never was in a lane. */
  async add(cause: string): Promise<void> {
    await this.#redis.hincrby(countsKey(shardBase(0)), cause, 1)
  }

  /** Keeps an entry in the aside list (the newest 1,000) and counts it, in one step. */
  async setAside(entry: object): Promise<void> {
    const base = shardBase(0)
    await this.#redis
      .multi()
      .lpush(asideKey(base), JSON.stringify(entry))
      .ltrim(asideKey(base), 0, ASIDE_MAX - 1)
      .hincrby(countsKey(base), 'aside', 1)
      .exec()
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
