/**
 * The faults of a provider, chosen by the number of the message and the number of its attempts. Texts without a number
 * get no fault. Every fault is over by the second attempt, except a refusal, which is final.
 */

export type ProviderFault =
  /** An error of the provider's own. */
  | 'fails'
  | 'throttles'
  /** The provider takes the request and never answers. */
  | 'hangs'
  /** The provider takes the request and closes the connection. */
  | 'resets'
  /** An answer that does not follow the provider's protocol. */
  | 'nonsense'
  /** A permanent error for this message alone. */
  | 'refuses'
  /** The credential is refused. The provider refuses it for one message in EXPIRES.every. */
  | 'expires'

/** The messages with these numbers, out of every 20, get a fault at their first attempts. */
const BY_NUMBER: Readonly<Record<number, ProviderFault>> = {
  1: 'fails',
  4: 'throttles',
  7: 'hangs',
  10: 'resets',
  13: 'nonsense',
}
const CYCLE = 20
const REFUSED = 16
/** After such a refusal the lane waits for a minute, so runs of half a minute end before the first one. */
const EXPIRES = { from: 600, every: 900 }

export function isRefused(text: string): boolean {
  return numberOf(text) % CYCLE === REFUSED
}

/** Whether the provider takes the message without reporting what it did with it. */
export function isUnanswered(text: string): boolean {
  const fault = BY_NUMBER[numberOf(text) % CYCLE]
  return fault === 'hangs' || fault === 'resets'
}

/** The credential of one provider. Endpoints with the same credential share it. */
export class Expiry {
  readonly #expired = new Set<number>()

  /** Whether the credential is refused for this message. */
  meets(number: number): boolean {
    const time = Math.floor((number - EXPIRES.from) / EXPIRES.every)
    if (time < 0 || this.#expired.has(time)) return false
    this.#expired.add(time)
    return true
  }
}

/** The faults that one endpoint meets. */
export class ProviderFaults {
  readonly #attempts = new Map<string, number>()
  readonly #expiry: Expiry

  constructor(expiry: Expiry) {
    this.#expiry = expiry
  }

  /** Must be called once for each attempt at a message. */
  next(text: string): ProviderFault | undefined {
    const number = numberOf(text)
    const attempt = (this.#attempts.get(text) ?? 0) + 1
    this.#attempts.set(text, attempt)
    if (Number.isNaN(number)) return undefined
    if (isRefused(text)) return 'refuses'
    if (this.#expiry.meets(number)) return 'expires'
    return attempt === 1 ? BY_NUMBER[number % CYCLE] : undefined
  }
}

function numberOf(text: string): number {
  return Number(/^m(\d+)$/.exec(text)?.[1] ?? Number.NaN)
}
