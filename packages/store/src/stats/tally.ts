import { BUCKETS_MAX } from './log-buckets.ts'

/** Different times of one tally that are kept as pairs. Past it: the tally has an array of all buckets. */
const PAIRS_MAX = 8

/**
 * Counts of times by bucket (log-buckets.ts). Most subscriptions count a few different times between two flushes. These
 * are pairs in a short list, as an array of all buckets takes 0.5 KB outside of the heap.
 */
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

/** `direct` is a topic for direct messages: it counts only for its account. */
export type TallyKind = 'topic' | 'subscription' | 'direct'

/** Published, delivered, failed, dead-lettered, then pairs of bucket and count. */
export type PackedCounts = number[]

/** Counts of one topic, subscription or account since they were last taken. Counting costs some 30 ns. */
export class Tally {
  readonly kind: TallyKind
  /** ARN of a topic, id of a subscription. */
  readonly name: string
  readonly #touch: (tally: Tally, at: number) => boolean
  #published = 0
  #delivered = 0
  #failed = 0
  #deadLettered = 0
  readonly #times = new TimeCounts()
  /** Whether anything was counted since the last `take`. */
  isDirty = false

  /** `touch` is called before a count, and returns whether it counts. */
  constructor(kind: TallyKind, name: string, touch: (tally: Tally, at: number) => boolean) {
    this.kind = kind
    this.name = name
    this.#touch = touch
  }

  /** `at`: epoch ms. */
  published(at: number, messages: number): void {
    if (this.#touch(this, at)) this.#published += messages
  }

  /** `bucket` is that of the time from publishing to arrival (`bucketOf`). */
  delivered(at: number, bucket: number): void {
    if (!this.#touch(this, at)) return
    this.#delivered++
    this.#times.add(bucket)
  }

  failed(at: number): void {
    if (this.#touch(this, at)) this.#failed++
  }

  deadLettered(at: number): void {
    if (this.#touch(this, at)) this.#deadLettered++
  }

  take(): PackedCounts {
    const counts = [this.#published, this.#delivered, this.#failed, this.#deadLettered]
    for (const number of this.#times.take()) counts.push(number)
    this.#published = this.#delivered = this.#failed = this.#deadLettered = 0
    this.isDirty = false
    return counts
  }
}

/** Adds counts to others in place. */
export function addCounts(sums: PackedCounts, added: PackedCounts): void {
  for (let i = 0; i < 4; i++) sums[i] = (sums[i] ?? 0) + (added[i] ?? 0)
  for (let i = 4; i < added.length; i += 2) {
    let place = 4
    while (place < sums.length && sums[place] !== added[i]) place += 2
    sums[place] = added[i] ?? 0
    sums[place + 1] = (sums[place + 1] ?? 0) + (added[i + 1] ?? 0)
  }
}
