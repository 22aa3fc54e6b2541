/**
 * Matches messages with filters without blocking the worker. Matches share a few milliseconds in each turn of the event
 * loop (runtime/src/time-slices.ts). If these are used up, a match waits for a later turn.
 *
 * Nearly every match takes microseconds and is made in one go. If a match turns out to need more work, it is stopped
 * and begun again in steps, over several time slices. The message is then late, but never dropped.
 *
 * A match in steps holds the parsed text of its message, which may take many times the memory of the text itself. The
 * total of these parsed texts is therefore limited. Past the limit, a message waits unparsed. Small messages have half
 * of the limit for themselves, so they never wait for large ones.
 */
import {
  MatchWork,
  PARSED_BYTES_MAX,
  PARSED_SMALL_BYTES_MAX,
  parsedBytes,
  type Steps,
  TooMuchWork,
} from '@fantail/policy'
import { SplitSemaphore, TimeSlices } from '@fantail/runtime'
import type { MessageContext } from '../messages/message-context.ts'

/**
 * Work of a match in one go. Past it: the match is begun again in steps. This number of steps takes a few milliseconds
 * at most. A match with 1,000 of 100,000 subscriptions takes about 3,000 steps.
 */
const MATCH_STEPS_MAX = 100_000
/** Parsing a text of this many UTF-16 code units or more may take long, so the time of such a match is measured. */
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
  readonly #timeSlices: TimeSlices
  readonly #work = new MatchWork(MATCH_STEPS_MAX)
  readonly #parsed = new SplitSemaphore(PARSED_BYTES_MAX, PARSED_SMALL_BYTES_MAX)

  constructor(timeSlices = new TimeSlices()) {
    this.#timeSlices = timeSlices
  }

  /** Returns a promise only if it must wait. Its value is undefined if the answer was given up. */
  match<T>(matching: Matching<T>): T | Promise<T | undefined> {
    return this.#timeSlices.isOver ? this.#matchLater(matching) : this.#matchNow(matching)
  }

  async #matchLater<T>(matching: Matching<T>): Promise<T | undefined> {
    matching.context.forgetSubjects()
    while (this.#timeSlices.isOver) await this.#timeSlices.begin()
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
      if (startedAt === undefined) this.#timeSlices.spend(MATCH_STEPS_MAX - this.#work.left)
      else this.#timeSlices.spendSince(startedAt)
    }
  }

  async #matchInSteps<T>(matching: Matching<T>): Promise<T | undefined> {
    const bytes = parsedBytes(matching.context.sizeBytes)
    const wait = this.#parsed.acquire(bytes)
    if (wait) {
      matching.context.forgetSubjects()
      await wait
    }
    try {
      if (matching.isGivenUp()) return undefined
      return await this.#timeSlices.run(matching.inSteps(), () => matching.isGivenUp())
    } finally {
      matching.context.forgetSubjects()
      this.#parsed.release(bytes)
    }
  }
}
