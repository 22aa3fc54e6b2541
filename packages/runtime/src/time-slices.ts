/**
 * Runs long computations in time slices. All computations together get a few milliseconds of a turn of the event loop,
 * so other work never waits longer. When this time is used up, a computation waits for a later turn. Waiting
 * computations go one after the other, and new ones go first. Loads (see `load`) wait in a queue of their own.
 *
 *   isOver? ── no ──▶ compute ─▶ spend(steps)
 *           └ yes ─▶ begin() ─▶ isOver? …
 */

/** Time that all computations together get in a turn. A request may wait for several turns. */
const TIME_SLICE_MS = 4
/** The clock is read once in this number of steps, which take 10 to 30 ns each. Short work never reads it. */
const STEPS_UNSEEN = 20_000
/**
 * Waiting computations that check each turn whether it has time for them. Past it: the others check in a later turn.
 */
const BEGINNERS_MAX = 64

type Waiting = (() => void)[]

export class TimeSlices {
  readonly #beginners: Waiting = []
  readonly #others: Waiting = []
  readonly #loads: Waiting = []
  #isLoadFirst = false
  #unseen = STEPS_UNSEEN
  /**
   * When the turn's time began, by performance.now(). It is the start of the turn if a computation was waiting, else
   * the first reading of the clock.
   */
  #startedAt: number | undefined
  #isOver = false
  #isArmed = false

  /** Whether the turn's time is used up. Then `begin` must be awaited before more is computed. */
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
    if (now - this.#startedAt >= TIME_SLICE_MS) this.#isOver = true
    this.#arm()
  }

  /** Reports a computation of unknown length that began at `startedAt` (performance.now()). */
  spendSince(startedAt: number): void {
    this.#startedAt = Math.min(this.#startedAt ?? startedAt, startedAt)
    this.spend(STEPS_UNSEEN)
  }

  /** Resolves in a turn that may have time left. */
  begin(): Promise<void> {
    return this.#wait(this.#beginners)
  }

  /**
   * Does the work in as many turns as it needs. Between two turns it asks `isGivenUp`, and returns undefined if that is
   * true.
   */
  async run<T>(work: Generator<number, T, void>, isGivenUp: () => boolean): Promise<T | undefined> {
    for (;;) {
      if (this.#isOver) await this.#wait(this.#others)
      if (isGivenUp()) return undefined
      const { done, value } = work.next()
      if (done) return value
      this.spend(value)
    }
  }

  /** Like `run`, for work that many requests may wait for. It gets every other turn, however many computations wait. */
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
      // The first of the two lines gets the rest of the turn, and the other one a single step. They take turns in being
      // first.
      this.#isLoadFirst = !this.#isLoadFirst
      for (const line of this.#isLoadFirst ? [this.#loads, this.#others] : [this.#others, this.#loads])
        line.shift()?.()
      // Arm also after the last computation. Otherwise a later turn would count from the beginning of this one.
      if (this.#startedAt !== undefined) this.#arm()
    })
  }

  get #isWaitedFor(): boolean {
    return [this.#beginners, this.#others, this.#loads].some(({ length }) => length > 0)
  }
}
