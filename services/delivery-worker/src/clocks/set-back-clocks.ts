/**
 * Corrects the time of shards after Redis's clock was set back. Redis's clock is the only source of time. It can be set
 * back on its host, and a failover may lead to a host whose clock is behind. Without a correction, all deliveries would
 * wait longer by the same time.
 *
 * A worker notices it within a second, and makes the time of that master's shards continue from its earlier value.
 * Several workers may do so at once. All shards of a master advance by the same amount, because workers keep one time
 * per master. If a shard were a tenth of a second behind that time, its throttled lanes would send nothing.
 */
import type { Logger } from '@fantail/runtime'
import { catchUp, catchUpWith, isCluster, masterOfShard, type Redis, SHARD_COUNT } from '@fantail/store'
import { type RedisClock, SET_BACK_MS } from './redis-clock.ts'
import { ShardClocks } from './shard-clocks.ts'

export function createShardClocks(redis: Redis, log: Logger): ShardClocks {
  const masterOf = isCluster(redis) ? (shard: number) => masterOfShard(redis, shard) : undefined
  const clocks = new ShardClocks(masterOf)
  const catching = new Set<string>()
  const advance = (master: string, clock: RedisClock) => {
    if (catching.has(master)) return
    catching.add(master)
    void catchUpAll({ redis, shards: shardsOf(master, masterOf), clock })
      .then((ms) => {
        if (ms > 0) log.warn({ ms }, 'redis.clock_was_set_back')
      })
      // The next reply with a time starts the correction again.
      .catch((error: Error) => log.debug({ err: error }, 'redis_clock.catch_up_failed'))
      .finally(() => catching.delete(master))
  }
  clocks.onSetBack = advance
  return clocks
}

function shardsOf(master: string, masterOf: ((shard: number) => string) | undefined): number[] {
  const shards = Array.from({ length: SHARD_COUNT }, (_, shard) => shard)
  return masterOf ? shards.filter((shard) => masterOf(shard) === master) : shards
}

interface Behind {
  redis: Redis
  shards: number[]
  clock: RedisClock
}

/** Resolves with the largest correction in ms. */
async function catchUpAll({ redis, shards, clock }: Behind): Promise<number> {
  const [first, ...others] = shards
  if (first === undefined) return 0
  const { madeUpMs, aheadMs } = await catchUp(redis, first, { now: clock.now(), behindMsMax: SET_BACK_MS })
  const made = await Promise.all(others.map((shard) => catchUpWith(redis, shard, aheadMs)))
  return Math.max(madeUpMs, ...made.map((caughtUp) => caughtUp.madeUpMs))
}
