/**
 * The time of the stack in this process: monotonic ms that jump when the stack's time is moved. It is for pauses and
 * ages that belong to deliveries and queues, such as a pause after a failure. Deadlines of requests, connections and
 * locks use performance.now(), because the clocks of other machines do not jump. docs/time-travel.md lists both kinds.
 *
 * Without time travel this is performance.now() and setTimeout().
 */

/** Longest timer of the runtime. Past it: a further timer follows. */
const PASSING_TIMER_MS_MAX = 2_147_483_647

export interface PassingTimer {
  cancel(): void
}

interface Waiting {
  /** By `now()`. */
  at: number
  run(): void
  timer: NodeJS.Timeout | undefined
}

export class PassingTime {
  #offsetMs = 0
  readonly #waiting = new Set<Waiting>()

  /** The ms by which the stack's time was moved. 0: it was never moved. */
  get offsetMs(): number {
    return this.#offsetMs
  }

  /** Monotonic ms. */
  now(): number {
    return performance.now() + this.#offsetMs
  }

  /** The real time at an epoch time of the stack. It is used for signatures and tokens that others check. */
  realOf(epochMs: number): number {
    return epochMs - this.#offsetMs
  }

  after(ms: number, run: () => void): PassingTimer {
    const waiting: Waiting = { at: this.now() + ms, run, timer: undefined }
    this.#waiting.add(waiting)
    this.#arm(waiting)
    return { cancel: () => this.#cancel(waiting) }
  }

  /** The ms until the next timer is due. null: there is none. */
  get nextInMs(): number | null {
    const times = [...this.#waiting].map(({ at }) => at)
    return times.length === 0 ? null : Math.max(0, Math.min(...times) - this.now())
  }

  /** Moves the time, and runs the timers that are then due, in the order of their times. */
  moveTo(offsetMs: number): void {
    if (offsetMs === this.#offsetMs) return
    this.#offsetMs = offsetMs
    const all = [...this.#waiting].sort((a, b) => a.at - b.at)
    for (const waiting of all) {
      clearTimeout(waiting.timer)
      if (waiting.at <= this.now()) this.#run(waiting)
      else this.#arm(waiting)
    }
  }

  #arm(waiting: Waiting): void {
    const lookAgain = () => (waiting.at <= this.now() ? this.#run(waiting) : this.#arm(waiting))
    const leftMs = Math.max(0, Math.ceil(waiting.at - this.now()))
    waiting.timer = setTimeout(lookAgain, Math.min(leftMs, PASSING_TIMER_MS_MAX))
  }

  #run(waiting: Waiting): void {
    if (this.#waiting.delete(waiting)) waiting.run()
  }

  #cancel(waiting: Waiting): void {
    clearTimeout(waiting.timer)
    this.#waiting.delete(waiting)
  }
}

/** The one of this process. */
export const passingTime = new PassingTime()
