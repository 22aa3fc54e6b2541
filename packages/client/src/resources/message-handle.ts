/** Published messages: their deliveries, their text, and sending them again. */
import type { Client } from '../generated/client/index.ts'
import {
  type Delivery,
  getMessage,
  getMessageBody,
  listDeliveries,
  type Message,
  type MessageBody,
  type Resend,
  resendMessage,
} from '../generated/index.ts'
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

  /** The text as it was published. Throws `body_gone` if it is no longer stored. */
  body(options?: CallOptions): Promise<MessageBody> {
    return getMessageBody({ ...this.#at, ...options })
  }

  /** Sends the message again to one subscription of its topic. */
  resend(
    subscription: string,
    { idempotencyKey, ...options }: CallOptions & { idempotencyKey?: string } = {},
  ): Promise<Resend> {
    const headers = { 'Idempotency-Key': idempotencyKey }
    return resendMessage({ ...this.#at, ...options, headers, body: { subscription } })
  }
}
