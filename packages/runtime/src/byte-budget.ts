/**
 * Memory that long computations share. Each enters before it begins and leaves when it has ended, in the order of
 * arrival. A computation that needs more than the whole budget enters when no other is in.
 */
export class ByteBudget {
  readonly #max: number
  #heldBytes = 0
  readonly #line: { bytes: number; enter(): void }[] = []

  constructor(bytesMax: number) {
    this.#max = bytesMax
  }

  /** A promise if the caller must wait, else undefined. */
  enter(bytes: number): Promise<void> | undefined {
    if (this.#line.length === 0 && this.#hasCapacityFor(bytes)) {
      this.#heldBytes += bytes
      return undefined
    }
    return new Promise((enter) => this.#line.push({ bytes, enter }))
  }

  leave(bytes: number): void {
    this.#heldBytes -= bytes
    for (let next = this.#line[0]; next && this.#hasCapacityFor(next.bytes); next = this.#line[0]) {
      this.#line.shift()
      this.#heldBytes += next.bytes
      next.enter()
    }
  }

  #hasCapacityFor(bytes: number): boolean {
    return this.#heldBytes === 0 || this.#heldBytes + bytes <= this.#max
  }
}

/** Two budgets of half the bytes each, so that small computations never wait for large ones. */
export class SplitBudget {
  readonly #small: ByteBudget
  readonly #large: ByteBudget
  readonly #smallMax: number

  constructor(bytesMax: number, smallMax: number) {
    this.#small = new ByteBudget(bytesMax / 2)
    this.#large = new ByteBudget(bytesMax / 2)
    this.#smallMax = smallMax
  }

  enter(bytes: number): Promise<void> | undefined {
    return this.#of(bytes).enter(bytes)
  }

  leave(bytes: number): void {
    this.#of(bytes).leave(bytes)
  }

  #of(bytes: number): ByteBudget {
    return bytes <= this.#smallMax ? this.#small : this.#large
  }
}
