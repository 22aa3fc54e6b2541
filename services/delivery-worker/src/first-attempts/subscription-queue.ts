/** The first attempts of one subscription that wait, in order. */
import type { FirstAttempt } from './first-attempt.ts'

/**
 * Removing started attempts in groups is cheaper than one by one.
 * @limit Started entries that a queue of first attempts forgets at once.
 */
const HEAD_MAX = 64

export class SubscriptionQueue {
  /** When one was last started, or when the first one was queued; by performance.now(). */
  movedAt: number
  #waiting: FirstAttempt[]
  /** Index of the first waiting attempt. Those before it have been started. */
  #head = 0

  constructor(first: FirstAttempt) {
    this.movedAt = first.queuedAt
    this.#waiting = [first]
  }

  get first(): FirstAttempt | undefined {
    return this.#waiting[this.#head]
  }

  push(attempt: FirstAttempt): void {
    this.#waiting.push(attempt)
  }

  removeFirst(): void {
    this.#head++
    if (this.#head < HEAD_MAX) return
    this.#waiting.splice(0, this.#head)
    this.#head = 0
  }

  /** The waiting attempts at present. */
  all(): FirstAttempt[] {
    return this.#waiting.slice(this.#head)
  }

  replace(waiting: FirstAttempt[]): void {
    this.#waiting = waiting
    this.#head = 0
  }
}
