/** One run of a purge. It removes page after page until the task is done, paused or canceled. */
import type { RedriveStatus } from '@fantail/contracts'
import type { RedriveBatches, RedriveRun, Redrives } from '@fantail/store'

/**
 * The status of a task that is paused or has ended. `stopped`: the process stops, and the task continues elsewhere.
 * `stale`: another run took the task over. `nothing`: the task must not be run.
 */
export type RunResult = RedriveStatus | 'stopped' | 'stale' | 'nothing'

interface RunPurgeDeps {
  redrives: Pick<Redrives, 'get'>
  batches: Pick<RedriveBatches, 'purge'>
  /** Called after every page that has removed something. */
  onPurged?: (removed: number) => void
}

export async function runPurge(
  { redrives, batches, onPurged }: RunPurgeDeps,
  run: RedriveRun,
  signal: AbortSignal,
): Promise<RunResult> {
  while (!signal.aborted) {
    const { removed, next } = await batches.purge(run)
    if (removed > 0) onPurged?.(removed)
    if (next === 'stop') return (await redrives.get(run.id))?.status ?? 'nothing'
    if (next === 'stale') return 'stale'
  }
  return 'stopped'
}
