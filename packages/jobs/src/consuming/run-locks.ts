/**
 * Locks of the jobs that this process runs. BullMQ renews them. A lock may expire in an outage or while the process is
 * frozen. It is then taken again here, unless another worker has started the job since.
 */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { holdJobLock, type Redis } from '@fantail/store'
import { LOCK_MS } from '../bullmq/bull.ts'
import type { RunEntry } from './run-entries.ts'

/**
 * How long to wait for BullMQ's answer to a later start of the job. After a freeze this time is over before the process
 * has read its sockets, so one more turn of the event loop follows.
 */
const ANSWER_MS = 100

export class RunLocks {
  readonly #queueNumber: number
  readonly #redis: Redis
  readonly #onError: (error: Error) => void
  readonly #answered: () => Promise<unknown>

  /** `answered`: resolves when BullMQ's answer to a later start would have come. */
  constructor(
    queueNumber: number,
    redis: Redis,
    onError: (error: Error) => void,
    answered: () => Promise<unknown> = () => delay(ANSWER_MS).then(() => nextTurn()),
  ) {
    this.#queueNumber = queueNumber
    this.#redis = redis
    this.#onError = onError
    this.#answered = answered
  }

  /**
   * Must be called before completing. It takes a lock again that expired while Redis could not be reached, since BullMQ
   * refuses to complete without it.
   */
  async hold(entry: RunEntry): Promise<void> {
    if (performance.now() - entry.since > LOCK_MS / 2) await this.retake(entry)
  }

  /** Takes the lock again before BullMQ's stalled check gives a running job to another worker. Never rejects. */
  async retake(entry: RunEntry): Promise<void> {
    if (entry.lost) return
    const { id, token, starts: start, addedAt } = entry
    try {
      // A job that another worker has completed no longer exists. A job that another worker has started is not ours,
      // even if that worker has died and the lock is free. With that lock, this process would complete a job of which
      // it settled only a part.
      const job = { queue: this.#queueNumber, id, start, addedAt, token }
      const holder = await holdJobLock(this.#redis, job, LOCK_MS)
      // This process may have started the job once more. That start adopts the run when BullMQ's answer comes.
      if (holder !== 'other') return
      // A process that was frozen may read that answer later than this reply. The lock has expired again by then.
      await this.#answered()
      // If a later start in this process has adopted the run, the lock is that start's.
      if (entry.token === token) entry.lost = true
    } catch (error) {
      this.#onError(error as Error)
    }
  }
}
