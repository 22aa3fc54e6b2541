/** Queues with SQS's semantics for standard queues. */
import { ARN_DEFAULTS, type ArnDefaults, type QueueMessage, type QueueRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import type { Page } from './pages.ts'
import type {
  DeadLetterCounts,
  HandleResult,
  ListQueues,
  PeekRequest,
  QueueSettings,
  QueueWithCounts,
  ReceiveRequest,
  ReceiveTurn,
  SendItem,
} from './queue-records.ts'

export interface QueuesOptions {
  /** The account and region that a list's name prefix belongs to. */
  defaults?: ArnDefaults
}

export class Queues {
  readonly #redis: Redis
  readonly #defaults: ArnDefaults

  constructor(redis: Redis, options: QueuesOptions = {}) {
    this.#redis = redis
    this.#defaults = options.defaults ?? ARN_DEFAULTS
  }

  /** Creates the queue, or sets the members given; `validation_failed` where the dead-letter queue does not exist. */
  async put(arn: string, set: Partial<QueueSettings>): Promise<{ queue: QueueRecord; created: boolean }> {
    throw this.#later(arn, set)
  }

  /** Sets the members given; `not_found`. */
  async patch(arn: string, set: Partial<QueueSettings>): Promise<QueueRecord> {
    throw this.#later(arn, set)
  }

  async get(arn: string): Promise<QueueRecord | null> {
    throw this.#later(arn)
  }

  async getWithCounts(arn: string): Promise<QueueWithCounts | null> {
    throw this.#later(arn)
  }

  /** Sorted by ARN. */
  async list(request: ListQueues): Promise<Page<QueueRecord>> {
    throw this.#later(request)
  }

  /** Removes the queue with all it holds; also when already gone. */
  async delete(arn: string): Promise<void> {
    throw this.#later(arn)
  }

  /** Removes what was sent before the call, available or not; `not_found`. */
  async purge(arn: string): Promise<number> {
    throw this.#later(arn)
  }

  /** One atomic write per 100 items; `not_found`. */
  async send(arn: string, items: SendItem[]): Promise<{ messageId: string }[]> {
    throw this.#later(arn, items)
  }

  /** What is visible now, without waiting (QueueWaits waits); `not_found`. */
  async receive(arn: string, request: ReceiveRequest): Promise<QueueMessage[]> {
    throw this.#later(arn, request)
  }

  /** As `receive`, with the time of the next message. */
  async receiveTurn(arn: string, request: ReceiveRequest): Promise<ReceiveTurn> {
    throw this.#later(arn, request)
  }

  /** Deletes by handle, in order; `not_found`. */
  async ack(arn: string, handles: string[]): Promise<HandleResult[]> {
    throw this.#later(arn, handles)
  }

  /** Hides for `seconds` from now, 0 shows at once; in order; `not_found`. */
  async changeVisibility(arn: string, handles: string[], seconds: number): Promise<HandleResult[]> {
    throw this.#later(arn, handles, seconds)
  }

  /** In order of retention; changes nothing; `not_found`. */
  async peek(arn: string, request: PeekRequest): Promise<Page<QueueMessage>> {
    throw this.#later(arn, request)
  }

  async message(arn: string, id: string): Promise<QueueMessage | null> {
    throw this.#later(arn, id)
  }

  /** False where there is no such message. */
  async deleteMessage(arn: string, id: string): Promise<boolean> {
    throw this.#later(arn, id)
  }

  async deadLetterCounts(arn: string): Promise<DeadLetterCounts> {
    throw this.#later(arn)
  }

  /** ARNs of the queues and subscriptions (at most 1,000 of each) whose redrive policy names this queue. */
  async sources(arn: string): Promise<string[]> {
    throw this.#later(arn)
  }

  /** Before the policy that names `arn` is written; queues do so by themselves. */
  async addSource(arn: string, source: string): Promise<void> {
    throw this.#later(arn, source)
  }

  /** After the policy no longer names `arn`. */
  async removeSource(arn: string, source: string): Promise<void> {
    throw this.#later(arn, source)
  }

  /** Removes what is too old and finishes what a crash left half done, in all queues; answers how many messages. */
  async sweep(): Promise<number> {
    throw this.#later()
  }

  #later(...given: unknown[]): Error {
    return new Error(`not yet: ${JSON.stringify(given)} ${this.#defaults.region} ${this.#redis.status}`)
  }
}
