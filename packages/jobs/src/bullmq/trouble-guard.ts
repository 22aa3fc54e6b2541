/**
 * Keeps a BullMQ worker from spinning while Redis answers but refuses to work (full, read-only, loading, …).
 * Calm → troubled on such an error: the worker is paused; a write probes every 0.1 to 2 s; the first that succeeds
 * resumes the worker. One log line for each of the two changes.
 */

import { isCluster, isTrouble, writeMark } from '@fantail/store'
import type { Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { ConsumerLog } from '../consuming/consumer-log.ts'
import { queuePrefix } from './bull.ts'

/** @limit First pause before a troubled Redis is probed. The pause doubles with each probe. */
const PROBE_MS_MIN = 100
/** @limit Longest pause between two probes of a troubled Redis. */
const PROBE_MS_MAX = 2_000

/** The part of a worker that the guard uses. */
type Pausable = Pick<Worker, 'pause' | 'resume' | 'name'>

export class TroubleGuard {
  readonly #worker: Pausable
  readonly #redis: Redis
  readonly #log: ConsumerLog
  #timer: NodeJS.Timeout | undefined
  #troubled = false
  #stopped = false

  constructor(worker: Pausable, redis: Redis, log: ConsumerLog) {
    this.#worker = worker
    this.#redis = redis
    this.#log = log
  }

  /** True where the error is trouble, and so is being dealt with. */
  notice(error: Error): boolean {
    if (!isTrouble(error)) return false
    if (!this.#troubled && !this.#stopped) {
      this.#troubled = true
      this.#log.warn({ queue: this.#worker.name, error: error.message }, 'redis.refuses_writes')
      void this.#worker.pause(true)
      this.#probeIn(PROBE_MS_MIN)
    }
    return true
  }

  /** A worker that is to close is not resumed. */
  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #probeIn(delayMs: number): void {
    if (!this.#stopped) this.#timer = setTimeout(() => void this.#probe(delayMs), delayMs)
  }

  async #probe(delayMs: number): Promise<void> {
    try {
      await probe(this.#redis, `${queuePrefix(this.#worker.name)}:probe`)
    } catch {
      // Still in trouble, which was logged when it began.
      this.#probeIn(Math.min(delayMs * 2, PROBE_MS_MAX))
      return
    }
    if (this.#stopped) return
    this.#troubled = false
    this.#log.info({ queue: this.#worker.name }, 'redis.takes_writes_again')
    await this.#worker.resume()
  }
}

async function probe(redis: Redis, key: string): Promise<void> {
  // A worker's scripts also run when memory is full, so the probe must not wait for free memory.
  await writeMark(redis, key)
  // While the slot moves between masters a single key can be written, and BullMQ's scripts, of many keys, are refused.
  if (isCluster(redis)) await redis.exists(`${key}~`, `${key}~~`)
}
