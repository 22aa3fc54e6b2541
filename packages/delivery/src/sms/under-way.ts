/** Bounds how many messages a process has under way at one provider: many while it answers, few while it is silent. */

/**
 * @limit Text messages that a process has under way. Past it: the attempt fails at once and is retried, so that they
 * never take all slots of a worker.
 */
const SMS_UNDER_WAY_MAX = 500
/** @limit Text messages under way while the provider is silent. Past it: the attempt fails at once and is retried. */
const SMS_WHILE_SILENT_MAX = 20
/** @limit How long the provider may answer none of the text messages under way. Past it: it counts as silent. */
const SMS_SILENT_MS = 2_000

export class UnderWay {
  /** Monotonic ms. */
  readonly #now: () => number
  #count = 0
  /** When the provider last answered, or the first of those under way began. */
  #heardAt = 0

  constructor(now: () => number) {
    this.#now = now
  }

  get count(): number {
    return this.#count
  }

  /** False: there are as many as may be. */
  begin(): boolean {
    if (this.#count === 0) this.#heardAt = this.#now()
    const isSilent = this.#now() - this.#heardAt > SMS_SILENT_MS
    if (this.#count >= (isSilent ? SMS_WHILE_SILENT_MAX : SMS_UNDER_WAY_MAX)) return false
    this.#count++
    return true
  }

  answered(): void {
    this.#heardAt = this.#now()
  }

  end(): void {
    this.#count--
  }
}
