/** Decides which message and slice is begun next, while there is capacity for its deliveries. */

/**
 * @limit First attempts of a worker that wait for a slot. Past it: no further message is begun and no further job is
 * fetched.
 */
export const QUEUED_MAX = 2_000
/** Deliveries that are begun in one turn of the event loop. Past it: the next turn continues. */
const BEGUN_PER_TURN_MAX = 1_000
/** Deliveries of a message and slice that count as small. Past it: the slice waits in the line of large ones. */
const SMALL_MAX = 50

interface Admission {
  start(): void
  resolve(): void
  reject(error: unknown): void
}

interface UnitAdmissionOptions {
  /** Number of first attempts that wait for a slot. */
  queued(): number
}

/** Units are admitted in order of arrival, but small and large ones alternate. */
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

  /** Begins the unit. Returns a promise if the unit must wait. */
  admit(deliveries: number, start: () => void): Promise<void> | undefined {
    if (this.waiting === 0 && this.#hasCapacity) {
      start()
      return undefined
    }
    const line = deliveries <= SMALL_MAX ? this.#small : this.#large
    return new Promise((resolve, reject) => line.push({ start, resolve, reject }))
  }

  /** Lets waiting units continue. */
  capacityFreed(): void {
    if (this.waiting === 0) return
    // One by one, because each may use up the capacity that the next one waits for.
    while (this.#hasCapacity) {
      const next = this.#next()
      if (!next) return
      try {
        next.start()
        next.resolve()
      } catch (error) {
        // The error belongs to the run of this unit, not to the caller that freed the capacity.
        next.reject(error)
      }
    }
  }

  /**
   * Counts deliveries that are parked without an attempt. They are never in the queue. Without this limit, all
   * waiting messages would be begun at once.
   */
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
    if (this.#isSmallNext) return this.#small.shift() ?? this.#large.shift()
    return this.#large.shift() ?? this.#small.shift()
  }

  get #hasCapacity(): boolean {
    return this.#options.queued() < QUEUED_MAX && this.#begunInTurn < BEGUN_PER_TURN_MAX
  }
}
