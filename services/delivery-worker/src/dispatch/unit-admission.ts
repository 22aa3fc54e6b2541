/** Which message and slice is begun next, as far as there is capacity for its deliveries. */

/**
 * @limit First attempts of a worker that wait for a slot. Past it: no more messages are begun and no job is fetched.
 */
export const QUEUED_MAX = 2_000
/** @limit Deliveries that are begun in one turn of the event loop. Past it: the next turn goes on. */
const BEGUN_PER_TURN_MAX = 1_000
/**
 * @limit Deliveries of a message and slice that count as small. Past it: the slice waits in the line of large ones.
 */
const SMALL_MAX = 50

interface Admission {
  start(): void
  resolve(): void
  reject(error: unknown): void
}

interface UnitAdmissionOptions {
  /** First attempts that wait for a slot. */
  queued(): number
}

/** First come first served, but small and large ones take turns. */
export class UnitAdmission {
  readonly #options: UnitAdmissionOptions
  readonly #small: Admission[] = []
  readonly #large: Admission[] = []
  #isSmallNext = false
  #begunInTurn = 0
  #turn: NodeJS.Immediate | undefined

  constructor(options: UnitAdmissionOptions) {
    this.#options = options
  }

  get waiting(): number {
    return this.#small.length + this.#large.length
  }

  /** A promise where it has to wait. */
  admit(deliveries: number, start: () => void): Promise<void> | undefined {
    if (this.waiting === 0 && this.#hasCapacity) {
      start()
      return undefined
    }
    const line = deliveries <= SMALL_MAX ? this.#small : this.#large
    return new Promise((resolve, reject) => line.push({ start, resolve, reject }))
  }

  /** What waits for capacity goes on. */
  capacityFreed(): void {
    // One by one: each that starts may fill the capacity that the next one waits for.
    while (this.#hasCapacity) {
      const next = this.#next()
      if (!next) return
      try {
        next.start()
        next.resolve()
      } catch (error) {
        // Its own run's to deal with, not that of whoever has made capacity.
        next.reject(error)
      }
    }
  }

  /** Deliveries that are parked at once fill no queue: without a bound all of a backlog's would be begun in one go. */
  countBegun(deliveries: number): void {
    this.#begunInTurn += deliveries
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined
      this.#begunInTurn = 0
      this.capacityFreed()
    })
  }

  #next(): Admission | undefined {
    this.#isSmallNext = !this.#isSmallNext
    const [first, other] = this.#isSmallNext ? [this.#small, this.#large] : [this.#large, this.#small]
    return first.shift() ?? other.shift()
  }

  get #hasCapacity(): boolean {
    return this.#options.queued() < QUEUED_MAX && this.#begunInTurn < BEGUN_PER_TURN_MAX
  }
}
