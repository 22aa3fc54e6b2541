/**
 * Locks of the jobs that this process runs. BullMQ renews them; one that ran out, in an outage or while the process was
 * frozen, is taken again here, as long as nobody else has started the job since.
 */
import { holdJobLock, type Redis } from '@fantail/store'
import { LOCK_MS } from '../bullmq/bull.ts'
import type { RunEnd, RunName } from './dispatch-run.ts'

export interface RunEntry {
  id: string
  /** When the job was added (epoch ms): a number may be given again where Redis has lost its last moments. */
  addedAt: number
  /** No more than this: an entry whose job could not be completed is remembered for long. */
  run: RunName
  /** Of the latest start. */
  token: string
  /** How often the job had been started then, this run's own start included. */
  starts: number
  since: number
  lost: boolean
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

  /** Before the stalled check comes round again and hands a running job to somebody else. Never rejects. */
  async retake(entry: RunEntry): Promise<void> {
    if (entry.lost) return
    const { id, token, starts: start, addedAt } = entry
    try {
      // Of a job that another worker has completed there is none, and what another has started since is not ours though
      // it may have died: its lock would be free, and with it the job be completed, of which it had settled just a
      // part.
      const job = { queue: this.#queueNumber, id, start, addedAt, token }
      if (await holdJobLock(this.#redis, job, LOCK_MS)) return
      // Unless a later start of our own has adopted the run meanwhile: then the lock is that one's.
      if (entry.token === token) entry.lost = true
    } catch (error) {
      this.#onError(error as Error)
    }
  }
}
