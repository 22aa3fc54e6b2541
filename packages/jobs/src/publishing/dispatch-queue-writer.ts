/**
 * The publisher's side of one dispatch queue. BullMQ asks for the server's version once, when a queue is made. The
 * queue is therefore made when the connection is first ready, and again if that question got no answer. Only one queue
 * is made at a time. Otherwise a connection that becomes ready twice in a moment would leave a second queue that
 * listens to it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import {
  jobText,
  ReplicaAcks,
  type ReplicaAcksOptions,
  type StorableMessage,
  storageError,
} from '@fantail/store'
import type { Telemetry } from 'bullmq'
import type { Redis } from 'ioredis'
import { dispatchQueueName, openTextQueue, queuePrefix } from '../bullmq/bull.ts'
import { JobText, type TextQueue } from '../bullmq/text-jobs.ts'
import { DISPATCH_JOB } from '../dispatch-job.ts'
import { GroupCommit, type GroupLimits } from './group-commit.ts'

interface DispatchQueueWriterOptions {
  /** How many replicas must hold a group before the caller gets its answer. */
  minReplicas: number
  onReplicas?: ReplicaAcksOptions['onWait']
  telemetry?: Telemetry | undefined
  limits?: Partial<GroupLimits>
}

const OPEN_RETRY_MS = 100

export class DispatchQueueWriter {
  readonly commit: GroupCommit<StorableMessage>
  readonly #number: number
  /** The prefix of the queue's keys. They are all on one master. */
  readonly #prefix: string
  readonly #connection: Redis
  readonly #acks: ReplicaAcks
  readonly #options: DispatchQueueWriterOptions
  #queue: TextQueue | undefined
  #opening: Promise<void> | undefined

  constructor(number: number, connection: Redis, options: DispatchQueueWriterOptions) {
    this.#number = number
    this.#prefix = queuePrefix(dispatchQueueName(number))
    this.#connection = connection
    this.#acks = new ReplicaAcks(connection, {
      minReplicas: options.minReplicas,
      strict: true,
      onWait: options.onReplicas,
    })
    this.#options = options
    this.commit = new GroupCommit<StorableMessage>({
      ...(options.limits ? { limits: options.limits } : {}),
      canWrite: () => this.canWrite,
      write: (messages) => this.#append(messages),
    })
  }

  get canWrite(): boolean {
    return this.#queue !== undefined && this.#connection.status === 'ready'
  }

  /**
   * Must be called whenever the connection is ready. Resolves when the queue is made, or when the connection has broken
   * again.
   */
  open(): Promise<void> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #open(): Promise<void> {
    if (!this.#queue) this.#queue = await this.#createQueue()
    // Try again here, because no further 'ready' may follow. The connection may be ready already, or the question
    // failed without breaking it.
    while (!this.#queue && this.#connection.status === 'ready') {
      await delay(OPEN_RETRY_MS)
      this.#queue = await this.#createQueue()
    }
    if (this.#queue) this.commit.flush()
  }

  /** Undefined if the server did not report its version. */
  async #createQueue(): Promise<TextQueue | undefined> {
    const { telemetry } = this.#options
    const settings = { name: dispatchQueueName(this.#number), connection: this.#connection, telemetry }
    // Errors of the queue are not logged here. The connection reports its state, and callers get the error of a failed
    // add.
    return openTextQueue(settings, () => undefined).catch(() => undefined)
  }

  async close(): Promise<void> {
    this.commit.close()
    await this.#queue?.close()
  }

  async #append(messages: StorableMessage[]): Promise<void> {
    try {
      if (!this.#queue) throw new Error('Connection is closed.')
      await this.#queue.add(DISPATCH_JOB, new JobText(jobText(messages)))
      await this.#acks.confirm(this.#prefix)
    } catch (error) {
      throw storageError(error)
    }
  }
}
