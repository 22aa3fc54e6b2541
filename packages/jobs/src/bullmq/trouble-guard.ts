/**
 * Keeps a BullMQ worker from spinning while Redis answers with errors (full, read-only, loading, …). After such an
 * error the worker is paused. A write is tried every 0.1 to 2 s, and the first success resumes the worker. Each of the
 * two changes is logged once.
 */
import { isCluster, isTrouble, writeBarrier } from '@fantail/store'
import type { Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { queuePrefix } from './bull.ts'
import type { ConsumerLog } from './consumer-log.ts'

/** First pause before a troubled Redis is probed. The pause doubles with each probe. */
const PROBE_MS_MIN = 100
/** Longest pause between two probes of a troubled Redis. */
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

  /** Whether the error is such trouble. The guard then handles it. */
  notice(error: Error): boolean {
    if (!isTrouble(error)) return false
    if (!this.#troubled && !this.#stopped) {
      this.#troubled = true
      this.#log.warn({ queue: this.#worker.name, error: error.message }, 'redis_writes.down')
      void this.#worker.pause(true)
      this.#probeIn(PROBE_MS_MIN)
    }
    return true
  }

  /** Stops the guard, so that it does not resume a worker that is closing. */
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
      // The trouble continues. It was logged when it began.
      this.#probeIn(Math.min(delayMs * 2, PROBE_MS_MAX))
      return
    }
    if (this.#stopped) return
    this.#troubled = false
    this.#log.info({ queue: this.#worker.name }, 'redis_writes.up')
    await this.#worker.resume()
  }
}

async function probe(redis: Redis, key: string): Promise<void> {
  // A worker's scripts run also when memory is full. The probe must therefore not need free memory either.
  await writeBarrier(redis, key)
  // While the slot moves between masters, commands with one key work and scripts with several keys are refused. So
  // several keys are probed.
  if (isCluster(redis)) await redis.exists(`${key}~`, `${key}~~`)
}
