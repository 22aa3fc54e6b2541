/**
 * Runs long computations in turns of the event loop. A turn has a few milliseconds for all computations together, so
 * that other work waits no longer than that. A computation that has used up its turn waits for the next one. Waiting
 * computations go on one after the other, and new ones go before long ones. Loads have a line of their own.
 *
 * isOver? ── no ──▶ compute ─▶ spend(steps)
 *    └ yes ─▶ next() ─▶ isOver? …
 */

/** Length of a turn. A request may wait for several turns, one after the other. */
const TURN_MS = 4
/** Steps (10 to 30 ns each) between two looks at the clock, so that short work never reads it. */
const STEPS_UNSEEN = 20_000
/**
 * @limit Waiting computations that check each turn whether it has time for them. Past it: the others check in a later
 * turn.
 */
const BEGINNERS_MAX = 64

type Waiting = (() => void)[]

export class Turns {
  readonly #beginners: Waiting = []
  readonly #others: Waiting = []
  readonly #loads: Waiting = []
  #isLoadFirst = false
  #unseen = STEPS_UNSEEN
  /** When the turn began (performance.now()), if anything waited for it, else the first look at the clock. */
  #startedAt: number | undefined
  #isOver = false
  #isArmed = false

  /** The turn has no time left: `next` before more is computed. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** So much was computed. */
  spend(steps: number): void {
    this.#unseen -= steps
    if (this.#unseen > 0) return
    this.#unseen = STEPS_UNSEEN
    const now = performance.now()
    this.#startedAt ??= now
    if (now - this.#startedAt >= TURN_MS) this.#isOver = true
    this.#arm()
  }

  /** Something of unknown length was computed that began at `startedAt` (performance.now()). */
  spendSince(startedAt: number): void {
    this.#startedAt = Math.min(this.#startedAt ?? startedAt, startedAt)
    this.spend(STEPS_UNSEEN)
  }

  /** Resolves in a turn that may have time. */
  begin(): Promise<void> {
    return this.#wait(this.#beginners)
  }

  /** Computes in as many turns as it takes. undefined: `isGivenUp` said so between two of them. */
  async run<T>(work: Generator<number, T, void>, isGivenUp: () => boolean): Promise<T | undefined> {
    for (;;) {
      if (this.#isOver) await this.#wait(this.#others)
      if (isGivenUp()) return undefined
      const { done, value } = work.next()
      if (done) return value
      this.spend(value)
    }
  }

  /** The same for what many may wait for: it has every other turn, however many computations wait. */
  async load<T>(work: Generator<number, T, void>): Promise<T> {
    while (this.#isOver) await this.begin()
    for (;;) {
      if (this.#isOver) await this.#wait(this.#loads)
      const { done, value } = work.next()
      if (done) return value
      this.spend(value)
    }
  }

  #wait(waiting: Waiting): Promise<void> {
    this.#arm()
    return new Promise((resolve) => waiting.push(resolve))
  }

  #arm(): void {
    if (this.#isArmed) return
    this.#isArmed = true
    setImmediate(() => {
      this.#isArmed = false
      this.#isOver = false
      this.#startedAt = this.#isWaitedFor ? performance.now() : undefined
      this.#unseen = STEPS_UNSEEN
      for (const resolve of this.#beginners.splice(0, BEGINNERS_MAX)) resolve()
      // The first takes what is left of the turn, the other makes a single step.
      this.#isLoadFirst = !this.#isLoadFirst
      for (const line of this.#isLoadFirst ? [this.#loads, this.#others] : [this.#others, this.#loads])
        line.shift()?.()
      // Also after the last one: a later turn must not count from this one's beginning.
      if (this.#startedAt !== undefined) this.#arm()
    })
  }

  get #isWaitedFor(): boolean {
    return [this.#beginners, this.#others, this.#loads].some(({ length }) => length > 0)
  }
}
