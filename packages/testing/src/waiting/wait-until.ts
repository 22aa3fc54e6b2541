/** Waits for a condition. Its error names the condition and shows the state of the stack. */

/** Test runners end a test after 5 s. This time is shorter, so that the error of the wait is seen. */
const CONDITION_MS = 4_000
const CONDITION_POLL_MS = 20

export interface WaitOptions {
  /** The longest wait. Default: `timeoutMs` of the stack, or else 4,000. */
  timeoutMs?: number | undefined
}

interface Wait {
  /** The condition in words, which follow on "timed out after 4000 ms: waited for". */
  what: string | (() => string)
  timeoutMs?: number | undefined
  intervalMs?: number
  /** More for the error. */
  explain?: () => Promise<string>
}

/** The error for a condition that was not true in time. */
export class WaitTimeoutError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WaitTimeoutError'
  }
}

/** Resolves with the first truthy result of `check`. Rejects with its error, or a WaitTimeoutError. */
export async function waitUntil<T>(
  check: () => T | Promise<T>,
  { what, timeoutMs = CONDITION_MS, intervalMs = CONDITION_POLL_MS, explain }: Wait,
): Promise<NonNullable<T>> {
  if (!Number.isFinite(timeoutMs) || timeoutMs < 0) {
    throw new TypeError(`timeoutMs must be a number of at least 0, not ${timeoutMs}`)
  }
  const end = performance.now() + timeoutMs
  for (;;) {
    const value = await check()
    if (value) return value as NonNullable<T>
    if (performance.now() > end) {
      const head = `timed out after ${timeoutMs} ms: waited for ${typeof what === 'string' ? what : what()}`
      throw new WaitTimeoutError([head, ...(explain ? [await explain()] : [])].join('\n'))
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs))
  }
}
