/**
 * The publisher's side of the dispatch queues. One atomic write stores a request's messages. If the write fails, the
 * error says whether the messages are not stored or that this is unknown. If there are several dispatch queues (one per
 * Redis Cluster master), they are used in turn.
 */
import type { RedisTarget } from '@fantail/contracts'
import {
  type ConnectOptions,
  connectTo,
  type Redis,
  type ReplicaAcksOptions,
  type StorableMessage,
} from '@fantail/store'
import type { Telemetry } from 'bullmq'
import { dispatchQueueName, queuePrefix } from '../bullmq/bull.ts'
import { DispatchQueueWriter } from './dispatch-queue-writer.ts'
import type { GroupLimits, RequestWeight } from './group-commit.ts'

export interface PublisherOptions {
  url: RedisTarget
  /** Number of dispatch queues (FANTAIL_QUEUES). */
  queues: number
  /** How many replicas must hold a group before the caller gets its answer. 0: no replica is waited for. */
  minReplicas: number
  onState?: ConnectOptions['onState']
  onReplicas?: ReplicaAcksOptions['onWait']
  telemetry?: Telemetry | undefined
  limits?: Partial<GroupLimits>
}

export interface Publisher {
  /** Stores one request's messages, all or none. Throws `storage_unavailable` or `storage_full`. */
  publish(messages: StorableMessage[], weight: RequestWeight): Promise<void>
  /** False while no queue's master is connected. Publishes then wait up to the group's deadline. */
  readonly ready: boolean
  /** One for each queue. */
  readonly connections: Redis[]
  close(): Promise<void>
}

export function createPublisher(options: PublisherOptions): Publisher {
  const opened = Array.from({ length: options.queues }, (_, number) => openWriter(number, options))
  const writers = opened.map(({ writer }) => writer)
  let published = 0
  return {
    get ready() {
      return writers.some((writer) => writer.canWrite)
    },
    connections: opened.map(({ connection }) => connection),
    publish(messages, weight) {
      const writer = nextWriter(writers, published++)
      if (!writer) throw new RangeError('at least one dispatch queue is needed')
      return writer.commit.add(messages, weight)
    },
    async close() {
      await Promise.all(writers.map((writer) => writer.close()))
      for (const { connection } of opened) connection.disconnect()
    },
  }
}

/** Each queue has its own connection to its master. Waiting for one queue therefore does not delay the others. */
function openWriter(
  number: number,
  options: PublisherOptions,
): { writer: DispatchQueueWriter; connection: Redis } {
  const { url, onState } = options
  const place = { url, name: 'fantail-publisher', ...(onState ? { onState } : {}) }
  const connection = connectTo(place, queuePrefix(dispatchQueueName(number)))
  const writer = new DispatchQueueWriter(number, connection, options)
  connection.on('ready', () => void writer.open())
  return { writer, connection }
}

/** Writers take turns. A writer whose master is not connected is skipped, unless no master is connected. */
function nextWriter(writers: DispatchQueueWriter[], number: number): DispatchQueueWriter | undefined {
  for (let i = 0; i < writers.length; i++) {
    const writer = writers[(number + i) % writers.length]
    if (writer?.canWrite) return writer
  }
  return writers[number % writers.length]
}
