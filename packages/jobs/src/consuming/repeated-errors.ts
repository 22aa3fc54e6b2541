/** Tells errors that are new from those that repeat: an outage brings the same few, in turns, many times a second. */

/** A kind that was away for so long is told of again. */
const QUIET_MS = 60_000

export class RepeatedErrors {
  readonly #clock: () => number
  /** When each kind was last seen; those that have been quiet are forgotten. */
  readonly #seenAt = new Map<string, number>()

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock
  }

  /** True for the first of its kind, whatever the numbers and names of jobs in it. */
  isNew({ message }: Error): boolean {
    const kind = message.replace(/\d+(-[0-9a-z]+-\d+)?/g, 'N')
    const now = this.#clock()
    for (const [known, at] of this.#seenAt) if (now - at >= QUIET_MS) this.#seenAt.delete(known)
    const isNew = !this.#seenAt.has(kind)
    this.#seenAt.set(kind, now)
    return isNew
  }
}
