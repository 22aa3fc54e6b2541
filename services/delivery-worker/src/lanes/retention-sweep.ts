/**
 * Finds expired deliveries once a minute, in one worker. It reads lanes that no take reaches (paused, or far behind a
 * throttle). If a lane has no dead-letter queue, the script removes and counts its expired deliveries. Otherwise they
 * are claimed, declared dead, and dead-lettered here like any other. In a FIFO group only the first delivery can
 * expire, so a shard is swept again until nothing more is claimed.
 */
import { createLoop, createStateLog, type Logger, type WakeableLoop } from '@fantail/runtime'
import { type Lanes, passingTime, SHARDS_AT_ONCE, type SweepResult } from '@fantail/store'
import type { ShardClocks } from '../clocks/shard-clocks.ts'

const RETENTION_SWEEP_MS = 60_000
/** The most deliveries that one round trip claims over all shards. */
const DELIVERIES_PER_TRIP = 200
/** Lease of a delivery that the sweep claims as dead. After it: the delivery waits again. */
const SWEEP_LEASE_MS = 15_000
/** Rounds of one sweep. Past it: the next sweep continues. */
const SWEEP_ROUNDS_MAX = 1_000
/** About the time that it takes to dead-letter a delivery. */
const BETWEEN_ROUNDS_MS = 20

/** The part of a shard that is swept next. */
interface SweepPage {
  shard: number
  cursor: string | null
}

interface RetentionSweepOptions {
  lanes: Pick<Lanes, 'sweep'>
  log: Logger
  /** Learns the times of the replies. A dead letter then never seems older than the end of its retention. */
  clocks: Pick<ShardClocks, 'report'>
  /** Dead-letters the claims of one page, and records the deliveries that were removed. */
  beginClaims(shard: number, result: SweepResult): Promise<void>
  /** Sends all commands of `ask` in one round trip. */
  inOneWrite<T>(ask: () => T): T
  /** Shards that have anything to sweep. */
  shards(): Promise<number[]>
  /** Returns true in one process at a time. */
  isLeader(): Promise<boolean>
}

export interface RetentionSweep extends WakeableLoop {
  /** Called when time travel has moved the time. A sweep follows if one is due now. */
  moved(): void
  /** Whether a sweep runs or follows at once. */
  readonly isBusy: boolean
}

export function createRetentionSweep(options: RetentionSweepOptions): RetentionSweep {
  const { lanes, log, clocks, beginClaims, inOneWrite, shards, isLeader } = options
  let isBusy = false
  let sweptAt = passingTime.now()
  const reportShards = createStateLog({ log, what: 'retention_sweep_shards', initial: 'up' })
  const loop = createLoop({ name: 'retention_sweep', log, round })
  return {
    ...loop,
    moved() {
      if (passingTime.now() - sweptAt < RETENTION_SWEEP_MS) return
      isBusy = true
      loop.wake()
    },
    get isBusy() {
      return isBusy
    },
  }

  async function round(signal: AbortSignal): Promise<number> {
    isBusy = true
    sweptAt = passingTime.now()
    try {
      if (!(await isLeader())) return RETENTION_SWEEP_MS / 2
      await sweepShards(await shards(), signal)
      return RETENTION_SWEEP_MS
    } finally {
      isBusy = false
    }
  }

  /** If a shard cannot be swept, the others still are. It is tried again with the next sweep. */
  async function sweepShards(all: number[], signal: AbortSignal): Promise<void> {
    const failed = new Map<number, unknown>()
    for (let at = 0; at < all.length; at += SHARDS_AT_ONCE)
      await sweepUntilDone(all.slice(at, at + SHARDS_AT_ONCE), failed, signal)
    const [error] = failed.values()
    if (failed.size > 0 && failed.size === all.length) throw error
    reportShards(failed.size === 0 ? 'up' : 'down', error)
  }

  async function sweepUntilDone(
    some: number[],
    failed: Map<number, unknown>,
    signal: AbortSignal,
  ): Promise<void> {
    let left = await sweepOnce(some, failed, signal)
    for (let round = 1; round < SWEEP_ROUNDS_MAX && left.length > 0; round++) {
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_ROUNDS_MS))
      left = await sweepOnce(left, failed, signal)
    }
  }

  /** Resolves with the shards in which a delivery was claimed. */
  async function sweepOnce(
    some: number[],
    failed: Map<number, unknown>,
    signal: AbortSignal,
  ): Promise<number[]> {
    const claimed = new Set<number>()
    let pages: SweepPage[] = some.map((shard) => ({ shard, cursor: null }))
    while (pages.length > 0) {
      if (signal.aborted) return []
      const results = await sweepPages(pages, failed)
      for (const { shard, result } of results) if (result.lanes.length > 0) claimed.add(shard)
      pages = results.flatMap(({ shard, result: { cursor } }) => (cursor === null ? [] : { shard, cursor }))
    }
    return [...claimed]
  }

  /** All pages go in one round trip, because nearly all of them find nothing. */
  async function sweepPages(
    pages: SweepPage[],
    failed: Map<number, unknown>,
  ): Promise<{ shard: number; result: SweepResult }[]> {
    const deliveriesMax = Math.ceil(DELIVERIES_PER_TRIP / pages.length)
    const asked = inOneWrite(() =>
      pages.map(({ shard, cursor }) =>
        lanes.sweep(shard, { cursor, deliveriesMax, leaseMs: SWEEP_LEASE_MS }),
      ),
    )
    const done = asked.map(async (answer, i) => {
      const { shard } = pages[i] as SweepPage
      try {
        const result = await answer
        clocks.report(shard, result.now)
        await beginClaims(shard, result)
        return [{ shard, result }]
      } catch (error) {
        failed.set(shard, error)
        return []
      }
    })
    return (await Promise.all(done)).flat()
  }
}
