/** Topics: publish, settings, subscriptions. */
import type { Client } from '../generated/client/index.ts'
import {
  createTopic,
  deleteTopic,
  getTopic,
  listTopicSubscriptions,
  listTopics,
  type MessageInput,
  type NewSubscription,
  type PublishReceipt,
  publish,
  type Subscription,
  subscribe,
  type Topic,
  type TopicInput,
  updateTopic,
} from '../generated/index.ts'
import { BatchPublisher, type BatchPublisherOptions } from '../publishing/batch-publisher.ts'
import type { CallOptions } from '../transport/core-request.ts'
import { Listing } from './listing.ts'
import type { SubscriptionFilter } from './subscription-handle.ts'

/** A text is sent as it is. An object or array is sent as JSON. */
export type Content = string | object

export interface PublishOptions extends Omit<MessageInput, 'message'>, CallOptions {
  /**
   * Names this publish. If it is repeated with the same key within 24 hours, nothing is stored again. Default: a new
   * key for each publish.
   */
  idempotencyKey?: string | undefined
}

export class TopicHandle {
  /** Name or ARN. */
  readonly topic: string
  readonly #at: { client: Client; path: { topic: string } }

  constructor(client: Client, topic: string) {
    this.topic = topic
    this.#at = { client, path: { topic } }
  }

  /** Resolves when the message is stored. Retries do not store it twice. */
  async publish(message: Content, options: PublishOptions = {}): Promise<PublishReceipt> {
    const { idempotencyKey, signal, deadlineMs, timeoutMs, maxAttempts, traceparent, ...members } = options
    const call = { signal, deadlineMs, timeoutMs, maxAttempts, traceparent } satisfies Record<
      keyof CallOptions,
      unknown
    >
    const body = { message, ...members } as MessageInput
    return (await this.#publish(body, { idempotencyKey, ...call })) as PublishReceipt
  }

  /** Stores up to 100 messages, all or none, in this order. */
  async publishAll(
    messages: readonly MessageInput[],
    options: CallOptions & Pick<PublishOptions, 'idempotencyKey'> = {},
  ): Promise<PublishReceipt[]> {
    const answer = await this.#publish({ messages: [...messages] }, options)
    return (answer as { results: PublishReceipt[] }).results
  }

  #publish(
    body: MessageInput | { messages: MessageInput[] },
    { idempotencyKey, ...call }: CallOptions & Pick<PublishOptions, 'idempotencyKey'>,
  ) {
    const headers = { 'Idempotency-Key': idempotencyKey }
    return publish({ ...this.#at, ...call, body, headers })
  }

  /** A publisher that sends messages in batches. The number of waiting messages is bounded. */
  batch(options: BatchPublisherOptions = {}): BatchPublisher {
    return new BatchPublisher(this, options)
  }

  /** Makes the topic. If it exists with the same settings, returns it. */
  create(settings?: TopicInput, options?: CallOptions): Promise<Topic> {
    return createTopic({ ...this.#at, ...options, body: settings })
  }

  get(options?: CallOptions): Promise<Topic> {
    return getTopic({ ...this.#at, ...options })
  }

  update(changes: TopicInput, options?: CallOptions): Promise<Topic> {
    return updateTopic({ ...this.#at, ...options, body: changes })
  }

  /** Deletes its subscriptions too. */
  async delete(options?: CallOptions): Promise<void> {
    await deleteTopic({ ...this.#at, ...options })
  }

  subscribe(subscription: NewSubscription, options?: CallOptions): Promise<Subscription> {
    return subscribe({ ...this.#at, ...options, body: subscription })
  }

  subscriptions(
    filter: Omit<SubscriptionFilter, 'topic'> = {},
    options?: CallOptions,
  ): Listing<Subscription> {
    return new Listing(async (cursor) => {
      const page = await listTopicSubscriptions({ ...this.#at, ...options, query: { ...filter, cursor } })
      return { items: page.subscriptions, nextCursor: page.nextCursor }
    })
  }
}

interface TopicFilter {
  /** Only topics whose name begins so. */
  prefix?: string
  /** Topics per page, 1 to 100. */
  limit?: number
}

export interface TopicsOf {
  (topic: string): TopicHandle
  list(filter?: TopicFilter, options?: CallOptions): Listing<Topic>
}

export function topicsOf(client: Client): TopicsOf {
  const list = (filter: TopicFilter = {}, options?: CallOptions) =>
    new Listing(async (cursor) => {
      const page = await listTopics({ client, ...options, query: { ...filter, cursor } })
      return { items: page.topics, nextCursor: page.nextCursor }
    })
  return Object.assign((topic: string) => new TopicHandle(client, topic), { list })
}
