/** Costly requests of one kind, one at a time in a process, so that Redis and the process have time for other work. */
import { FantailError } from '@fantail/contracts'

/** Searches, or other requests of one kind, that wait for their turn. Past it: `rate_limited`. */
const REQUESTS_WAITING_MAX = 20

export class OneByOne {
  readonly #what: string
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()

  /** `what`: their name in errors. */
  constructor(what: string) {
    this.#what = what
  }

  /** Throws `rate_limited` if too many wait. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= REQUESTS_WAITING_MAX) {
      const message = `${REQUESTS_WAITING_MAX} ${this.#what} wait for their turn; ask again`
      throw new FantailError('rate_limited', message, { retryAfterSeconds: 1 })
    }
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    this.#waiting++
    try {
      await before
      return await work()
    } finally {
      this.#waiting--
      resolve()
    }
  }
}
