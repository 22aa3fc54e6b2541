/**
 * Decides how often BullMQ's worker looks for jobs whose worker has died: often while any worker has a job, otherwise
 * seldom. BullMQ reads the interval at each check, and no worker checks again within it. If an idle worker has set a
 * long pause, this code ends the pause.
 */
import { batch, type Redis, replies } from '@fantail/store'
import type { Worker } from 'bullmq'
import { queuePrefix, STALLED_BUSY_MS } from '../bullmq/bull.ts'

/** Pause between two checks while no worker has a job. `watch` ends it when a worker gets one. */
const STALLED_UNUSED_MS = 60_000

interface StalledWatchOptions {
  /** Name of the dispatch queue. */
  queue: string
  redis: Redis
  worker: Pick<Worker, 'opts' | 'startStalledCheckTimer'>
  /** Called if some jobs are among BullMQ's failed ones. A rejection is reported and does not stop the check. */
  takeFailed(): Promise<void>
  onError(error: Error): void
}

export class StalledWatch {
  readonly #options: StalledWatchOptions
  readonly #base: string
  /** Whether checks are frequent now, as far as this process knows. */
  #isWatching = false

  constructor(options: StalledWatchOptions) {
    this.#options = options
    this.#base = `${queuePrefix(options.queue)}:${options.queue}`
  }

  /** Must be called once a second. A call that an outage has prevented is repeated by the next one. Never rejects. */
  async watch(): Promise<void> {
    const wasWatching = this.#isWatching
    this.#isWatching = false
    try {
      const { opts } = this.#options.worker
      const asked = batch(this.#options.redis)
      asked.llen(`${this.#base}:active`).zcard(`${this.#base}:failed`)
      const [active, failed] = (await replies(asked)) as number[]
      if (failed) await this.#options.takeFailed().catch(this.#options.onError)
      if (active === 0) {
        opts.stalledInterval = STALLED_UNUSED_MS
        return
      }
      await this.#watchOften(wasWatching)
      this.#isWatching = true
    } catch (error) {
      this.#options.onError(error as Error)
    }
  }

  async #watchOften(wasWatching: boolean): Promise<void> {
    const { redis, worker } = this.#options
    const check = `${this.#base}:stalled-check`
    // The pause is longer if an idle worker has checked meanwhile, or if the clock of Redis was set back.
    if (wasWatching && (await redis.pttl(check)) <= STALLED_BUSY_MS) return
    worker.opts.stalledInterval = STALLED_BUSY_MS
    await redis.del(check)
    await worker.startStalledCheckTimer()
  }
}
