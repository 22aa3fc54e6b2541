/**
 * Many ranges in one structure. Overlapping ranges are merged, and binary search finds the one that may contain a
 * value.
 */

export interface Span<K> {
  low: K
  lowInclusive: boolean
  high: K
  highInclusive: boolean
}

export class Spans<K extends number | string> {
  readonly #spans: Span<K>[] = []

  constructor(given: readonly Span<K>[]) {
    const sorted = [...given].sort((a, b) => {
      if (a.low !== b.low) return a.low < b.low ? -1 : 1
      return Number(b.lowInclusive) - Number(a.lowInclusive)
    })
    for (const span of sorted) this.#add(span)
  }

  holds(value: K): boolean {
    let from = 0
    let to = this.#spans.length
    while (from < to) {
      const middle = (from + to) >> 1
      const { low, lowInclusive } = this.#spans[middle] as Span<K>
      if (value > low || (value === low && lowInclusive)) from = middle + 1
      else to = middle
    }
    const span = this.#spans[from - 1]
    return span !== undefined && (value < span.high || (value === span.high && span.highInclusive))
  }

  /** Spans must be added in the order of their beginnings. */
  #add(span: Span<K>): void {
    const last = this.#spans.at(-1)
    const meet =
      last && (span.low < last.high || (span.low === last.high && (span.lowInclusive || last.highInclusive)))
    if (!meet) this.#spans.push({ ...span })
    else if (span.high > last.high) {
      last.high = span.high
      last.highInclusive = span.highInclusive
    } else if (span.high === last.high) last.highInclusive ||= span.highInclusive
  }
}
