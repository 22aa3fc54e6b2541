/** Long polls. */
import type { QueueMessage } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import type { ReceiveRequest } from './queue-records.ts'
import type { Queues } from './queues.ts'

export interface QueueWaitsOptions {
  queues: Queues
  /** A connection in subscriber mode; may be shared with other subscribers, not closed here. */
  subscriber: Redis
}

export interface WaitingReceive extends ReceiveRequest {
  waitSeconds: number
  signal?: AbortSignal
}

export class QueueWaits {
  readonly #options: QueueWaitsOptions

  constructor(options: QueueWaitsOptions) {
    this.#options = options
  }

  /** As soon as there is a message, else [] when the time is up, the signal aborts or `close` is called. */
  async receiveWaiting(arn: string, request: WaitingReceive): Promise<QueueMessage[]> {
    throw new Error(`not yet: ${arn} ${request.waitSeconds} ${this.#options.subscriber.status}`)
  }

  /** Ends every wait. */
  close(): void {
    throw new Error('not yet')
  }
}
