/**
 * Parts of one dispatch job as jobs of their own, so that all workers share what one message brings to many.
 *
 * A part's id is its parent's and its number: added twice, while it is there, it is one. It may be added again when it has
 * ended and gone, by a start of the parent that died before it was completed; therefore the first start of a part notes when
 * that one was added, and whatever part of this id was added at another time is nothing but a repetition.
 */
import { type Redis, storageError } from '@fantail/store'
import type { Job, Queue } from 'bullmq'
import { createQueue, dispatchQueueName, queuePrefix } from './bull.ts'
import { DISPATCH_JOB, type DispatchJobData } from './dispatch-job.ts'

/** As long as checkpoints: no parent starts again later than that. */
const NOTE_MS = 86_400_000

export class DispatchParts {
  readonly #name: string
  readonly #redis: Redis
  #queue: Queue<DispatchJobData> | undefined

  constructor(queue: number, redis: Redis) {
    this.#name = dispatchQueueName(queue)
    this.#redis = redis
  }

  /** Safe to repeat with the same parts. */
  async add({ id, timestamp }: Job<DispatchJobData>, parts: DispatchJobData[]): Promise<void> {
    // With its time: a queue that was emptied by hand counts its jobs from 1 again.
    const parent = `${id}-${timestamp.toString(36)}`
    try {
      const queue = await this.#open()
      await Promise.all(parts.map((data, n) => queue.add(DISPATCH_JOB, data, { jobId: `${parent}-${n}` })))
    } catch (error) {
      throw storageError(error)
    }
  }

  /** True where the part was run before it was added this time. */
  async isRepetition({ id, timestamp }: Job<DispatchJobData>): Promise<boolean> {
    const key = `${queuePrefix(this.#name)}:${this.#name}:part:${id}`
    const own = String(timestamp)
    if ((await this.#redis.set(key, own, 'PX', NOTE_MS, 'NX')) !== null) return false
    const first = await this.#redis.get(key)
    return first !== null && first !== own
  }

  async close(): Promise<void> {
    await this.#queue?.close()
  }

  /** Made when first needed, and anew where the connection broke meanwhile: BullMQ asks something of it first. */
  async #open(): Promise<Queue<DispatchJobData>> {
    if (this.#queue) return this.#queue
    const queue = createQueue<DispatchJobData>({ name: this.#name, connection: this.#redis })
    // What fails is told to whoever asked for it.
    queue.on('error', () => undefined)
    try {
      await queue.waitUntilReady()
    } catch (error) {
      await queue.close()
      throw error
    }
    this.#queue ??= queue
    return this.#queue
  }
}
