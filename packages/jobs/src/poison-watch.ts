/**
 * A job whose data cannot be parsed never reaches the processor: BullMQ fetches it, throws, lets it stall and fetches it
 * again, for ever. A job that stalls has its raw hash looked at; one that cannot be parsed is moved to
 * the list `<prefix>:poison` (at most 1,000 kept), counted and logged.
 */
import type { Redis } from 'ioredis'
import { queuePrefix } from './bull.ts'
import type { ConsumerLog } from './consumer-log.ts'
import { dispatchMessages } from './dispatch-job.ts'

const KEPT_MAX = 1_000

export class PoisonWatch {
  readonly #queue: string
  readonly #redis: Redis
  readonly #log: ConsumerLog

  constructor(queue: string, redis: Redis, log: ConsumerLog) {
    this.#queue = queue
    this.#redis = redis
    this.#log = log
  }

  /** Called each time the job has stalled; resolves when it was looked at. */
  async stalled(id: string): Promise<void> {
    try {
      await this.#look(id)
    } catch (error) {
      this.#log.warn({ queue: this.#queue, jobId: id, error: String(error) }, 'dispatch.poison_check_failed')
    }
  }

  async #look(id: string): Promise<void> {
    const base = `${queuePrefix(this.#queue)}:${this.#queue}`
    const data = await this.#redis.hget(`${base}:${id}`, 'data')
    if (data === null || isDispatchData(data)) return
    await this.#redis
      .multi()
      .rpush(`${base}:poison`, JSON.stringify({ id, data }))
      .ltrim(`${base}:poison`, -KEPT_MAX, -1)
      .lrem(`${base}:wait`, 0, id)
      .lrem(`${base}:active`, 0, id)
      .srem(`${base}:stalled`, id)
      .del(`${base}:${id}`, `${base}:${id}:lock`)
      .exec()
    this.#log.warn({ queue: this.#queue, jobId: id, bytes: data.length }, 'dispatch.poison_job_set_aside')
  }
}

function isDispatchData(text: string): boolean {
  try {
    dispatchMessages(JSON.parse(text))
    return true
  } catch {
    return false
  }
}
