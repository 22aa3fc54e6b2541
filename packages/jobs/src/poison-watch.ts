/**
 * A job whose data cannot be parsed never reaches the processor: BullMQ fetches it, throws, lets it stall and fetches it
 * again, for ever; and one whose data are something else fails once a second. A job that stalls, or is started all too
 * often, has its raw hash looked at; one that cannot be parsed is moved to
 * the list `<prefix>:poison` (at most 1,000 kept) and logged. A part like this is removed by BullMQ's own means, which
 * starts the job that it is of once its other parts have ended: that one hands it out anew.
 */
import type { ChainableCommander, Redis } from 'ioredis'
import { queuePrefix } from './bull.ts'
import type { ConsumerLog } from './consumer-log.ts'
import { dispatchMessages, type PartJobData, partOf } from './dispatch-job.ts'

const KEPT_MAX = 1_000

export interface PoisonWatchOptions {
  /** Its name. */
  queue: string
  redis: Redis
  /** Takes a part from the queue and from the job that it is of. */
  removePart(id: string): Promise<void>
  log: ConsumerLog
}

export class PoisonWatch {
  readonly #options: PoisonWatchOptions
  readonly #base: string

  constructor(options: PoisonWatchOptions) {
    this.#options = options
    this.#base = `${queuePrefix(options.queue)}:${options.queue}`
  }

  /** Called each time the job has stalled, and where it is started all too often; true where it was set aside. */
  async look(id: string): Promise<boolean> {
    try {
      return await this.#look(id)
    } catch (error) {
      const { queue, log } = this.#options
      log.warn({ queue, jobId: id, error: String(error) }, 'dispatch.poison_check_failed')
      return false
    }
  }

  /** A part whose messages nobody has: somebody deleted the job that held them. */
  async keepPart(id: string, data: PartJobData): Promise<void> {
    const { queue, redis, log } = this.#options
    await this.#keep(redis.multi(), id, JSON.stringify(data)).exec()
    log.warn({ queue, jobId: id, ...data }, 'dispatch.part_without_messages')
  }

  async #look(id: string): Promise<boolean> {
    const { queue, redis, log } = this.#options
    const job = `${this.#base}:${id}`
    const [data = null, parent] = await redis.hmget(job, 'data', 'parentKey')
    if (data === null || isDispatchData(data)) return false
    const kept = this.#keep(redis.multi(), id, data).del(`${job}:lock`)
    if (parent) {
      await kept.exec()
      await this.#options.removePart(id)
    } else {
      await kept
        .lrem(`${this.#base}:wait`, 0, id)
        .lrem(`${this.#base}:active`, 0, id)
        .srem(`${this.#base}:stalled`, id)
        .del(job, `${job}:dependencies`, `${job}:processed`)
        .exec()
    }
    log.warn({ queue, jobId: id, bytes: data.length }, 'dispatch.poison_job_set_aside')
    return true
  }

  #keep(multi: ChainableCommander, id: string, data: string): ChainableCommander {
    const list = `${this.#base}:poison`
    return multi.rpush(list, JSON.stringify({ id, data })).ltrim(list, -KEPT_MAX, -1)
  }
}

function isDispatchData(text: string): boolean {
  try {
    const data: unknown = JSON.parse(text)
    return partOf(data) !== undefined || dispatchMessages(data) !== undefined
  } catch {
    return false
  }
}
