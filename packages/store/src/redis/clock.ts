/** Redis's time. On a cluster each master has its own, and a shard goes by that of the master that has it. */
import type { Redis } from 'ioredis'
import { mastersOf } from './cluster.ts'
import { readScript, runScript } from './scripts.ts'
import { shardBase } from './shards.ts'

const READ_NOW = readScript('read-now-1')

const CATCH_UP = readScript('catch-up-1')

/** ms that were made up for, and ms by which the shard is ahead of Redis's clock now. */
interface CaughtUp {
  madeUpMs: number
  aheadMs: number
}

/** Makes the shard's time go on from `now` (epoch ms) where it is behind that by more than `behindMsMax`. */
export function catchUp(
  redis: Redis,
  shard: number,
  { now, behindMsMax }: { now: number; behindMsMax: number },
): Promise<CaughtUp> {
  return runCatchUp(redis, shard, { knownMs: Math.floor(now), behindMsMax, aheadMs: null })
}

/** Lets the shard be no less ahead of Redis's clock than another one is that goes by the same clock. */
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

/** Epoch ms, with fractions, of the master whose clock is the furthest behind. */
export async function readSlowestTime(redis: Redis): Promise<number> {
  const times = await Promise.all(mastersOf(redis).map((master) => master.time()))
  if (times.length === 0) throw new Error('Connection is closed.')
  return Math.min(
    ...times.map(([seconds, microseconds]) => Number(seconds) * 1_000 + Number(microseconds) / 1_000),
  )
}
