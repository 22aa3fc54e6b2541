/**
 * The publisher's side of the dispatch queues. One atomic write stores a request's messages. If the write fails, the
 * error says whether the messages are not stored or that this is unknown. If there are several dispatch queues (one per
 * Redis Cluster master), they are used in turn.
 */
import type { RedisTarget } from '@fantail/contracts'
import {
  type ConnectOptions,
  connectTo,
  type NewMessage,
  type Redis,
  type ReplicaAcksOptions,
} from '@fantail/store'
import type { Telemetry } from 'bullmq'
import { dispatchQueueName, queuePrefix } from '../bullmq/bull.ts'
import { DispatchLine } from './dispatch-line.ts'
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
  publish(messages: NewMessage[], weight: RequestWeight): Promise<void>
  /** False while no queue's master is connected. Publishes then wait up to the group's deadline. */
  readonly ready: boolean
  /** One for each queue. */
  readonly connections: Redis[]
  close(): Promise<void>
}

export function createPublisher(options: PublisherOptions): Publisher {
  const opened = Array.from({ length: options.queues }, (_, number) => openLine(number, options))
  const lines = opened.map(({ line }) => line)
  let published = 0
  return {
    get ready() {
      return lines.some((line) => line.canWrite)
    },
    connections: opened.map(({ connection }) => connection),
    publish(messages, weight) {
      const line = nextLine(lines, published++)
      if (!line) throw new RangeError('at least one dispatch queue is needed')
      return line.commit.add(messages, weight)
    },
    async close() {
      await Promise.all(lines.map((line) => line.close()))
      for (const { connection } of opened) connection.disconnect()
    },
  }
}

/** Each queue has its own connection to its master. Waiting for one queue therefore does not delay the others. */
function openLine(number: number, options: PublisherOptions): { line: DispatchLine; connection: Redis } {
  const { url, onState } = options
  const place = { url, name: 'fantail-publisher', ...(onState ? { onState } : {}) }
  const connection = connectTo(place, queuePrefix(dispatchQueueName(number)))
  const line = new DispatchLine(number, connection, options)
  connection.on('ready', () => void line.open())
  return { line, connection }
}

/** The line whose turn it is, or the next one whose master is connected. */
function nextLine(lines: DispatchLine[], number: number): DispatchLine | undefined {
  for (let i = 0; i < lines.length; i++) {
    const line = lines[(number + i) % lines.length]
    if (line?.canWrite) return line
  }
  return lines[number % lines.length]
}
