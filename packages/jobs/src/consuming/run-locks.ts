/**
 * Locks of the jobs that this process runs. BullMQ renews them. A lock that ran out, in an outage or while the process
 * was frozen, is taken again here, unless another worker has started the job since.
 */
import { holdJobLock, type Redis } from '@fantail/store'
import { LOCK_MS } from '../bullmq/bull.ts'
import type { RunEnd, RunName } from './dispatch-run.ts'
import type { RunCopies } from './run-copies.ts'

export interface RunEntry {
  id: string
  /** When the job was added (epoch ms): a number may be given again where Redis has lost its last moments. */
  addedAt: number
  /** Only the name and the copies, because the entry of a job that could not be completed is kept for long. */
  run: RunName
  /** The lock token of the latest start. */
  token: string
  /** How often the job had been started then, this run's own start included. */
  starts: number
  since: number
  /** False for a part of which nothing was to be done. */
  begun: boolean
  lost: boolean
  /** Everything that the run has written elsewhere. */
  copies: RunCopies
  done: Promise<RunEnd>
}

export class RunLocks {
  readonly #queueNumber: number
  readonly #redis: Redis
  readonly #onError: (error: Error) => void

  constructor(queueNumber: number, redis: Redis, onError: (error: Error) => void) {
    this.#queueNumber = queueNumber
    this.#redis = redis
    this.#onError = onError
  }

  /** Before completing: a lock that ran out while Redis was away is taken again (BullMQ refuses without it). */
  async hold(entry: RunEntry): Promise<void> {
    if (performance.now() - entry.since > LOCK_MS / 2) await this.retake(entry)
  }

  /** Runs before the stalled check hands a running job to another worker. Never rejects. */
  async retake(entry: RunEntry): Promise<void> {
    if (entry.lost) return
    const { id, token, starts: start, addedAt } = entry
    try {
      // A job that another worker has completed no longer exists. A job that another worker has started is not ours,
      // even if that worker died. Its lock would be free, and with it this process would complete a job of which it
      // settled only a part.
      const job = { queue: this.#queueNumber, id, start, addedAt, token }
      if (await holdJobLock(this.#redis, job, LOCK_MS)) return
      // Unless a later start of our own has adopted the run meanwhile: then the lock is that one's.
      if (entry.token === token) entry.lost = true
    } catch (error) {
      this.#onError(error as Error)
    }
  }
}
