/** Topics. */
import { ARN_DEFAULTS, type ArnDefaults, type TopicRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import type { Page } from './pages.ts'

/** What a caller may set; everything else of a TopicRecord is the store's. */
export type TopicSettings = Pick<
  TopicRecord,
  | 'displayName'
  | 'deliveryPolicy'
  | 'disableSubscriptionOverrides'
  | 'retentionSeconds'
  | 'signing'
  | 'attributes'
>

export interface SubscriptionCounts {
  active: number
  pending: number
  paused: number
}

export interface TopicsOptions {
  /** The account and region that a list's name prefix belongs to. */
  defaults?: ArnDefaults
}

export interface ListTopics {
  /** Of the name, in the default account and region; without it, topics of every account and region. */
  prefix?: string
  cursor?: string
  limit: number
}

export class Topics {
  readonly #redis: Redis
  readonly #defaults: ArnDefaults

  constructor(redis: Redis, options: TopicsOptions = {}) {
    this.#redis = redis
    this.#defaults = options.defaults ?? ARN_DEFAULTS
  }

  /** Creates the topic, or sets the members given on the one that exists. */
  async put(arn: string, set: Partial<TopicSettings>): Promise<{ topic: TopicRecord; created: boolean }> {
    throw this.#later(arn, set)
  }

  /** Sets the members given; `not_found`. */
  async patch(arn: string, set: Partial<TopicSettings>): Promise<TopicRecord> {
    throw this.#later(arn, set)
  }

  async get(arn: string): Promise<TopicRecord | null> {
    throw this.#later(arn)
  }

  async getWithCounts(
    arn: string,
  ): Promise<{ topic: TopicRecord; subscriptions: SubscriptionCounts } | null> {
    throw this.#later(arn)
  }

  async exists(arns: string[]): Promise<boolean[]> {
    throw this.#later(arns)
  }

  /** Sorted by ARN. */
  async list(request: ListTopics): Promise<Page<TopicRecord>> {
    throw this.#later(request)
  }

  /** Removes the topic and its subscriptions; also when already gone. */
  async delete(arn: string): Promise<void> {
    throw this.#later(arn)
  }

  /** Finishes what a crash left half done; answers how much that was. */
  async resumeDeletions(): Promise<number> {
    throw this.#later()
  }

  #later(...given: unknown[]): Error {
    return new Error(`not yet: ${JSON.stringify(given)} ${this.#defaults.region} ${this.#redis.status}`)
  }
}
