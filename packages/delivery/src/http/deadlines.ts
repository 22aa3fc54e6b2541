/**
 * Ends attempts at their deadlines. All attempts of a list have the same time-out, so they expire in the order in which
 * they started. The list is in the order of the starts, and needs only one timer: for its first attempt. Rejected: an
 * AbortSignal per attempt. It would cost more than all other objects of a request.
 */
import { type Linked, LinkedList } from '../connections/linked-list.ts'

export interface Expiring<T> extends Linked<T> {
  /** On performance.now()'s clock; set by `add`. */
  expiresAt: number
  expire(): void
}

export class Deadlines<T extends Expiring<T>> {
  readonly #timeoutMs: number
  readonly #members = new LinkedList<T>()
  #timer: NodeJS.Timeout | undefined
  #onQuiet: (() => void)[] = []

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  get size(): number {
    return this.#members.size
  }

  add(member: T, now: number): void {
    member.expiresAt = now + this.#timeoutMs
    this.#members.append(member)
    // If a timer runs, it is for an earlier attempt. When it fires, it is set for the next one.
    this.#timer ??= this.#arm(this.#timeoutMs)
  }

  remove(member: T): void {
    this.#members.remove(member)
    if (this.#members.size === 0 && this.#onQuiet.length > 0)
      for (const call of this.#onQuiet.splice(0)) call()
  }

  /** Resolves when the list is empty. */
  quiet(): Promise<void> {
    if (this.#members.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#onQuiet.push(resolve))
  }

  /** Expires everything now. */
  flush(): void {
    this.#expireUntil(Number.POSITIVE_INFINITY)
  }

  /**
   * The timer does not keep the process alive. An attempt's open connection does. Node runs due timers before it reads
   * sockets. A process that stood still therefore reads the answers that have come before it gives up on attempts.
   */
  #arm(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => setImmediate(() => this.#fire()), delayMs).unref()
  }

  #fire(): void {
    const now = performance.now()
    this.#expireUntil(now)
    const first = this.#members.first
    this.#timer = first ? this.#arm(Math.max(1, Math.ceil(first.expiresAt - now))) : undefined
  }

  #expireUntil(time: number): void {
    for (let member = this.#members.first; member && member.expiresAt <= time; member = this.#members.first) {
      this.remove(member)
      member.expire()
    }
  }
}
