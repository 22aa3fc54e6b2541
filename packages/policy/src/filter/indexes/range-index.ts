/**
 * Finds the numeric ranges that may contain a number. Bounds count as inside. The filter itself excludes an open bound.
 */
import type { Bound } from '../conditions/condition.ts'

interface Range {
  n: number
  low: number
  high: number
}

/**
 * A tree in an array: the items are sorted by `low`, and the middle of each part is the part's root. The root knows the
 * greatest `high` of its part.
 */
export class RangeIndex {
  readonly #added: Range[] = []
  #sorted: Range[] | undefined
  #highest = new Float64Array()

  get size(): number {
    return this.#added.length
  }

  add(n: number, low: Bound | undefined, high: Bound | undefined): void {
    this.#added.push({ n, low: low?.value ?? -Infinity, high: high?.value ?? Infinity })
    this.#sorted = undefined
  }

  find(value: number, found: (n: number) => void): void {
    this.#sorted ??= this.#sort()
    this.#look(0, this.#sorted.length, value, found)
  }

  #sort(): Range[] {
    const sorted = this.#added.sort((a, b) => a.low - b.low)
    this.#highest = new Float64Array(sorted.length)
    this.#measure(sorted, 0, sorted.length)
    return sorted
  }

  #measure(sorted: Range[], from: number, to: number): number {
    if (from >= to) return -Infinity
    const middle = (from + to) >> 1
    const sides = Math.max(this.#measure(sorted, from, middle), this.#measure(sorted, middle + 1, to))
    this.#highest[middle] = Math.max(sides, sorted[middle]?.high ?? -Infinity)
    return this.#highest[middle]
  }

  #look(from: number, to: number, value: number, found: (n: number) => void): void {
    if (from >= to) return
    const middle = (from + to) >> 1
    const range = (this.#sorted as Range[])[middle] as Range
    if ((this.#highest[middle] ?? 0) < value) return
    this.#look(from, middle, value, found)
    if (range.low > value) return
    if (range.high >= value) found(range.n)
    this.#look(middle + 1, to, value, found)
  }
}
