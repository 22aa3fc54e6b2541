/**
 * Matches messages with filters without keeping the worker from anything else. Nearly every message is matched in one go, in
 * microseconds. What takes more is begun anew in steps, in turns of the event loop that it shares with all others of its
 * kind (runtime/src/turns.ts): it is done later, never dropped.
 */
import { MatchWork, type Steps, TooMuchWork } from '@fantail/policy'
import { Turns } from '@fantail/runtime'

/** In one go: a few milliseconds at most. A message to 1,000 of 100,000 subscriptions takes about 3,000. */
const STEPS_MAX = 100_000
/** A text of so many code units or more may take a while to be parsed. */
const LONG_TEXT = 16_384

export interface Matching<T> {
  /** Of the message's text. */
  size: number
  /** Throws TooMuchWork. */
  inOneGo(work: MatchWork): T
  /** What it comes to is decided by the filters there are when it is called. */
  inSteps(): Steps<T>
  /** Nobody wants the answer any more. */
  isGivenUp(): boolean
}

export class Matcher {
  readonly #turns = new Turns()
  readonly #work = new MatchWork(STEPS_MAX)

  /** A promise only where there is a wait; of undefined where the answer was given up. */
  match<T>(matching: Matching<T>): T | Promise<T | undefined> {
    return this.#turns.isOver ? this.#matchLater(matching) : this.#matchNow(matching)
  }

  async #matchLater<T>(matching: Matching<T>): Promise<T | undefined> {
    while (this.#turns.isOver) await this.#turns.begin()
    return matching.isGivenUp() ? undefined : this.#matchNow(matching)
  }

  #matchNow<T>(matching: Matching<T>): T | Promise<T | undefined> {
    const startedAt = matching.size < LONG_TEXT ? undefined : performance.now()
    this.#work.reset(STEPS_MAX)
    try {
      return matching.inOneGo(this.#work)
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error
      return this.#turns.run(matching.inSteps(), () => matching.isGivenUp())
    } finally {
      if (startedAt === undefined) this.#turns.spend(STEPS_MAX - this.#work.left)
      else this.#turns.spendSince(startedAt)
    }
  }
}
