/** Counts of one topic, subscription or account since they were last taken. Counting costs some 30 ns. */
import { BUCKETS_MAX } from './log-buckets.ts'

/** `direct` is a topic for direct messages: it counts only for its account. */
export type TallyKind = 'topic' | 'subscription' | 'direct'

/** Published, delivered, failed, dead-lettered, then pairs of bucket and count. */
export type PackedCounts = number[]

export class Tally {
  readonly kind: TallyKind
  /** ARN of a topic, id of a subscription. */
  readonly name: string
  readonly #touch: (tally: Tally, at: number) => void
  #published = 0
  #delivered = 0
  #failed = 0
  #deadLettered = 0
  #times: Uint32Array | undefined
  /** Whether anything was counted since the last `take`. */
  isDirty = false

  constructor(kind: TallyKind, name: string, touch: (tally: Tally, at: number) => void) {
    this.kind = kind
    this.name = name
    this.#touch = touch
  }

  /** `at`: epoch ms. */
  published(at: number, messages: number): void {
    this.#touch(this, at)
    this.#published += messages
  }

  /** `bucket` is that of the time from publishing to arrival (`bucketOf`). */
  delivered(at: number, bucket: number): void {
    this.#touch(this, at)
    this.#delivered++
    this.#times ??= new Uint32Array(BUCKETS_MAX)
    this.#times[bucket] = (this.#times[bucket] ?? 0) + 1
  }

  failed(at: number): void {
    this.#touch(this, at)
    this.#failed++
  }

  deadLettered(at: number): void {
    this.#touch(this, at)
    this.#deadLettered++
  }

  take(): PackedCounts {
    const counts = [this.#published, this.#delivered, this.#failed, this.#deadLettered]
    for (const [bucket, count] of this.#times?.entries() ?? []) if (count > 0) counts.push(bucket, count)
    this.#published = this.#delivered = this.#failed = this.#deadLettered = 0
    // A tally that is kept for a long time without counting takes little memory.
    this.#times = undefined
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
