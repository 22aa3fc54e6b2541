/** Published messages, and what became of them. */
import type { Client } from '../generated/client/index.ts'
import { type Delivery, getMessage, listDeliveries, type Message } from '../generated/index.ts'
import type { CallOptions } from '../transport/core-request.ts'

export class MessageHandle {
  readonly messageId: string
  readonly #at: { client: Client; path: { messageId: string } }

  constructor(client: Client, messageId: string) {
    this.messageId = messageId
    this.#at = { client, path: { messageId } }
  }

  get(options?: CallOptions): Promise<Message> {
    return getMessage({ ...this.#at, ...options })
  }

  /** One entry for each subscription of the topic. */
  async deliveries(options?: CallOptions): Promise<Delivery[]> {
    return (await listDeliveries({ ...this.#at, ...options })).deliveries
  }
}
