/** Distinguishes new errors from repeated ones. An outage causes the same few errors many times a second. */

/** A kind that did not occur for this long is new again. */
const QUIET_MS = 60_000

export class RepeatedErrors {
  readonly #clock: () => number
  /** When each kind of error was last seen. Kinds that have been quiet are removed. */
  readonly #seenAt = new Map<string, number>()

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock
  }

  /** True for the first error of its kind. Numbers and names of jobs in the text are ignored. */
  isNew({ message }: Error): boolean {
    const kind = message.replace(/\d+(-[0-9a-z]+-\d+)?/g, 'N')
    const now = this.#clock()
    for (const [known, at] of this.#seenAt) if (now - at >= QUIET_MS) this.#seenAt.delete(known)
    const isNew = !this.#seenAt.has(kind)
    this.#seenAt.set(kind, now)
    return isNew
  }
}
