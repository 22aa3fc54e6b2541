/**
 * All attempts have the same deadline, so those that start first expire first. A list in order of start and one timer
 * for its head replace a timer each. An AbortSignal each would cost more than the request's own objects.
 */
import { type Linked, LinkedList } from './linked-list.ts'

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
    // A timer that is set already is for an earlier member; it finds this one's turn when it fires.
    this.#timer ??= this.#arm(this.#timeoutMs)
  }

  remove(member: T): void {
    this.#members.remove(member)
    if (this.#members.size === 0 && this.#onQuiet.length > 0)
      for (const call of this.#onQuiet.splice(0)) call()
  }

  /** Resolves when there is no member. */
  quiet(): Promise<void> {
    if (this.#members.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#onQuiet.push(resolve))
  }

  /** Expires everything now. */
  flush(): void {
    this.#expireUntil(Number.POSITIVE_INFINITY)
  }

  /** An open connection keeps the process alive, the timer need not. */
  #arm(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#fire(), delayMs).unref()
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
