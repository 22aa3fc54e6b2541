/** A set of numbers from 0 for one round. Clearing it takes constant time. */
const ROUNDS = 2 ** 32

export class Marks {
  #rounds: Uint32Array
  #round: number

  /** `round`: number of the round before the first one. */
  constructor(size: number, round = 0) {
    this.#rounds = new Uint32Array(size)
    this.#round = round
  }

  next(): void {
    this.#round++
    if (this.#round < ROUNDS) return
    // The round number has overflowed, which takes two days at 30,000 rounds a second. Older marks are then
    // meaningless.
    this.#rounds.fill(0)
    this.#round = 1
  }

  /** Marks a number. True if it was not marked before in this round. */
  isNew(n: number): boolean {
    if (this.#rounds[n] === this.#round) return false
    this.#rounds[n] = this.#round
    return true
  }

  /** Grows to hold numbers below `size`. */
  grow(size: number): void {
    if (size <= this.#rounds.length) return
    const before = this.#rounds
    this.#rounds = new Uint32Array(Math.max(size, 2 * before.length))
    this.#rounds.set(before)
  }
}
