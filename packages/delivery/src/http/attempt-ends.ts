/**
 * Delivers results of attempts. An attempt ends inside undici's or the connector's work, and its callback may begin the
 * next attempt on the same connection. Callbacks therefore run after that work, when this turn's reads are done, all
 * together. A promise for each attempt took 9 % more of a worker's time per delivery.
 */

/** Ends of any kind of result: each goes to the function that it came with. */
type Report = (result: unknown) => void

export class AttemptEnds {
  #done: Report[] = []
  #results: unknown[] = []

  push<T>(done: (result: T) => void, result: T): void {
    this.#done.push(done as Report)
    this.#results.push(result)
    if (this.#done.length === 1) setImmediate(this.#flush)
  }

  /** Resolves when the callbacks of all ended attempts have run. */
  told(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve))
  }

  readonly #flush = (): void => {
    const done = this.#done
    const results = this.#results
    this.#done = []
    this.#results = []
    for (let i = 0; i < done.length; i++) done[i]?.(results[i])
  }
}
