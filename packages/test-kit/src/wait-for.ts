/** Waits for a condition. Tests wait with no other code. */
import { waitedMs } from './fair-timer.ts'

const WAIT_MS = 15_000

interface WaitOptions {
  /** Names the condition in the error. */
  what?: string
  timeoutMs?: number
  intervalMs?: number
}

/**
 * Resolves with the first truthy result of `condition`. Rejects after the time-out, with the condition's name. Time in
 * which this process waited for a processor does not count.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { what = 'a condition', timeoutMs = WAIT_MS, intervalMs = 10 }: WaitOptions = {},
): Promise<NonNullable<T>> {
  const patience = new Patience(timeoutMs)
  for (;;) {
    const value = await condition()
    if (value) return value as NonNullable<T>
    if (patience.isOver()) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, intervalMs))
  }
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
