/** The client: settings, and the resources of the API. */
import { type EventsOptions, type LiveEvent, liveEvents } from './events/live-events.ts'
import type { Client } from './generated/client/index.ts'
import { type LanesOf, lanesOf } from './resources/listing.ts'
import { MessageHandle } from './resources/message-handle.ts'
import { type QueuesOf, queuesOf } from './resources/queue-handle.ts'
import { type RedrivesOf, redrivesOf } from './resources/redrive-handle.ts'
import { type SubscriptionsOf, subscriptionsOf } from './resources/subscription-handle.ts'
import { type TopicsOf, topicsOf } from './resources/topic-handle.ts'
import { type FantailOptions, readSettings } from './settings/client-settings.ts'
import { coreClient, Transport } from './transport/transport.ts'

export class Fantail {
  /**
   * A client for the functions of `@fantail/client/api`. They cover every operation, with this client's key, retries
   * and deadlines.
   */
  readonly client: Client
  readonly topics: TopicsOf
  readonly subscriptions: SubscriptionsOf
  readonly queues: QueuesOf
  readonly redrives: RedrivesOf
  readonly lanes: LanesOf
  readonly #transport: Transport

  /** Throws a FantailError with `invalid_setting`. It opens no connection. */
  constructor(options: FantailOptions = {}) {
    this.#transport = new Transport(readSettings(options))
    this.client = coreClient(this.#transport)
    this.topics = topicsOf(this.client)
    this.subscriptions = subscriptionsOf(this.client)
    this.queues = queuesOf(this.client)
    this.redrives = redrivesOf(this.client)
    this.lanes = lanesOf(this.client)
  }

  /** Live events. After a broken connection the stream continues by itself. */
  events(options: EventsOptions = {}): AsyncGenerator<LiveEvent, void, undefined> {
    return liveEvents(this.#transport, options)
  }

  messages(messageId: string): MessageHandle {
    return new MessageHandle(this.client, messageId)
  }
}
