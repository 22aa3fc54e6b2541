/**
 * Pauses between tries while something outside fails: 0.1 to 2 s, doubling, with jitter so that processes do not retry
 * in step.
 */

export interface Backoff {
  /** The next pause; each is up to twice the one before. */
  nextMs(): number
  /** After a success. */
  reset(): void
}

interface BackoffOptions {
  minMs?: number
  maxMs?: number
  random?: () => number
}

export function createBackoff({
  minMs = 100,
  maxMs = 2_000,
  random = Math.random,
}: BackoffOptions = {}): Backoff {
  let topMs = minMs
  return {
    nextMs() {
      topMs = Math.min(topMs * 2, maxMs)
      // From half of the top to the top: never sooner than minMs, and two processes soon drift apart.
      return Math.max(minMs, Math.round(topMs * (0.5 + random() / 2)))
    },
    reset() {
      topMs = minMs
    },
  }
}
