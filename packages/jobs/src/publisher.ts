/**
 * The publisher's side of the dispatch queues: a request's messages are stored by one atomic write, or the caller is
 * told that they are not, or that it is unknown. Several dispatch queues (one per Redis Cluster master) are used in turn.
 */
import type { Message } from '@fantail/contracts'
import { type ConnectOptions, connect } from '@fantail/store'
import type { Telemetry } from 'bullmq'
import { DispatchLine } from './dispatch-line.ts'
import type { GroupLimits, RequestWeight } from './group-commit.ts'

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

export function createPublisher(options: PublisherOptions): Publisher {
  const connection = connect({
    url: options.url,
    name: 'fantail-publisher',
    ...(options.onState ? { onState: options.onState } : {}),
  })
  const lines = Array.from(
    { length: options.queues },
    (_, number) => new DispatchLine(number, connection, options),
  )
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
