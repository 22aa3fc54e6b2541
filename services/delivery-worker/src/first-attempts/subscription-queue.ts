/** A queue of waiting first attempts of one subscription. */
import type { FirstAttempt } from './first-attempt.ts'

/**
 * Places of started attempts in a queue. Past it: they are removed together. Removing places in groups is cheaper than
 * one by one.
 */
const HEAD_MAX = 64

export class SubscriptionQueue {
  /**
   * When an attempt was last started, or else when the first one was queued, by performance.now(). It is later if the
   * queue has waited for a check of the snapshot.
   */
  movedAt: number
  /** Places of started attempts are empty, so that the queue does not keep these attempts in memory. */
  #waiting: (FirstAttempt | undefined)[]
  /** Index of the first waiting attempt. Attempts before it have been started. */
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
    this.#waiting[this.#head] = undefined
    this.#head++
    if (this.#head < HEAD_MAX) return
    this.#waiting.splice(0, this.#head)
    this.#head = 0
  }

  /** The waiting attempts at present. */
  all(): FirstAttempt[] {
    return this.#waiting.slice(this.#head).filter((attempt) => attempt !== undefined)
  }

  replace(waiting: FirstAttempt[]): void {
    this.#waiting = waiting
    this.#head = 0
  }
}
