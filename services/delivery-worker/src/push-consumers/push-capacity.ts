/**
 * Limits the batches and bytes that one process pushes at a time. A consumer without a batch may begin one while there
 * is any capacity. Consumers that already have a batch share only a part of the capacity, so slow endpoints cannot use
 * all of it. A receive under way counts with the bytes that it will probably bring.
 */

/** @limit First batches of consumers that a worker pushes at a time. Past it: consumers wait. */
const PUSH_BATCHES_MAX = 1_000
/** @limit memory (worker) Bytes of all batches that a worker pushes. Past it: consumers wait. */
const PUSH_BYTES_MAX = 268_435_456
/** Batches up to which a consumer may begin a further one. Past it: only consumers without a batch begin one. */
const FURTHER_BATCHES_MAX = 250
/**
 * @limit memory (part of PUSH_BYTES_MAX) Bytes up to which a consumer may begin a further batch. Past it: only
 * consumers without a batch begin one.
 */
const FURTHER_BYTES_MAX = 67_108_864

/** A consumer that needs capacity for a batch. It is called when there may be some. */
export interface Guest {
  /** Number of its batches under way. */
  readonly batches: number
  /** Bytes that its next receive will probably bring. */
  readonly nextBytes: number
  poll(): void
}

export class PushCapacity {
  readonly #waiting = new Set<Guest>()
  #batches = 0
  #bytes = 0

  /**
   * Takes capacity for one more batch with the guest's `nextBytes`. If it returns false, `poll` is called when another
   * try may succeed.
   */
  enter(guest: Guest): boolean {
    if (this.#hasCapacity(guest)) {
      this.#waiting.delete(guest)
      this.#batches += 1
      this.#bytes += guest.nextBytes
      return true
    }
    this.#waiting.add(guest)
    return false
  }

  /** Sets the real size of a batch. */
  fill(assumedBytes: number, bytes: number): void {
    this.#bytes += bytes - assumedBytes
    if (bytes < assumedBytes) this.#notifyWaiting()
  }

  leave(bytes: number): void {
    this.#batches -= 1
    this.#bytes -= bytes
    this.#notifyWaiting()
  }

  /** Called when the consumer no longer waits for capacity. */
  forget(guest: Guest): void {
    this.#waiting.delete(guest)
  }

  #notifyWaiting(): void {
    for (const guest of [...this.#waiting]) {
      if (!this.#hasCapacity(guest)) continue
      this.#waiting.delete(guest)
      guest.poll()
    }
  }

  #hasCapacity({ batches, nextBytes }: Guest): boolean {
    const bytes = this.#bytes + nextBytes
    return batches === 0
      ? this.#batches < PUSH_BATCHES_MAX && bytes <= PUSH_BYTES_MAX
      : this.#batches < FURTHER_BATCHES_MAX && bytes <= FURTHER_BYTES_MAX
  }
}
