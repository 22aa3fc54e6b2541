/** Redis's time. On a cluster each master has its own clock. A shard uses that of its master. */
import type { Redis } from 'ioredis'
import { shardBase } from '../keys/shards.ts'
import { mastersOf } from './connections/cluster.ts'
import { readScript, runScript } from './scripts.ts'

const READ_NOW = readScript('read-now-1')

const CATCH_UP = readScript('catch-up-1')

/** By how many ms the shard's time was corrected, and how far it is ahead of Redis's clock now. */
interface CaughtUp {
  madeUpMs: number
  aheadMs: number
}

/** Sets the shard's time to `now` (epoch ms) if it is more than `behindMsMax` behind. */
export function catchUp(
  redis: Redis,
  shard: number,
  { now, behindMsMax }: { now: number; behindMsMax: number },
): Promise<CaughtUp> {
  return runCatchUp(redis, shard, { knownMs: Math.floor(now), behindMsMax, aheadMs: null })
}

/** Makes the shard at least `aheadMs` ahead of Redis's clock, like another shard that uses the same clock. */
export function catchUpWith(redis: Redis, shard: number, aheadMs: number): Promise<CaughtUp> {
  return runCatchUp(redis, shard, { knownMs: null, behindMsMax: 0, aheadMs })
}

interface KnownTime {
  knownMs: number | null
  behindMsMax: number
  aheadMs: number | null
}

async function runCatchUp(redis: Redis, shard: number, known: KnownTime): Promise<CaughtUp> {
  const reply = await runScript(redis, CATCH_UP, { base: shardBase(shard), ...known })
  const [madeUpMs, aheadMs] = reply as [number, number]
  return { madeUpMs, aheadMs }
}

/** Epoch ms as the shard's scripts see it. */
export async function readNow(redis: Redis, shard: number): Promise<number> {
  return (await runScript(redis, READ_NOW, { base: shardBase(shard) })) as number
}

/** Epoch ms, with fractions, of the master whose clock is furthest behind. */
export async function readSlowestTime(redis: Redis): Promise<number> {
  const times = await Promise.all(mastersOf(redis).map((master) => master.time()))
  if (times.length === 0) throw new Error('Connection is closed.')
  return Math.min(
    ...times.map(([seconds, microseconds]) => Number(seconds) * 1_000 + Number(microseconds) / 1_000),
  )
}
