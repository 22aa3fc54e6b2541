/**
 * Checkpoints of dispatch jobs: what a run has settled, kept in Redis. A worker that takes a job over then repeats only
 * the last moment. A checkpoint is read when a later start begins, written while a run lasts, and removed with its job.
 */
import type { DispatchRun } from '@fantail/jobs'
import type { Logger } from '@fantail/runtime'
import { type LaneStore, shardBase } from '@fantail/store'
import type { JobRun } from './job-run.ts'
import type { Parking } from './parking.ts'
import type { RunRetries } from './run-retries.ts'
import { type SettledUnit, type Stands, settledField } from './slot-copies.ts'

const CHECKPOINT_MS = 25
/**
 * @limit Ended jobs whose checkpoints a worker still has to delete. Past it: all are left to expire after a day.
 */
const CHECKPOINTED_MAX = 10_000

export interface CheckpointsOptions {
  lanes: Pick<LaneStore, 'openCheckpoint' | 'deleteCheckpoints' | 'keepFence' | 'park'>
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

  /** Runs in hand. */
  get runs(): number {
    return this.#runs.size
  }

  begin(run: JobRun): void {
    this.#runs.set(run.key, run)
    this.#arm()
  }

  end(run: JobRun): void {
    if (this.#runs.get(run.key) === run) this.#runs.delete(run.key)
    const shards = run.touchedShards()
    if (shards.size === 0) return
    // Until the job is completed, which it is elsewhere where it went to another worker.
    if (this.#written.size >= CHECKPOINTED_MAX) this.#written.clear()
    this.#written.set(run.key, shards)
  }

  /**
   * The job is gone from Redis: so go its checkpoints, here best-effort, else when their day is over. The fence of one
   * that was taken over stays: the worker it was taken from may only have been frozen, and still hold an attempt of it.
   */
  async completed({ key, fence }: Pick<DispatchRun, 'key' | 'fence'>): Promise<void> {
    const shards = this.#written.get(key)
    if (!shards) return
    this.#written.delete(key)
    try {
      const { lanes } = this.#options
      const close = (shard: number) =>
        fence > 1 ? lanes.keepFence(shard, key, fence) : lanes.deleteCheckpoints(shard, [key])
      await Promise.all([...shards].map(close))
    } catch (error) {
      this.#options.log.debug({ err: error, job: key }, 'checkpoint.left_to_expire')
    }
  }

  /** Once per shard and run: stores this run's fence, which makes earlier runs stale, and reads what they settled. */
  restore(run: JobRun, shard: number): Promise<void> {
    const shards = this.#restoring.get(run) ?? new Map<number, Promise<void>>()
    this.#restoring.set(run, shards)
    const running = shards.get(shard) ?? this.#open(run, shard)
    shards.set(shard, running)
    return running
  }

  /** Written when it resolves, unless the run is lost. */
  async note(run: JobRun, shard: number, notes: [name: string, text: string][]): Promise<void> {
    run.touch(shard)
    await this.#write(
      run,
      shard,
      notes.map(([name, text]) => [name, Buffer.from(text)]),
    )
  }

  /** All that the run has settled is written when it resolves, or on its way, unless the run is lost. */
  async save(run: JobRun): Promise<void> {
    for (const shard of run.dirtyShards()) {
      await this.#write(run, shard, run.checkpointFields(shard))
      if (!run.lost) run.checkpointed(shard)
    }
  }

  /**
   * For a run that has ended. If some of its copies may be gone, the run writes what else is settled before it is lost.
   * Nothing here holds a message, because jobs that cannot be completed are remembered for long.
   */
  saveBeforeLoss(run: JobRun): void {
    const { key, fence, copies } = run
    if (!copies.hasUnnamed) return
    const units = Map.groupBy(run.settledBesideCopies(), ({ shard }) => shard)
    const save = async (shard: number, settled: SettledUnit[], stands: Stands) => {
      if (!(await copies.proveIn(shard))) return
      const fields = settled.map((unit) => settledField(unit, stands))
      await this.#options.lanes.park(shard, {
        messages: [],
        jobs: [{ job: key, fence, fields, entries: [] }],
      })
    }
    copies.beforeLoss(async (stands) => {
      await Promise.all([...units].map(([shard, settled]) => save(shard, settled, stands)))
    })
  }

  async #write(run: JobRun, shard: number, fields: [string, Buffer][]): Promise<void> {
    const request = { messages: [], jobs: [{ job: run.key, fence: run.fence, fields, entries: [] }] }
    const result = await this.#options.retries.untilDone(run, async () => {
      const proven = run.copies.proveIn(shard)
      if (proven !== true && !(await proven)) return undefined
      return this.#options.lanes.park(shard, request)
    })
    if (result?.jobs[0]?.stale !== false) run.lost = true
  }

  async #open(run: JobRun, shard: number): Promise<void> {
    const { lanes, retries } = this.#options
    const found = await retries.untilDone(run, async () => {
      const mark = run.copies.mark(shardBase(shard))
      return { ...(await lanes.openCheckpoint(shard, run.key, run.fence)), mark }
    })
    if (!found || found.stale) run.lost = true
    else run.restore(shard, found.fields)
    if (found && found.fields.size > 0) run.copies.opened(shard, run.fence, found.mark)
  }

  /** A run that lasts longer than a moment writes what it has settled. */
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
