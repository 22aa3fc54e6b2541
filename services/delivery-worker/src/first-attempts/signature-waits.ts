/**
 * Holds first attempts whose message is being signed. They wait without a slot until all their signatures are ready.
 */

interface SignatureWaitsOptions<D> {
  signed(deliveries: D[]): void
  /** Called if no key could be loaded. */
  failed(deliveries: D[]): void
}

export class SignatureWaits<D> {
  readonly #options: SignatureWaitsOptions<D>
  readonly #waiting = new Set<D[]>()
  #size = 0

  constructor(options: SignatureWaitsOptions<D>) {
    this.#options = options
  }

  /** Number of deliveries that wait. */
  get size(): number {
    return this.#size
  }

  hold(deliveries: D[], signatures: Iterable<Promise<void>>): void {
    this.#waiting.add(deliveries)
    this.#size += deliveries.length
    Promise.all(signatures).then(
      () => this.#letGo(deliveries) && this.#options.signed(deliveries),
      () => this.#letGo(deliveries) && this.#options.failed(deliveries),
    )
  }

  /** Releases all attempts. Their signatures are no longer needed. */
  release(): D[] {
    const all = [...this.#waiting].flat()
    this.#waiting.clear()
    this.#size = 0
    return all
  }

  /** Releases the deliveries. Returns false if they were released before. */
  #letGo(deliveries: D[]): boolean {
    if (!this.#waiting.delete(deliveries)) return false
    this.#size -= deliveries.length
    return true
  }
}
