/** Waiting for a condition; the only place of the tests that lets time pass. */
import { waitedMs } from './fair-timer.ts'

const WAIT_MS = 15_000

interface WaitOptions {
  /** Names the condition in the error. */
  what?: string
  timeoutMs?: number
  intervalMs?: number
}

/**
 * Resolves with the first truthy result of `condition`; rejects, naming it, when the time is up. Time in which this
 * process waited for a processor does not count.
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

/** Reads what the kernel counts at the start and when the time seems up: a wait that ends in time costs one read. */
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
