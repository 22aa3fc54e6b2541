/**
 * The cost of matching, in steps. A step is about one look-up of a value, 10 to 30 ns. A worker matches a message at
 * once up to a limit of steps. Past it, the match starts again in steps (match-in-steps.ts).
 */

/** A match at once needs more steps than allowed. */
export class TooMuchWork extends Error {
  constructor() {
    super('to be matched in steps')
    this.name = 'TooMuchWork'
  }
}

export class MatchWork {
  #left: number

  constructor(steps: number) {
    this.#left = steps
  }

  get left(): number {
    return this.#left
  }

  /** For the next message. */
  reset(steps: number): void {
    this.#left = steps
  }

  /** Must be called before the steps are made. Throws TooMuchWork. */
  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new TooMuchWork()
  }
}

/** Without a limit. */
export const ANY_WORK = new MatchWork(Number.POSITIVE_INFINITY)

/** Work in pieces. After each piece it yields the number of steps that were made. */
export type Steps<T> = Generator<number, T, void>

/** Between two yields, about. */
export const STEPS_AT_ONCE = 4_096

/** A search takes one step for this many code units of the text (see `searches` of ConditionList). */
const UNITS_PER_STEP = 16

/** Steps of one pass of the list over a key's values. */
export function passSteps(
  { steps, searches }: { steps: number; searches: boolean },
  { values, size }: { values: number; size: number },
): number {
  return steps * (values + (searches ? Math.ceil(size / UNITS_PER_STEP) : 0))
}

/** To parse a body, at most. */
export function parseSteps({ size }: { size: number }): number {
  return 1 + (size >> 1)
}

/** Does all the work at once. Returns its result and the number of steps. */
export function inOneGo<T>(work: Steps<T>): { value: T; steps: number } {
  let steps = 0
  for (;;) {
    const next = work.next()
    if (next.done) return { value: next.value, steps }
    steps += next.value
  }
}
