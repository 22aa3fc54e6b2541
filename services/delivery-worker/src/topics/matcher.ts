/**
 * Matches messages with filters without blocking the worker. Nearly every message is matched at once, in microseconds.
 * The match of a costlier one starts again in steps, which share turns of the event loop (runtime/src/turns.ts). Such a
 * message is only late, never dropped.
 *
 * A message in steps holds its parsed text, which may take many times the bytes of the text. Messages are therefore
 * begun only while the total stays below a limit. The others wait unparsed. Small messages wait only for small ones.
 * Messages that are matched at once never wait.
 */
import {
  MatchWork,
  PARSED_BYTES_MAX,
  PARSED_SMALL_BYTES_MAX,
  parsedBytes,
  type Steps,
  TooMuchWork,
} from '@fantail/policy'
import { SplitBudget, Turns } from '@fantail/runtime'
import type { MessageContext } from './message-context.ts'

/**
 * Takes a few milliseconds at most. A message to 1,000 of 100,000 subscriptions takes about 3,000 steps.
 * @limit Work of a match in one go. Past it: the match is begun anew in steps.
 */
const MATCH_STEPS_MAX = 100_000
/** Parsing a text of this many code units or more may take a while. */
const LONG_TEXT = 16_384

export interface Matching<T> {
  context: Pick<MessageContext, 'message' | 'sizeBytes' | 'forgetSubjects'>
  /** Throws TooMuchWork. */
  inOneGo(work: MatchWork): T
  /** The filters at the time of the call decide the result. */
  inSteps(): Steps<T>
  /** The caller does not need the answer any more. */
  isGivenUp(): boolean
}

export class Matcher {
  readonly #turns: Turns
  readonly #work = new MatchWork(MATCH_STEPS_MAX)
  readonly #parsed = new SplitBudget(PARSED_BYTES_MAX, PARSED_SMALL_BYTES_MAX)

  constructor(turns = new Turns()) {
    this.#turns = turns
  }

  /** Returns a promise only if it must wait. Its value is undefined if the answer was given up. */
  match<T>(matching: Matching<T>): T | Promise<T | undefined> {
    return this.#turns.isOver ? this.#matchLater(matching) : this.#matchNow(matching)
  }

  async #matchLater<T>(matching: Matching<T>): Promise<T | undefined> {
    matching.context.forgetSubjects()
    while (this.#turns.isOver) await this.#turns.begin()
    return matching.isGivenUp() ? undefined : this.#matchNow(matching)
  }

  #matchNow<T>(matching: Matching<T>): T | Promise<T | undefined> {
    const startedAt = matching.context.message.message.length < LONG_TEXT ? undefined : performance.now()
    this.#work.reset(MATCH_STEPS_MAX)
    try {
      return matching.inOneGo(this.#work)
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error
      return this.#matchInSteps(matching)
    } finally {
      if (startedAt === undefined) this.#turns.spend(MATCH_STEPS_MAX - this.#work.left)
      else this.#turns.spendSince(startedAt)
    }
  }

  async #matchInSteps<T>(matching: Matching<T>): Promise<T | undefined> {
    const bytes = parsedBytes(matching.context.sizeBytes)
    const wait = this.#parsed.enter(bytes)
    if (wait) {
      matching.context.forgetSubjects()
      await wait
    }
    try {
      if (matching.isGivenUp()) return undefined
      return await this.#turns.run(matching.inSteps(), () => matching.isGivenUp())
    } finally {
      matching.context.forgetSubjects()
      this.#parsed.leave(bytes)
    }
  }
}
