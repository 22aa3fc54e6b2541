/**
 * Cuts a dispatch job into parts, which are jobs of their own. All workers can then share a message with many
 * deliveries.
 *
 * running ─▶ its parts are noted in the job ─▶ parts added, each a child of the job ─▶ waiting for its children
 *                                                                                     │ the last has ended
 *                                                               completed, and gone ◀────┘
 *
 * A part only names its messages, and the job holds them. BullMQ keeps a job's children, and does not complete a job
 * that has some left. The messages therefore exist until the last part has ended. All keys are in one slot and so on
 * one master, which loses its latest writes together. A part without its messages can only exist if somebody deletes
 * the job by hand.
 *
 * If a worker dies on the way, the note stays. Every later start then makes the same parts, even if the topic has
 * changed. Parts are identified by their job and number. An existing part is not added twice. An ended one is in the
 * job's list of ended children. A start that was frozen while it added parts may add an ended one again. This part then
 * finds itself in the list and does nothing.
 *
 * Parts go before waiting jobs, because their job was before these. They end before the next large job is cut, so few
 * exist at a time.
 */
import { bodiesOfJob, dispatchJobKey, noteParts, type Redis, readParts, storageError } from '@fantail/store'
import { type Job, WaitingError } from 'bullmq'
import { dispatchQueueName, openTextQueue } from '../bullmq/bull.ts'
import { JobText, type TextQueue } from '../bullmq/text-jobs.ts'
import { DISPATCH_JOB, type DispatchPart, type PartJobData } from '../dispatch-job.ts'

/** Parts of a job that one write adds. Past it: a further write follows. */
const ADDED_AT_ONCE_MAX = 64

type JobRef = Pick<Job, 'id' | 'timestamp'>

export class DispatchParts {
  readonly #queueNumber: number
  readonly #redis: Redis
  #queue: Promise<TextQueue> | undefined

  constructor(queueNumber: number, redis: Redis) {
    this.#queueNumber = queueNumber
    this.#redis = redis
  }

  /**
   * Adds the parts to the queue. Returns false if a later start has the job by now. Safe to repeat with the same parts.
   */
  async handOut(job: JobRef, start: number, parts: DispatchPart[]): Promise<boolean> {
    try {
      const noted = await noteParts(this.#redis, { ...this.#ref(job), start }, JSON.stringify(parts))
      if (noted) await this.#add(job, parts)
      return noted
    } catch (error) {
      throw storageError(error)
    }
  }

  /** Adds the missing parts of a job that an earlier start has cut. Returns false if none has cut it. */
  async handOutAgain(job: JobRef): Promise<boolean> {
    try {
      const note = await readParts(this.#redis, this.#ref(job))
      if (note !== null) await this.#add(job, JSON.parse(note) as DispatchPart[])
      return note !== null
    } catch (error) {
      throw storageError(error)
    }
  }

  /**
   * The messages of a part. undefined: the part has already ended. null: no job holds the messages. Throws if this is
   * not the part's latest start.
   */
  async messagesOf(job: Job, { part, of: [id, addedAt] }: PartJobData): Promise<string[] | null | undefined> {
    const own = this.#keyOf(job.id)
    const parent = this.#keyOf(id)
    const answers = await this.#redis
      .multi()
      .hexists(`${parent}:processed`, own)
      .hget(own, 'ats')
      .hmget(parent, 'timestamp', 'data')
      .exec()
    const [ended, starts, [timestamp, data] = []] = valuesOf(answers) as [
      number,
      string | null,
      (string | null)[]?,
    ]
    if (ended === 1) return undefined
    if (starts !== String(job.attemptsStarted)) throw new WaitingError()
    if (timestamp !== String(addedAt) || !data) return null
    return bodiesOfJob(data).slice(...part.messages)
  }

  /** Removes a part from the queue and from its job. If this was the job's last part, the job is started. */
  async remove(id: string): Promise<void> {
    const queue = await this.#open()
    await queue.remove(id)
  }

  /** Moves a job from BullMQ's failed jobs back to the waiting ones. */
  async retryFailed(id: string): Promise<void> {
    const job = await (await this.#open()).getJob(id)
    await job?.retry('failed')
  }

  async close(): Promise<void> {
    const queue = await this.#queue
    await queue?.close()
  }

  async #add(job: JobRef, parts: DispatchPart[]): Promise<void> {
    const queue = await this.#open()
    const parent = { id: job.id ?? '', queue: queue.qualifiedName }
    // The id includes when the job was added, because a queue that was emptied by hand counts its jobs from 1 again.
    const name = `${job.id}-${job.timestamp.toString(36)}`
    const ended = new Set(await this.#redis.hkeys(`${this.#keyOf(job.id)}:processed`))
    const missing = parts
      .map((part, n) => ({ part, jobId: `${name}-${n}` }))
      .filter(({ jobId }) => !ended.has(this.#keyOf(jobId)))
    // Each part is put before the waiting jobs. The first part is therefore added last.
    while (missing.length > 0) {
      const some = missing.splice(-ADDED_AT_ONCE_MAX).reverse()
      await Promise.all(
        some.map(({ part, jobId }) =>
          queue.add(DISPATCH_JOB, textOf({ v: 1, part, of: [parent.id, job.timestamp] }), {
            jobId,
            parent,
            lifo: true,
          }),
        ),
      )
    }
  }

  #ref({ id = '' }: JobRef) {
    return { queue: this.#queueNumber, id }
  }

  #keyOf(id = ''): string {
    return dispatchJobKey(this.#queueNumber, id)
  }

  /**
   * The queue object is made once, when it is first needed. It is made again if the connection broke meanwhile, because
   * BullMQ first asks the server something.
   */
  #open(): Promise<TextQueue> {
    this.#queue ??= this.#create().catch((error) => {
      this.#queue = undefined
      throw error
    })
    return this.#queue
  }

  #create(): Promise<TextQueue> {
    const settings = { name: dispatchQueueName(this.#queueNumber), connection: this.#redis }
    // Failed calls give their error to the caller, so errors of the queue are not logged.
    return openTextQueue(settings, () => undefined)
  }
}

const textOf = (data: PartJobData) => new JobText(JSON.stringify(data))

/** The replies of a MULTI. Redis answers null if a watched key has changed, and no key is watched here. */
function valuesOf(answers: [Error | null, unknown][] | null): unknown[] {
  return (answers ?? []).map(([error, value]) => {
    if (error) throw error
    return value
  })
}
