/** Bounds how many messages a process has under way at one provider: many while it answers, few while it is silent. */

/**
 * @limit Mails, or text messages, that a process has under way; those that wait for a connection count. Past it: the
 * attempt fails at once and is retried, so that they never take all slots of a worker.
 */
const UNDER_WAY_MAX = 500
/**
 * @limit Mails, or text messages, under way while their provider is silent. Past it: the attempt fails at once and is
 * retried.
 */
const WHILE_SILENT_MAX = 20
/** @limit How long a provider may answer none of the messages under way. Past it: it counts as silent. */
const PROVIDER_SILENT_MS = 2_000

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
    const isSilent = this.#now() - this.#heardAt > PROVIDER_SILENT_MS
    if (this.#count >= (isSilent ? WHILE_SILENT_MAX : UNDER_WAY_MAX)) return false
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
