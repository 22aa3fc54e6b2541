/**
 * Once a minute, one worker looks for deliveries that have become too old in lanes that nobody takes from (paused,
 * throttled far behind): without a dead-letter queue the script removes and counts them, with one they come back
 * claimed, marked dead, and are buried here like any other. Of a FIFO group only the first can be: a shard in which
 * something was claimed is swept again, until nothing is.
 */
import { createLoop, type Logger, type WakeableLoop } from '@fantail/runtime'
import type { LaneStore, SweepResult } from '@fantail/store'

const SWEEP_MS = 60_000
const DELIVERIES_PER_STEP = 200
const LEASE_MS = 15_000
const ROUNDS_MAX = 1_000
/** About what a burial takes. */
const BETWEEN_ROUNDS_MS = 20

export interface RetentionSweepOptions {
  lanes: LaneStore
  log: Logger
  /** Buries the claims of one step and records what was removed. */
  handOn(shard: number, result: SweepResult): Promise<void>
  /** Shards that have anything to sweep. */
  shards(): Promise<number[]>
  /** True for one process at a time. */
  isLeader(): Promise<boolean>
}

export function createRetentionSweep(options: RetentionSweepOptions): WakeableLoop {
  const { lanes, log, handOn, shards, isLeader } = options
  return createLoop({
    name: 'retention_sweep',
    log,
    turn: async (signal) => {
      if (!(await isLeader())) return SWEEP_MS / 2
      for (const shard of await shards()) {
        for (let round = 0; round < ROUNDS_MAX && (await sweepShard(shard, signal)); round++) {
          await new Promise((resolve) => setTimeout(resolve, BETWEEN_ROUNDS_MS))
        }
      }
      return SWEEP_MS
    },
  })

  /** True where anything was claimed. */
  async function sweepShard(shard: number, signal: AbortSignal): Promise<boolean> {
    let cursor: string | null = null
    let claimed = false
    do {
      if (signal.aborted) return false
      const request = { cursor, deliveriesMax: DELIVERIES_PER_STEP, leaseMs: LEASE_MS }
      const result: SweepResult = await lanes.sweep(shard, request)
      await handOn(shard, result)
      claimed ||= result.lanes.length > 0
      cursor = result.cursor
    } while (cursor !== null)
    return claimed
  }
}
