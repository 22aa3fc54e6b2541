/**
 * A semaphore whose holders have weights, such as the bytes that a computation needs. The sum of the weights is
 * bounded, and holders get it in the order of arrival. One that weighs more than the bound gets it when nobody else
 * has it.
 */
export class WeightedSemaphore {
  readonly #max: number
  #acquired = 0
  readonly #line: { weight: number; start(): void }[] = []

  constructor(weightMax: number) {
    this.#max = weightMax
  }

  /** A promise if the caller must wait, else undefined. */
  acquire(weight: number): Promise<void> | undefined {
    if (this.#line.length === 0 && this.#hasCapacityFor(weight)) {
      this.#acquired += weight
      return undefined
    }
    return new Promise((start) => this.#line.push({ weight, start }))
  }

  release(weight: number): void {
    this.#acquired -= weight
    for (let next = this.#line[0]; next && this.#hasCapacityFor(next.weight); next = this.#line[0]) {
      this.#line.shift()
      this.#acquired += next.weight
      next.start()
    }
  }

  #hasCapacityFor(weight: number): boolean {
    return this.#acquired === 0 || this.#acquired + weight <= this.#max
  }
}

/** Two semaphores with half the weight each, so that light holders never wait for heavy ones. */
export class SplitSemaphore {
  readonly #light: WeightedSemaphore
  readonly #heavy: WeightedSemaphore
  readonly #lightMax: number

  constructor(weightMax: number, lightMax: number) {
    this.#light = new WeightedSemaphore(weightMax / 2)
    this.#heavy = new WeightedSemaphore(weightMax / 2)
    this.#lightMax = lightMax
  }

  acquire(weight: number): Promise<void> | undefined {
    return this.#of(weight).acquire(weight)
  }

  release(weight: number): void {
    this.#of(weight).release(weight)
  }

  #of(weight: number): WeightedSemaphore {
    return weight <= this.#lightMax ? this.#light : this.#heavy
  }
}
