/**
 * Pauses between tries while another system fails: 0.1 to 2 s, doubling. Random jitter keeps processes from trying at
 * the same time.
 */

export interface Backoff {
  /** The next pause, up to twice as long as the one before. */
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
      // Between half of the top and the top, and never below minMs. Two processes then soon try at different times.
      return Math.max(minMs, Math.round(topMs * (0.5 + random() / 2)))
    },
    reset() {
      topMs = minMs
    },
  }
}
