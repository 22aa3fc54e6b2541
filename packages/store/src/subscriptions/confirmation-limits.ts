/**
 * Limits the number of confirmation messages per hour: to one endpoint for one topic, and to one host for one account.
 * A subscriber may name any endpoint, so repeated requests could flood somebody else's endpoint. This would even work
 * with deletions in between, or with other paths and topics. So messages are counted in fixed windows, which begin with
 * the first message. Counts stay when a subscription or topic is deleted. Mail addresses have lower limits: a few mails
 * a day for one address over all topics and accounts, and a limit for each API key.
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
import { confirmationsKey } from '../keys/keys.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

interface Confirmation {
  topicArn: string
  /** The URL of a webhook, the ARN of a queue, or a mail address. */
  endpoint: string
  /** Absent: the endpoint is not a mail address. */
  protocol?: Protocol
  /** ARN of the user whose API key subscribed. Absent: no keys were required. */
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
   * Counts one more message and returns 0. If a limit is reached, returns the ms until a message is allowed again.
   * Throws `storage_full` past the watermark, because the message needs memory.
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
