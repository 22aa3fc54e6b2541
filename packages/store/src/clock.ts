/** Redis's time. On a cluster each master has its own, and a shard goes by that of the master that has it. */
import type { Redis } from 'ioredis'
import { mastersOf } from './cluster.ts'
import { readScript, runScript } from './scripts.ts'
import { shardBase } from './shards.ts'

const READ_NOW = readScript('read-now-1')

const CATCH_UP = readScript('catch-up-1')

/** Makes the shard's time go on from `now` (epoch ms) where it is behind that by more than `behindMsMax`. */
export async function catchUp(
  redis: Redis,
  shard: number,
  { now, behindMsMax }: { now: number; behindMsMax: number },
): Promise<number> {
  return (await runScript(redis, CATCH_UP, [shardBase(shard)], [Math.floor(now), behindMsMax])) as number
}

/** Epoch ms as the shard's scripts see it. */
export async function readNow(redis: Redis, shard: number): Promise<number> {
  return (await runScript(redis, READ_NOW, [shardBase(shard)], [])) as number
}

/** Epoch ms, with fractions, of the master whose clock is the furthest behind. */
export async function readSlowestTime(redis: Redis): Promise<number> {
  const times = await Promise.all(mastersOf(redis).map((master) => master.time()))
  if (times.length === 0) throw new Error('Connection is closed.')
  return Math.min(
    ...times.map(([seconds, microseconds]) => Number(seconds) * 1_000 + Number(microseconds) / 1_000),
  )
}
