/**
 * The publisher's side of the dispatch queues: a request's messages are stored by one atomic write, or the caller is
 * told that they are not, or that it is unknown. Several dispatch queues (one per Redis Cluster master) are used in turn.
 */
import type { Message } from '@fantail/contracts'
import { FantailError } from '@fantail/contracts'
import { type ConnectOptions, connect, storageError } from '@fantail/store'
import type { Queue, Telemetry } from 'bullmq'
import type { Redis } from 'ioredis'
import { createQueue, dispatchQueueName } from './bull.ts'
import { DISPATCH_JOB, type DispatchJobData } from './dispatch-job.ts'
import { GroupCommit, type GroupLimits, type RequestWeight } from './group-commit.ts'

export interface PublisherOptions {
  url: string
  /** Number of dispatch queues (FANTAIL_QUEUES). */
  queues: number
  /** Replicas that must hold a group before it is acknowledged; 0 leaves asynchronous replication as it is. */
  minReplicas: number
  onState?: ConnectOptions['onState']
  telemetry?: Telemetry | undefined
  limits?: Partial<GroupLimits>
}

export interface Publisher {
  /** Stores one request's messages, all or none. Throws `storage_unavailable` or `storage_full`. */
  publish(messages: Message[], weight: RequestWeight): Promise<void>
  /** False while the connection is away: publishes then wait up to the group's deadline. */
  readonly ready: boolean
  close(): Promise<void>
}

const WAIT_MS = 1_000

export function createPublisher(options: PublisherOptions): Publisher {
  const connection = connect({
    url: options.url,
    name: 'fantail-publisher',
    ...(options.onState ? { onState: options.onState } : {}),
  })
  const lines = Array.from({ length: options.queues }, (_, number) => new Line(number, connection, options))
  connection.on('ready', () => {
    for (const line of lines) void line.open()
  })
  let turn = 0
  return {
    get ready() {
      return lines.every((line) => line.canWrite)
    },
    publish(messages, weight) {
      const line = lines[turn++ % lines.length]
      if (!line) throw new RangeError('at least one dispatch queue is needed')
      return line.commit.add(messages, weight)
    },
    async close() {
      await Promise.all(lines.map((line) => line.close()))
      connection.disconnect()
    },
  }
}

/**
 * One dispatch queue. BullMQ asks the server for its version when a queue is made and never again, so the queue is made
 * when the connection is first ready, and anew where that question got no answer.
 */
class Line {
  readonly commit: GroupCommit<Message>
  readonly #number: number
  readonly #connection: Redis
  readonly #options: PublisherOptions
  #queue: Queue<DispatchJobData> | undefined

  constructor(number: number, connection: Redis, options: PublisherOptions) {
    this.#number = number
    this.#connection = connection
    this.#options = options
    this.commit = new GroupCommit<Message>({
      ...(options.limits ? { limits: options.limits } : {}),
      canWrite: () => this.canWrite,
      write: (messages) => this.#append(messages),
    })
  }

  get canWrite(): boolean {
    return this.#queue !== undefined && this.#connection.status === 'ready'
  }

  async open(): Promise<void> {
    if (!this.#queue) {
      const queue = createQueue<DispatchJobData>({
        name: dispatchQueueName(this.#number),
        connection: this.#connection,
        telemetry: this.#options.telemetry,
      })
      // The connection reports its own state, and a failed add is told to its callers.
      queue.on('error', () => undefined)
      try {
        await queue.waitUntilReady()
        this.#queue = queue
      } catch {
        // The connection broke while the version was asked: its next 'ready' comes here again.
        return
      }
    }
    this.commit.flush()
  }

  async close(): Promise<void> {
    this.commit.close()
    await this.#queue?.close()
  }

  async #append(messages: Message[]): Promise<void> {
    try {
      if (!this.#queue) throw new Error('Connection is closed.')
      await this.#queue.add(DISPATCH_JOB, { v: 1, m: messages })
      if (this.#options.minReplicas > 0) await this.#waitForReplicas()
    } catch (error) {
      throw storageError(error)
    }
  }

  async #waitForReplicas(): Promise<void> {
    const { minReplicas } = this.#options
    const reached = await this.#connection.wait(minReplicas, WAIT_MS)
    if (reached >= minReplicas) return
    const message = `stored, but only ${reached} of ${minReplicas} replicas confirmed it; it may be lost in a failover`
    throw new FantailError('storage_unavailable', message, { retryAfterSeconds: 1 })
  }
}
