/**
 * Counts of times by bucket (log-buckets.ts). Most subscriptions count a few different times between two flushes. These
 * are pairs in a short list, as an array of all buckets takes 0.5 KB outside of the heap.
 */
import { BUCKETS_MAX } from './log-buckets.ts'

/** Different times of one tally that are kept as pairs. Past it: the tally has an array of all buckets. */
const PAIRS_MAX = 8

export class TimeCounts {
  /** Pairs of bucket and count. */
  #pairs: number[] = []
  /** The counts of all buckets. undefined: the pairs have the counts. */
  #all: Uint32Array | undefined

  add(bucket: number): void {
    if (this.#all) {
      this.#all[bucket] = (this.#all[bucket] ?? 0) + 1
      return
    }
    const pairs = this.#pairs
    for (let i = 0; i < pairs.length; i += 2) {
      if (pairs[i] !== bucket) continue
      pairs[i + 1] = (pairs[i + 1] ?? 0) + 1
      return
    }
    pairs.push(bucket, 1)
    if (pairs.length > 2 * PAIRS_MAX) this.#spread()
  }

  /** The counts as pairs of bucket and count. Afterwards nothing is counted, and no array is kept. */
  take(): number[] {
    const pairs = this.#pairs
    for (const [bucket, count] of this.#all?.entries() ?? []) if (count > 0) pairs.push(bucket, count)
    this.#pairs = []
    this.#all = undefined
    return pairs
  }

  #spread(): void {
    this.#all = new Uint32Array(BUCKETS_MAX)
    for (let i = 0; i < this.#pairs.length; i += 2) this.#all[this.#pairs[i] ?? 0] = this.#pairs[i + 1] ?? 0
    this.#pairs = []
  }
}
