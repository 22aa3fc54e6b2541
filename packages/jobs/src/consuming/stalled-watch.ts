/**
 * How often BullMQ's worker looks for jobs whose worker has died: often while any worker has a job in hand, else
 * seldom. BullMQ reads the interval anew with each check, and keeps all workers from checking for as long: a pause that
 * an idle worker has set is ended here.
 */
import { batch, type Redis, replies } from '@fantail/store'
import type { Worker } from 'bullmq'
import { queuePrefix, STALLED_BUSY_MS } from '../bullmq/bull.ts'

/** Between looks for jobs of dead workers while no worker has a job: `watch` ends the pause when one has. */
const STALLED_UNUSED_MS = 60_000

interface StalledWatchOptions {
  /** Name of the dispatch queue. */
  queue: string
  redis: Redis
  worker: Pick<Worker, 'opts' | 'startStalledCheckTimer'>
  /** Some jobs have failed in BullMQ's sense. A rejection is reported and does not stop the search. */
  takeFailed(): Promise<void>
  onError(error: Error): void
}

export class StalledWatch {
  readonly #options: StalledWatchOptions
  readonly #base: string
  /** Looks for jobs of dead workers often, as far as is known. */
  #isWatching = false

  constructor(options: StalledWatchOptions) {
    this.#options = options
    this.#base = `${queuePrefix(options.queue)}:${options.queue}`
  }

  /** To be called once a second. What an outage kept from being done is done at the next call. Never rejects. */
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
      await this.#lookOften(wasWatching)
      this.#isWatching = true
    } catch (error) {
      this.#options.onError(error as Error)
    }
  }

  async #lookOften(wasWatching: boolean): Promise<void> {
    const { redis, worker } = this.#options
    const check = `${this.#base}:stalled-check`
    // Longer where an idle worker has checked meanwhile, or where the clock of Redis was set back.
    if (wasWatching && (await redis.pttl(check)) <= STALLED_BUSY_MS) return
    worker.opts.stalledInterval = STALLED_BUSY_MS
    await redis.del(check)
    await worker.startStalledCheckTimer()
  }
}
