/** What dispatch loads and re-checks: revisions of topics and slices, and a slice whole. */
import type { SubscriptionRecord, TopicRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'

export interface SliceRef {
  sliceId: string
  shard: number
}

export interface TopicSlices {
  revision: string
  topic: TopicRecord
  /** Those that may hold subscriptions. */
  slices: SliceRef[]
}

export interface SliceData extends SliceRef {
  revision: string
  topic: TopicRecord
  subscriptions: SubscriptionRecord[]
}

export interface PlansOptions {
  /** Told of a subscription's record that cannot be read; its neighbours are loaded all the same. */
  onCorrupt?: (error: Error) => void
}

export class Plans {
  readonly #redis: Redis

  constructor(redis: Redis, _options: PlansOptions = {}) {
    this.#redis = redis
  }

  /** null: no such topic. */
  async topicRevisions(arns: string[]): Promise<(string | null)[]> {
    throw this.#later(arns)
  }

  /** null: no such slice (any more). */
  async sliceRevisions(refs: SliceRef[]): Promise<(string | null)[]> {
    throw this.#later(refs)
  }

  async topicSlices(arn: string): Promise<TopicSlices | null> {
    throw this.#later(arn)
  }

  /** All of it as of one instant. */
  async slice(ref: SliceRef): Promise<SliceData | null> {
    throw this.#later(ref)
  }

  #later(...given: unknown[]): Error {
    return new Error(`not yet: ${JSON.stringify(given)} ${this.#redis.status}`)
  }
}
