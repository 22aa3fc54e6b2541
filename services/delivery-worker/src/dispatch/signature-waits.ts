/**
 * First attempts whose message is being signed: held, so that they fill no slot, until all the signatures are there.
 */

export interface SignatureWaitsOptions<D> {
  signed(deliveries: D[]): void
  /** No key could be had. */
  failed(deliveries: D[]): void
}

export class SignatureWaits<D> {
  readonly #options: SignatureWaitsOptions<D>
  readonly #held = new Set<D[]>()

  constructor(options: SignatureWaitsOptions<D>) {
    this.#options = options
  }

  hold(deliveries: D[], signatures: Iterable<Promise<void>>): void {
    this.#held.add(deliveries)
    Promise.all(signatures).then(
      () => this.#held.delete(deliveries) && this.#options.signed(deliveries),
      () => this.#held.delete(deliveries) && this.#options.failed(deliveries),
    )
  }

  /** Releases all. Their signatures are not used any more. */
  release(): D[] {
    const all = [...this.#held].flat()
    this.#held.clear()
    return all
  }
}
