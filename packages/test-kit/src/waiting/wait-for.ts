/** Waits for a condition. Tests wait with no other code. */
import { waitedMs } from './fair-timer.ts'

const WAIT_MS = 15_000
const INTERVAL_MS = 10
/** A condition often asks an API. If several tests did that a hundred times a second, they would fill a processor. */
const INTERVAL_MS_MAX = 100
/** The interval grows with the time that has passed, so that no wait becomes much longer by it. */
const INTERVAL_PART = 0.05

interface WaitOptions {
  /** Names the condition in the error. */
  what?: string
  timeoutMs?: number
  /** Between two looks. Default: 10, and up to 100 in a long wait. */
  intervalMs?: number
}

/**
 * Resolves with the first truthy result of `condition`. Rejects after the time-out, with the condition's name. Time in
 * which this process waited for a processor does not count.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { what = 'a condition', timeoutMs = WAIT_MS, intervalMs }: WaitOptions = {},
): Promise<NonNullable<T>> {
  const patience = new Patience(timeoutMs)
  const startedAt = performance.now()
  for (;;) {
    const value = await condition()
    if (value) return value as NonNullable<T>
    if (patience.isOver()) throw new Error(`timed out after ${timeoutMs} ms: waited for ${what}`)
    const pauseMs = intervalMs ?? pauseAfter(performance.now() - startedAt)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

function pauseAfter(elapsedMs: number): number {
  return Math.min(INTERVAL_MS_MAX, INTERVAL_MS + elapsedMs * INTERVAL_PART)
}

/** Reads the kernel's counters at the start and at the time-out. A wait that ends before costs one read. */
class Patience {
  #end: number
  #waited = waitedMs('self')

  constructor(timeoutMs: number) {
    this.#end = performance.now() + timeoutMs
  }

  isOver(): boolean {
    if (performance.now() <= this.#end) return false
    const waited = waitedMs('self')
    this.#end += waited - this.#waited
    this.#waited = waited
    return performance.now() > this.#end
  }
}
