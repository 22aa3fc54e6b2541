/**
 * Limits how many messages a process sends to one provider at a time. While the provider does not answer, the limit is
 * lower. So the subscriptions of a provider that hangs cannot take all slots of a worker, however many they are.
 */
import type { AttemptResult } from '@fantail/contracts'
import { LRUCache } from 'lru-cache'
import { failure } from '../http/attempt-failure.ts'

/**
 * Mails, or text messages, that a process sends at a time. Messages that wait for a connection count too. Past it: the
 * attempt is not made, is not counted, and waits for a second or more. Such messages therefore never take all slots of
 * a worker.
 */
const UNDER_WAY_MAX = 500
/**
 * Mails, text messages, notifications, invocations or requests with records that a process sends to one provider at a
 * time while it does not answer. Past it: the attempt is not made, is not counted, and waits for a second or more.
 */
const WHILE_SILENT_MAX = 20
/**
 * How long a provider may answer none of its messages. Past it: the lower limit holds, until the provider answers
 * again.
 */
const PROVIDER_SILENT_MS = 2_000

export class UnderWay {
  /** Monotonic ms. */
  readonly #now: () => number
  readonly #max: number
  #count = 0
  /** When the provider last answered. If it had no messages to answer, the time when the first one began. */
  #heardAt = 0

  /** `max`: the limit while the provider answers. */
  constructor(now: () => number, max = UNDER_WAY_MAX) {
    this.#now = now
    this.#max = max
  }

  get count(): number {
    return this.#count
  }

  /** Returns false if the limit is reached. */
  begin(): boolean {
    if (this.#count === 0) this.#heardAt = this.#now()
    const isSilent = this.#now() - this.#heardAt > PROVIDER_SILENT_MS
    if (this.#count >= (isSilent ? WHILE_SILENT_MAX : this.#max)) return false
    this.#count++
    return true
  }

  answered(): void {
    this.#heardAt = this.#now()
  }

  end(): void {
    this.#count--
  }
}

/** Providers of a kind whose requests a process counts. Past it: the least recently used one is forgotten. */
const PROVIDERS_MAX = 1_000

/** All providers of a kind. A provider that answers has no limit here, because each subscription has its own. */
export class ProvidersUnderWay {
  readonly #byName = new LRUCache<string, UnderWay>({ max: PROVIDERS_MAX })

  of(provider: string): UnderWay {
    const known = this.#byName.get(provider)
    if (known) return known
    const underWay = new UnderWay(() => performance.now(), Number.POSITIVE_INFINITY)
    this.#byName.set(provider, underWay)
    return underWay
  }
}

/** The result of an attempt that was not made, because `begin` returned false. */
export function refusedBy({ count }: UnderWay): AttemptResult {
  return failure('service_limit', `${count} requests wait for the provider, which does not answer`, 0)
}
