/** Subscriptions. */
import type {
  DeliveryPolicy,
  Protocol,
  RedrivePolicy,
  SubscriptionRecord,
  SubscriptionStatus,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import type { Page } from './pages.ts'

export interface NewSubscription {
  topicArn: string
  protocol: Protocol
  endpoint: string
  rawMessageDelivery: boolean
  deliveryPolicy: DeliveryPolicy | null
  redrivePolicy: RedrivePolicy | null
  maxInFlight: number
  confirmation: 'none' | 'handshake'
  token?: string
  tokenExpiresAt?: number
  attributes: Record<string, string>
}

export interface ListSubscriptions {
  topicArn?: string
  endpoint?: string
  status?: SubscriptionStatus
  cursor?: string
  limit: number
}

export interface SubscriptionsOptions {
  /** Subscriptions per slice; smaller in tests. */
  sliceSubscriptionsMax?: number
  /** Told of a record that cannot be read, which lists then leave out; without it they throw. */
  onCorrupt?: (error: Error) => void
}

/** Computes the members to change from the record as it stands; called again where another writer came first. */
export type SubscriptionChange = (current: SubscriptionRecord) => Partial<SubscriptionRecord>

export class Subscriptions {
  readonly #redis: Redis

  constructor(redis: Redis, _options: SubscriptionsOptions = {}) {
    this.#redis = redis
  }

  /** The new subscription, or the one that has the same topic, protocol and endpoint (`created` false); `not_found`. */
  async create(input: NewSubscription): Promise<{ subscription: SubscriptionRecord; created: boolean }> {
    throw this.#later(input)
  }

  /** Unsubscribed ones too: the caller looks at the flag. */
  async get(id: string): Promise<SubscriptionRecord | null> {
    throw this.#later(id)
  }

  /** Where the subscription lives, unsubscribed ones too. */
  async locate(id: string): Promise<{ sliceId: string; shard: number; topicArn: string } | null> {
    throw this.#later(id)
  }

  /** Without those that are unsubscribed. */
  async list(request: ListSubscriptions): Promise<Page<SubscriptionRecord>> {
    throw this.#later(request)
  }

  /** `not_found`; `conflict` where other writers came first time and again. */
  async update(id: string, change: SubscriptionChange): Promise<SubscriptionRecord> {
    throw this.#later(id, change)
  }

  /** False where there is no such subscription. */
  async delete(id: string): Promise<boolean> {
    throw this.#later(id)
  }

  /** The topic's subscription with this token, expired, confirmed or unsubscribed as it may be. */
  async findByToken(topicArn: string, token: string): Promise<SubscriptionRecord | null> {
    throw this.#later(topicArn, token)
  }

  /** Deletes pending and unsubscribed ones whose token has expired; answers how many. */
  async expirePending(): Promise<number> {
    throw this.#later()
  }

  #later(...given: unknown[]): Error {
    return new Error(`not yet: ${JSON.stringify(given)} ${this.#redis.status}`)
  }
}
