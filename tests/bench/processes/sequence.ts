/**
 * The number in the text of every published message, `#00000042#`. The receiver can then distinguish a repeated
 * delivery from a missing one.
 */

const DIGITS = 8
const MARK = 0x23
const ZERO = 0x30

/** Message text of exactly `bytes` bytes. */
export function numberedText(sequence: number, bytes: number): string {
  return `#${String(sequence).padStart(DIGITS, '0')}#`.padEnd(bytes, 'x')
}

/** Overwrites the number in place; `at` is where the text begins. */
export function writeSequence(buffer: Buffer, at: number, sequence: number): void {
  let rest = sequence
  for (let i = at + DIGITS; i > at; i--) {
    buffer[i] = ZERO + (rest % 10)
    rest = Math.floor(rest / 10)
  }
}

/** The number of the first text in the range, or -1. */
export function readSequence(buffer: Buffer, start: number, end: number): number {
  const at = buffer.indexOf(MARK, start)
  const last = at + DIGITS + 1
  if (at < 0 || last >= end || buffer[last] !== MARK) return -1
  let sequence = 0
  for (let i = at + 1; i < last; i++) sequence = sequence * 10 + ((buffer[i] ?? 0) - ZERO)
  return sequence
}

/** Each set begins small, because there may be 100,000. */
const FIRST_NUMBERS = 64

/** The numbers that arrived, and the total of arrivals. */
export class SequenceSet {
  total = 0
  distinct = 0
  #seen = new Uint8Array(FIRST_NUMBERS)

  /** True for a new number. A text without a number counts in the total, but not as a different one. */
  add(sequence: number): boolean {
    this.total++
    if (sequence < 0) return false
    if (sequence >= this.#seen.length) this.#grow(sequence)
    if (this.#seen[sequence] === 1) return false
    this.#seen[sequence] = 1
    this.distinct++
    return true
  }

  #grow(sequence: number): void {
    const larger = new Uint8Array(2 ** Math.ceil(Math.log2(sequence + 1)))
    larger.set(this.#seen)
    this.#seen = larger
  }
}
