/**
 * Moves dispatch jobs that cannot be decoded to the quarantine. First the entry is written, then the job leaves its
 * queue. There are three kinds:
 *
 * - Data that is not JSON. BullMQ fetches the job, throws, lets it stall and fetches it again, without an end. Its hash
 * is therefore read when it stalls.
 * - Other data. The job fails once a second, and is read after many starts. A newer worker may understand it until
 * then.
 * - No data, as after loading a truncated append-only file. The job is read when it starts, and in BullMQ's `failed`
 * set.
 *
 * A part only names messages of its job, so nothing is lost with it. While its job exists, the part is made again.
 * Otherwise BullMQ's own call removes the part. This call also starts the job once the other parts have ended.
 */
import {
  bodiesOfJob,
  type NewEntry,
  QUARANTINE_BASE,
  type Quarantined,
  type Redis,
  type ServerMarks,
  sideBySide,
} from '@fantail/store'
import { queuePrefix } from '../bullmq/bull.ts'
import { type PartJobData, partOf } from '../dispatch-job.ts'
import { mendedFields } from './mended-fields.ts'

/** Failed jobs that are read at once. Past it: the next check reads the others. */
const FAILED_MAX = 100
/** Started jobs that are checked after a failed script. Past it: the next failure checks again. */
const ACTIVE_MAX = 1_000
/** Started jobs that are read at a time, data included. Past it: the others follow. */
const ACTIVE_AT_ONCE = 8
/** `<job>-<when the job was added>-<number of the part>`, as dispatch-parts.ts names them. */
const PART_ID = /^(.+)-([0-9a-z]+)-\d+$/

/**
 * `readable`: nothing was done. `gone`: the job is no longer in its queue. `full`: the job stays, because the
 * quarantine has no capacity.
 */
export type JobCondition = 'readable' | 'gone' | 'full'

interface UnreadableJobsOptions {
  /** Its name. */
  queue: string
  redis: Redis
  /** Marks the entry in the quarantine. The job is removed only while the mark holds. */
  servers: Pick<ServerMarks, 'mark'>
  quarantine(entry: NewEntry): Promise<Quarantined>
  parts: {
    /** Removes a part from the queue and from its job. */
    remove(id: string): Promise<void>
    /** Makes the missing parts of a job again. */
    handOutAgain(job: { id: string; timestamp: number }): Promise<boolean>
    /** Moves a failed job back to the waiting ones. */
    retryFailed(id: string): Promise<void>
  }
}

export class UnreadableJobs {
  readonly #options: UnreadableJobsOptions
  readonly #base: string
  #checking: Promise<void> | undefined

  constructor(options: UnreadableJobsOptions) {
    this.#options = options
    this.#base = `${queuePrefix(options.queue)}:${options.queue}`
  }

  /** Called if a job has stalled, has no data, or was started too often. Rejects if Redis fails. */
  async check(id: string): Promise<JobCondition> {
    const fields = await this.#options.redis.hgetall(this.#key(id))
    const { data, parentKey } = fields
    // It ended meanwhile.
    if (Object.keys(fields).length === 0) return 'gone'
    if (data !== undefined && isDispatchData(data)) {
      await this.#mend(id, fields)
      return 'readable'
    }
    if (await this.#restorePart(id)) return 'gone'
    const entry = { id: this.#entryId(id, fields.timestamp), raw: data ?? JSON.stringify(fields) }
    const known =
      data === undefined
        ? ({ reason: 'jobDataLost', detail: 'the job has no data' } as const)
        : ({ reason: 'jobUnreadable', detail: 'the data of the job cannot be decoded' } as const)
    const mark = this.#options.servers.mark(QUARANTINE_BASE)
    if ((await this.#options.quarantine({ ...entry, ...known })) === 'full') return 'full'
    if (!mark.holds()) throw new Error('a connection to Redis has closed: the job is quarantined again')
    await this.#remove(id, parentKey)
    return 'gone'
  }

  /**
   * Called if a script of BullMQ has failed at the data of a job. Checks all jobs that are being started or run,
   * because BullMQ does not say which one it was. Scripts fail several times a second then, so a call during a check
   * shares it.
   */
  checkActive(): Promise<void> {
    this.#checking ??= this.#mendActive().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  async #mendActive(): Promise<void> {
    const { redis } = this.#options
    const ids = await redis.lrange(`${this.#base}:active`, 0, ACTIVE_MAX - 1)
    await sideBySide(ids, ACTIVE_AT_ONCE, async (id) => this.#mend(id, await redis.hgetall(this.#key(id))))
  }

  /** BullMQ cannot start a job with such a field, so nobody else changes or completes it meanwhile. */
  async #mend(id: string, fields: Record<string, string>): Promise<void> {
    const mended = fields.data === undefined ? {} : mendedFields(fields)
    if (Object.keys(mended).length > 0) await this.#options.redis.hset(this.#key(id), mended)
  }

  /**
   * Puts a part into the quarantine whose messages are gone, because somebody deleted its job. The caller completes the
   * part.
   */
  addPart(id: string, addedAt: number, data: PartJobData): Promise<Quarantined> {
    return this.#options.quarantine({
      id: this.#entryId(id, String(addedAt)),
      reason: 'jobWithoutMessages',
      detail: `the job ${data.of[0]} with its messages was deleted`,
      raw: JSON.stringify(data),
    })
  }

  /**
   * No job of Fantail fails permanently. A job among BullMQ's failed ones has therefore lost its data or its options.
   * Rejects with the first failure of Redis, after all jobs were tried.
   */
  async takeFailed(): Promise<void> {
    const { redis } = this.#options
    const failures: unknown[] = []
    for (const id of await redis.zrange(`${this.#base}:failed`, '0', String(FAILED_MAX - 1)))
      await this.#takeOneFailed(id).catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }

  async #takeOneFailed(id: string): Promise<void> {
    const { redis, parts } = this.#options
    const found = await this.check(id)
    if (found === 'readable') await parts.retryFailed(id)
    else if (found === 'gone') await redis.zrem(`${this.#base}:failed`, id)
  }

  /** False if the id is no part's, or if the part's job is gone too. */
  async #restorePart(id: string): Promise<boolean> {
    const { redis, parts } = this.#options
    const [, job, addedAt = ''] = PART_ID.exec(id) ?? []
    if (job === undefined) return false
    const timestamp = Number(await redis.hget(this.#key(job), 'timestamp'))
    if (timestamp.toString(36) !== addedAt) return false
    // BullMQ's own call removes the part also from its job. The job then does not wait for it, even if this process
    // dies before the next line.
    const parentKey = this.#key(job)
    await redis.hset(this.#key(id), 'parentKey', parentKey)
    await this.#remove(id, parentKey)
    return parts.handOutAgain({ id: job, timestamp })
  }

  async #remove(id: string, parentKey: string | undefined): Promise<void> {
    const { redis, parts } = this.#options
    const key = this.#key(id)
    if (parentKey) {
      await redis.del(`${key}:lock`)
      await parts.remove(id)
      return
    }
    await redis
      .multi()
      .lrem(`${this.#base}:wait`, 0, id)
      .lrem(`${this.#base}:active`, 0, id)
      .srem(`${this.#base}:stalled`, id)
      .zrem(`${this.#base}:failed`, id)
      .del(key, `${key}:lock`, `${key}:dependencies`, `${key}:processed`)
      .exec()
  }

  #key(id: string): string {
    return `${this.#base}:${id}`
  }

  /**
   * The id includes when the job was added, because a Redis that has lost its latest writes may give the number again.
   */
  #entryId(id: string, addedAt = '0'): string {
    return `job.${this.#options.queue}.${id}.${Number(addedAt).toString(36)}`
  }
}

function isDispatchData(text: string): boolean {
  try {
    return partOf(text) !== undefined || bodiesOfJob(text) !== undefined
  } catch {
    return false
  }
}
