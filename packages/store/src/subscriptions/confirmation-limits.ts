/**
 * Limits the number of confirmation messages per hour: to one endpoint for one topic, and to one host for one account.
 * A subscriber may name any endpoint. Repeated requests would flood it, also if they delete and subscribe again, or use
 * another path or topic. Messages are counted in fixed windows, which begin with the first message. A count outlives
 * its subscription and topic.
 */
import { hash } from 'node:crypto'
import { CONFIRMATIONS_PER_ENDPOINT_MAX, CONFIRMATIONS_PER_HOST_MAX, parseArn } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { type GrowthGuard, UNGUARDED } from '../capacity/growth.ts'
import { confirmationsKey } from '../keys.ts'

const WINDOW_MS = 3_600_000

interface Confirmation {
  topicArn: string
  /** A webhook's URL, or a queue's ARN. */
  endpoint: string
}

export class ConfirmationLimits {
  readonly #redis: Redis
  readonly #growth: GrowthGuard

  constructor(redis: Redis, { growth = UNGUARDED }: { growth?: GrowthGuard } = {}) {
    this.#redis = redis
    this.#growth = growth
  }

  /**
   * Counts one more, and answers 0; past a bound, the ms until there may be one. `storage_full`: the message would grow
   * it.
   */
  async take({ topicArn, endpoint }: Confirmation): Promise<number> {
    await this.#growth.admit()
    const account = parseArn(topicArn)?.account ?? ''
    const host = URL.parse(endpoint)?.host || endpoint
    const waits = await Promise.all([
      this.#count(`${topicArn} ${endpoint}`, CONFIRMATIONS_PER_ENDPOINT_MAX),
      this.#count(`${account} ${host}`, CONFIRMATIONS_PER_HOST_MAX),
    ])
    return Math.max(...waits)
  }

  async #count(scope: string, most: number): Promise<number> {
    const key = confirmationsKey(hash('sha1', scope))
    const replies = await this.#redis
      .multi()
      .set(key, 0, 'PX', WINDOW_MS, 'NX')
      .incr(key)
      .pttl(key)
      .exec()
      .catch(whyDiscarded)
    const failed = replies?.find(([error]) => error)?.[0]
    if (failed) throw failed
    const [, count, leftMs] = (replies ?? []).map(([, reply]) => Number(reply))
    return Number(count) > most ? Math.max(1, Number(leftMs)) : 0
  }
}

/**
 * The reason why the transaction was discarded. If memory is full, its SET is refused, but the transaction's own error
 * does not say so.
 */
function whyDiscarded(error: Error & { previousErrors?: Error[] }): never {
  throw error.previousErrors?.[0] ?? error
}
