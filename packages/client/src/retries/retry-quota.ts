/**
 * Tokens that the retries of one client share, as in the AWS SDKs' standard mode. A retry takes tokens, and a success
 * gives some back. If too few are left, the call fails with its last error, or waits. While calls wait, one retry a
 * second is let through, so that the client notices when the server works again.
 */
import type { FailureKind } from '../failures/client-error.ts'

/** Tokens of a client's retry quota. Past it: successes add none. */
export const RETRY_TOKENS_MAX = 500
const COST: Record<FailureKind, number> = { transient: 14, throttling: 5, final: 0 }
/** Tokens that a success without a retry gives back. */
const FIRST_SUCCESS_TOKENS = 1
/** While the quota is empty, one waiting retry is let through in each interval of this length. */
const WAITER_EVERY_MS = 1_000

interface Waiter {
  cost: number
  /** Lets the retry go. `taken`: the tokens that it took; 0 for the one that is let through. */
  go(taken: number): void
}

export class RetryQuota {
  #tokens = RETRY_TOKENS_MAX
  readonly #waiters = new Set<Waiter>()
  #timer: ReturnType<typeof setTimeout> | undefined

  get tokens(): number {
    return this.#tokens
  }

  /** The tokens that a retry takes, or undefined if there are too few. */
  take(kind: FailureKind): number | undefined {
    const cost = COST[kind]
    if (cost > this.#tokens || this.#waiters.size > 0) return undefined
    this.#tokens -= cost
    return cost
  }

  /** Waits for tokens. Resolves with the number that the retry took. Rejects with the signal's reason. */
  wait(kind: FailureKind, signal: AbortSignal): Promise<number> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiters.delete(waiter)
        reject(signal.reason)
      }
      const go = (taken: number) => {
        signal.removeEventListener('abort', stop)
        resolve(taken)
      }
      const waiter = { cost: COST[kind], go }
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', stop, { once: true })
      this.#waiters.add(waiter)
      this.#startTimer()
    })
  }

  /** Called after a success. `taken`: tokens of the call's last retry. undefined: the call had no retry. */
  giveBack(taken: number | undefined): void {
    this.#tokens = Math.min(RETRY_TOKENS_MAX, this.#tokens + (taken ?? FIRST_SUCCESS_TOKENS))
    for (const waiter of this.#waiters) {
      if (waiter.cost > this.#tokens) return
      this.#tokens -= waiter.cost
      this.#release(waiter, waiter.cost)
    }
  }

  #release(waiter: Waiter, taken: number): void {
    this.#waiters.delete(waiter)
    waiter.go(taken)
  }

  #startTimer(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      const [first] = this.#waiters
      if (first) this.#release(first, 0)
      if (this.#waiters.size > 0) this.#startTimer()
    }, WAITER_EVERY_MS)
  }
}

const BASE_MS: Record<FailureKind, number> = { transient: 50, throttling: 1_000, final: 0 }
/** Delay of a client's retry before jitter. Past it: it stays at this value. */
const RETRY_DELAY_MS_MAX = 20_000

/**
 * The wait before a retry: a random part (full jitter) of a delay that doubles, as in the AWS SDKs
 * (https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html). `retry`: 1 for the first one.
 * `random`: from 0 to below 1.
 */
export function retryDelayMs(kind: FailureKind, retry: number, random: number): number {
  return random * Math.min(RETRY_DELAY_MS_MAX, BASE_MS[kind] * 2 ** (retry - 1))
}

/** The wait in ms that `Retry-After` asks for. The header has whole seconds or a date. undefined: it has neither. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
