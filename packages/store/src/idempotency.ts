/**
 * Idempotency keys of publishes, per topic, for 24 hours.
 *
 * Nothing is reserved: a publisher looks the key up, stores its job, and then claims the key for what it stored; dispatch
 * makes the same claim and drops a message whose key holds another value. So a crash anywhere leaves either nothing or a
 * message that is delivered, and of concurrent publishes one wins, whichever claims first.
 */
import { IDEMPOTENCY_SECONDS } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { idempotencyKey } from './keys.ts'

/** What a key holds, as JSON: a hash of the request and the ids it was given. */
export interface IdempotentPublish {
  h: string
  ids: string[]
}

export class Idempotency {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** What the topic's key holds, or null. */
  async find(topicArn: string, key: string): Promise<IdempotentPublish | null> {
    const value = await this.#redis.get(idempotencyKey(topicArn, key))
    return value === null ? null : (JSON.parse(value) as IdempotentPublish)
  }

  /** Claims the key for a stored publish; answers what it then holds: the given value, or the one that came first. */
  async claim(topicArn: string, key: string, value: string): Promise<IdempotentPublish> {
    const name = idempotencyKey(topicArn, key)
    const set = await this.#redis.set(name, value, 'EX', IDEMPOTENCY_SECONDS, 'NX')
    const winner = set === 'OK' ? value : ((await this.#redis.get(name)) ?? value)
    return JSON.parse(winner) as IdempotentPublish
  }

  /** Dispatch's claim, by the Redis key that a message carries: false where the key holds another publish. */
  async holds(name: string, value: string): Promise<boolean> {
    const set = await this.#redis.set(name, value, 'EX', IDEMPOTENCY_SECONDS, 'NX')
    return set === 'OK' || (await this.#redis.get(name)) === value
  }
}
