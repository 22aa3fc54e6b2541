/** Searches of a process, one at a time. However many people search, Redis and the process have time for other work. */
import { FantailError } from '@fantail/contracts'

/** Searches that wait for their turn. Past it: `rate_limited`. */
const SEARCHES_WAITING_MAX = 20

export class SearchTurns {
  readonly #what: string
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(what = 'searches') {
    this.#what = what
  }

  /** Throws `rate_limited` if too many wait. */
  async take<T>(search: () => Promise<T>): Promise<T> {
    if (this.#waiting >= SEARCHES_WAITING_MAX) {
      const message = `${SEARCHES_WAITING_MAX} ${this.#what} wait for their turn; ask again`
      throw new FantailError('rate_limited', message, { retryAfterSeconds: 1 })
    }
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    this.#waiting++
    try {
      await before
      return await search()
    } finally {
      this.#waiting--
      resolve()
    }
  }
}
