/**
 * Limits the number of confirmation messages per hour: to one endpoint for one topic, and to one host for one account.
 * A subscriber may name any endpoint. Repeated requests would flood it, also if they delete and subscribe again, or use
 * another path or topic. Messages are counted in fixed windows, which begin with the first message. A count outlives
 * its subscription and topic. People get far fewer: some mails a day to one address for all topics and
 * accounts, and some for one API key.
 */
import { hash } from 'node:crypto'
import {
  CONFIRMATION_MAILS_PER_ADDRESS_MAX,
  CONFIRMATION_MAILS_PER_KEY_MAX,
  CONFIRMATIONS_PER_ENDPOINT_MAX,
  CONFIRMATIONS_PER_HOST_MAX,
  type Protocol,
  parseArn,
} from '@fantail/contracts'
import { comparableAddress, traitsOf } from '@fantail/policy'
import type { Redis } from 'ioredis'
import { type GrowthGuard, UNGUARDED } from '../capacity/growth.ts'
import { confirmationsKey } from '../keys.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

interface Confirmation {
  topicArn: string
  /** A webhook's URL, a queue's ARN, a mail address. */
  endpoint: string
  /** Absent: no person's. */
  protocol?: Protocol
  /** ARN of the key's user that subscribed. Absent: keys were not required. */
  principal?: string
}

interface Bound {
  scope: string
  most: number
  windowMs: number
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
  async take(confirmation: Confirmation): Promise<number> {
    await this.#growth.admit()
    const waits = await Promise.all(boundsOf(confirmation).map((bound) => this.#count(bound)))
    return Math.max(...waits)
  }

  async #count({ scope, most, windowMs }: Bound): Promise<number> {
    const key = confirmationsKey(hash('sha1', scope))
    const replies = await this.#redis
      .multi()
      .set(key, 0, 'PX', windowMs, 'NX')
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

function boundsOf(confirmation: Confirmation): Bound[] {
  const { topicArn, endpoint, protocol = '', principal } = confirmation
  const account = parseArn(topicArn)?.account ?? ''
  if (traitsOf(protocol)?.confirmedBy === 'person') {
    const address = comparableAddress(endpoint)
    return [
      { scope: `mail ${address}`, most: CONFIRMATION_MAILS_PER_ADDRESS_MAX, windowMs: DAY_MS },
      { scope: `mails of ${principal ?? account}`, most: CONFIRMATION_MAILS_PER_KEY_MAX, windowMs: DAY_MS },
    ]
  }
  const host = URL.parse(endpoint)?.host || endpoint
  return [
    { scope: `${topicArn} ${endpoint}`, most: CONFIRMATIONS_PER_ENDPOINT_MAX, windowMs: HOUR_MS },
    { scope: `${account} ${host}`, most: CONFIRMATIONS_PER_HOST_MAX, windowMs: HOUR_MS },
  ]
}

/**
 * The reason why the transaction was discarded. If memory is full, its SET is refused, but the transaction's own error
 * does not say so.
 */
function whyDiscarded(error: Error & { previousErrors?: Error[] }): never {
  throw error.previousErrors?.[0] ?? error
}
