/**
 * Runs bulk tasks in an API process. Every process looks for tasks that nobody works on, and claims them. A process
 * that stops or dies loses its claims, and another one continues at the open batch (store/src/bulk/bulk-tasks.ts).
 */
import { auditLog, type Key, reportChange } from '@fantail/access'
import type { BulkTask } from '@fantail/contracts'
import { createLoop, type Logger, type WakeableLoop } from '@fantail/runtime'
import { BULK_LEASE_MS, type BulkClaim, type BulkOutcome, type OpenBatch, sideBySide } from '@fantail/store'
import type { ApiDeps } from '../deps/api-deps.ts'
import { toFantailError } from '../http/error-answers.ts'
import { eraseStep, existingObjects } from './erase-steps.ts'
import { LANE_STEPS } from './lane-steps.ts'
import type { RedriveObject } from './plan-bulk.ts'
import { type Hold, redriveLanes, TaskLeftError } from './redrive-step.ts'

/** Tasks that one process runs at a time. Past it: the others wait for it or for other processes. */
const TASKS_AT_ONCE = 4
/** Between two looks for tasks. A task that this process has started begins at once. */
const BULK_LOOK_MS = 5_000
/** Steps of one batch at a time. */
const BULK_STEPS_AT_ONCE = 8
/** Between two looks at something that a step waits for. */
const HOLD_MS = 250

export class BulkRunner {
  readonly #deps: ApiDeps
  readonly #running = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  readonly #loop: WakeableLoop

  constructor(deps: ApiDeps, log: Pick<Logger, 'info' | 'warn'>) {
    this.#deps = deps
    this.#loop = createLoop({ name: 'bulk_tasks', log, round: () => this.#claimTasks() })
  }

  start(): void {
    this.#loop.start()
  }

  wake(): void {
    this.#loop.wake()
  }

  /** Resolves when the present batches have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop.stop()
    await Promise.all(this.#running)
  }

  async #claimTasks(): Promise<number> {
    while (this.#running.size < TASKS_AT_ONCE) {
      const claim = await this.#deps.bulk.claim()
      if (!claim) break
      const run: Promise<void> = this.#run(claim).finally(() => {
        this.#running.delete(run)
        this.wake()
      })
      this.#running.add(run)
    }
    return BULK_LOOK_MS
  }

  /** Never rejects. After a failure of Redis the claim ends, and the task is claimed again. */
  async #run(claim: BulkClaim): Promise<void> {
    const { bulk, log } = this.#deps
    try {
      const task = await bulk.get(claim.id)
      if (!task) return
      let status: BulkTask['status'] | null = task.status
      while ((status === 'running' || status === 'canceling') && !this.#stopping.signal.aborted) {
        status = await this.#runBatch(claim, task)
      }
      if (status === 'completed' || status === 'canceled') await this.#report(claim.id)
    } catch (error) {
      if (error instanceof TaskLeftError) return
      log.warn({ err: error, task: claim.id }, 'bulk.postponed')
    }
  }

  async #runBatch(claim: BulkClaim, task: BulkTask): Promise<BulkTask['status'] | null> {
    const { bulk } = this.#deps
    let batch = await bulk.open(claim)
    if (batch?.status === 'running' && !batch.before)
      batch = await bulk.open(claim, await this.#statuses(task, batch))
    if (!batch) return null
    // A batch that has begun is finished also while the task is canceled, so that an undo knows what it has changed.
    if (batch.status !== 'running' && !batch.before) return bulk.settle(claim, [], [])
    const { objects, before = {} } = batch
    let isLost = false
    // If a renewal fails, the end of the batch does too, or the claim still holds.
    const renew = async () => {
      if ((await bulk.open(claim)) === null) isLost = true
    }
    const renewal = setInterval(() => void renew().catch(() => undefined), BULK_LEASE_MS / 4)
    const act = async (object: string) => {
      if (isLost) throw new TaskLeftError()
      return this.#step({ claim, task, object, before: before[object] })
    }
    try {
      const sequences = [...Map.groupBy(objects, (object) => sequenceOf(task, object)).values()]
      const outcomes = await sideBySide(sequences, BULK_STEPS_AT_ONCE, (sequence) =>
        sideBySide(sequence, 1, act),
      )
      return await bulk.settle(claim, sequences.flat(), outcomes.flat())
    } finally {
      clearInterval(renewal)
    }
  }

  /** A pause or resume must know how its objects were, and an erasure which of them existed. */
  async #statuses({ action }: BulkTask, { objects }: OpenBatch): Promise<Record<string, string>> {
    if (action === 'erase') return existingObjects(this.#deps, objects)
    if (action !== 'pause' && action !== 'resume') return {}
    const found = await Promise.all(objects.map((id) => this.#deps.subscriptions.getReadable(id)))
    return Object.fromEntries(
      found.flatMap((record) => (record ? [[record.id, record.status] as const] : [])),
    )
  }

  async #step(step: {
    claim: BulkClaim
    task: BulkTask
    object: string
    before: string | undefined
  }): Promise<BulkOutcome> {
    const { claim, task, object, before } = step
    try {
      switch (task.action) {
        case 'redrive': {
          const { maxPerSecond } = task
          return await redriveLanes(this.#deps, object, { maxPerSecond, hold: this.#hold(claim) })
        }
        case 'erase':
          return await eraseStep(this.#deps, { task, object, before, hold: this.#hold(claim) })
        default:
          return await LANE_STEPS[task.action](this.#deps, { id: object, task, before })
      }
    } catch (error) {
      return { failure: { object, ...this.#failureOf(error, task) } }
    }
  }

  /**
   * A failure of Redis ends the run, so that the batch is repeated. An erasure also waits for memory, because nobody
   * could find the rest later. Any other failure is about the object.
   */
  #failureOf(error: unknown, { action }: BulkTask): { code: string; message: string } {
    const { code, message } = toFantailError(error)
    const waits = code === 'storage_unavailable' || (code === 'storage_full' && action === 'erase')
    if (waits || error instanceof TaskLeftError) throw error
    if (code === 'internal') this.#deps.log.error({ err: error }, 'bulk.step_failed')
    return { code, message }
  }

  #hold({ id, fence }: BulkClaim): Hold {
    return async (waitMs = HOLD_MS) => {
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      const batch = await this.#deps.bulk.open({ id, fence })
      if (!batch || this.#stopping.signal.aborted) throw new TaskLeftError()
      return batch.status === 'running'
    }
  }

  /** The audit log has a line of the start, and this one of the end. */
  async #report(id: string): Promise<void> {
    const task = await this.#deps.bulk.get(id)
    if (!task) return
    const { action, status, done, failed, key, results } = task
    this.#deps.log.info({ task: id, action, status, done, failed, ...results }, 'bulk.ended')
    const caller = key && actingKey(key)
    const params = { id, action, status, done: String(done), failed: String(failed) }
    reportChange(auditLog(this.#deps), { caller, requestId: id, action: 'bulk ended', params, status: 200 })
  }
}

/** Its steps follow each other: those of an erasure have an order, and a queue has one redrive at a time. */
function sequenceOf({ action }: BulkTask, object: string): string {
  if (action === 'erase') return action
  return action === 'redrive' ? (JSON.parse(object) as RedriveObject).queueArn : object
}

/** The key that planned the task, as audit lines name it. */
function actingKey({ id, account, prefixes }: NonNullable<BulkTask['key']>): Key {
  return { id, account, prefixes, kind: 'native', scopes: new Set(), limits: [] }
}
