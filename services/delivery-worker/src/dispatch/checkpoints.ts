/**
 * Keeps checkpoints of dispatch jobs in Redis. A checkpoint records which deliveries a run has settled. If another
 * worker takes the job over, it repeats only the deliveries since the last checkpoint. A run writes the checkpoint from
 * time to time. A later start of the job reads it. It is deleted together with the job.
 */
import type { DispatchRun } from '@fantail/jobs'
import type { Logger } from '@fantail/runtime'
import { type Lanes, type ServerMark, shardBase } from '@fantail/store'
import { type Holds, type SettledUnit, settledField } from '../runs/bit-copies.ts'
import type { JobRun } from '../runs/job-run.ts'
import type { Parking } from '../settling/parking.ts'
import type { RunRetries } from './run-retries.ts'

const CHECKPOINT_MS = 25
/** Ended jobs whose checkpoints a worker still has to delete. Past it: all are left to expire after a day. */
const CHECKPOINTED_MAX = 10_000

export interface CheckpointsOptions {
  lanes: Pick<Lanes, 'openCheckpoint' | 'deleteCheckpoints' | 'keepFence' | 'park'>
  parking: Pick<Parking, 'checkpoint'>
  retries: RunRetries
  log: Logger
}

export class Checkpoints {
  readonly #options: CheckpointsOptions
  readonly #runs = new Map<string, JobRun>()
  readonly #restoring = new WeakMap<JobRun, Map<number, Promise<void>>>()
  /** Shards with checkpoints of jobs that are not completed. */
  readonly #written = new Map<string, Set<number>>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: CheckpointsOptions) {
    this.#options = options
  }

  /** Number of runs that have not ended. */
  get runs(): number {
    return this.#runs.size
  }

  begin(run: JobRun): void {
    this.#runs.set(run.jobName, run)
    this.#arm()
  }

  end(run: JobRun): void {
    if (this.#runs.get(run.jobName) === run) this.#runs.delete(run.jobName)
    const shards = run.touchedShards()
    if (shards.size === 0) return
    // An entry stays until the job is completed. If another worker completes the job, this process never learns of it.
    // So the number of entries is limited.
    if (this.#written.size >= CHECKPOINTED_MAX) this.#written.clear()
    this.#written.set(run.jobName, shards)
  }

  /**
   * Called when the job is gone from Redis. Its checkpoints are deleted here if possible, or else expire after a day.
   * If the job was taken over, the fence stays. The earlier worker may only have been frozen, and still have an attempt
   * of the job.
   */
  async completed({ jobName, fence }: Pick<DispatchRun, 'jobName' | 'fence'>): Promise<void> {
    const shards = this.#written.get(jobName)
    if (!shards) return
    this.#written.delete(jobName)
    try {
      const { lanes } = this.#options
      const close = (shard: number) =>
        fence > 1 ? lanes.keepFence(shard, jobName, fence) : lanes.deleteCheckpoints(shard, [jobName])
      await Promise.all([...shards].map(close))
    } catch (error) {
      this.#options.log.debug({ err: error, job: jobName }, 'checkpoint.delete_failed')
    }
  }

  /**
   * Runs once per shard and run. It stores this run's fence, which makes earlier runs stale, and reads their settled
   * deliveries.
   */
  restore(run: JobRun, shard: number): Promise<void> {
    const shards = this.#restoring.get(run) ?? new Map<number, Promise<void>>()
    this.#restoring.set(run, shards)
    const running = shards.get(shard) ?? this.#open(run, shard)
    shards.set(shard, running)
    return running
  }

  /**
   * Resolves when the notes are written, or when the run is lost. `mark`: of a copy that must exist while the notes do.
   */
  async note(
    run: JobRun,
    shard: number,
    notes: [name: string, text: string][],
    mark?: ServerMark,
  ): Promise<void> {
    run.touch(shard)
    const fields = notes.map(([name, text]): [string, Buffer] => [name, Buffer.from(text)])
    const jobs = [{ jobName: run.jobName, fence: run.fence, fields, entries: [] }]
    const result = await this.#options.retries.untilDone(run, async () => {
      const proven = run.copies.proveIn(shard)
      if (proven !== true && !(await proven)) return undefined
      if (mark && !mark.holds()) return undefined
      return this.#options.lanes.park(shard, { messages: [], jobs })
    })
    if (result?.jobs[0]?.stale !== false) run.lost = true
  }

  /**
   * Resolves when everything that the run has settled is stored in Redis, or when the run is lost. The write waits
   * until no park of the shard is under way. Before its park succeeds, a delivery counts as settled but may still
   * fail.
   */
  async save(run: JobRun): Promise<void> {
    const written = (shard: number) =>
      new Promise<void>((resolve) => this.#options.parking.checkpoint(shard, run, resolve))
    await Promise.all([...run.dirtyShards()].map(written))
  }

  /**
   * Must be called when a run has ended. If some of its copies may be gone, the run saves everything else that is
   * settled before it is lost. What is kept for this has no message texts, because jobs that cannot be completed are
   * remembered for long.
   */
  saveBeforeLoss(run: JobRun): void {
    const { jobName, fence, copies } = run
    if (!copies.hasUnnamed) return
    const units = Map.groupBy(run.settledBesideCopies(), ({ shard }) => shard)
    const save = async (shard: number, settled: SettledUnit[], holds: Holds) => {
      if (!(await copies.proveIn(shard))) return
      const fields = settled.map((unit) => settledField(unit, holds))
      await this.#options.lanes.park(shard, {
        messages: [],
        jobs: [{ jobName, fence, fields, entries: [] }],
      })
    }
    copies.beforeLoss(async (holds) => {
      await Promise.all([...units].map(([shard, settled]) => save(shard, settled, holds)))
    })
  }

  async #open(run: JobRun, shard: number): Promise<void> {
    const { lanes, retries } = this.#options
    const found = await retries.untilDone(run, async () => {
      const mark = run.copies.mark(shardBase(shard))
      return { ...(await lanes.openCheckpoint(shard, run.jobName, run.fence)), mark }
    })
    if (found?.unreadable) this.#options.log.error({ shard, job: run.jobName }, 'checkpoint.unreadable')
    if (!found || found.stale) run.lost = true
    else run.restore(shard, found)
    if (found && found.fields.size > 0) run.copies.opened(shard, run.fence, found.mark)
  }

  /** Starts the timer by which longer runs write their settled deliveries from time to time. */
  #arm(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      const before = performance.now() - CHECKPOINT_MS
      for (const run of this.#runs.values()) {
        if (run.startedAt > before || run.lost) continue
        for (const shard of run.shardsToCheckpoint()) this.#options.parking.checkpoint(shard, run)
      }
      if (this.#runs.size > 0) this.#arm()
    }, CHECKPOINT_MS)
  }
}
