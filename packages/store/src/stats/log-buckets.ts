/**
 * Histograms of times with logarithmic buckets. Each bucket ends 19 % above its beginning, so a percentile is at most
 * 10 % off. Counts of the same bucket add up, so histograms of processes and minutes can be merged.
 */

const BUCKETS_PER_DOUBLING = 4
/**
 * Buckets of a histogram of statistics. Past it: longer times count in the last bucket. The last bucket begins at six
 * days.
 */
export const BUCKETS_MAX = 118

/** Bucket 0 is for times below 1 ms. */
export function bucketOf(ms: number): number {
  if (!(ms >= 1)) return 0
  return Math.min(1 + Math.floor(Math.log2(ms) * BUCKETS_PER_DOUBLING), BUCKETS_MAX - 1)
}

/** The middle of a bucket, which is at most 10 % off its ends. */
export function middleMs(bucket: number): number {
  if (bucket === 0) return 0.5
  const ms = 2 ** ((bucket - 0.5) / BUCKETS_PER_DOUBLING)
  return ms < 100 ? Math.round(ms * 100) / 100 : Math.round(ms)
}

/** The time that a share of all counted times does not exceed; null: nothing was counted. `counts` is by bucket. */
export function percentile(counts: ReadonlyMap<number, number>, share: number): number | null {
  let total = 0
  for (const count of counts.values()) total += count
  const rank = Math.max(1, Math.ceil(share * total))
  let passed = 0
  for (const [bucket, count] of [...counts].sort(([a], [b]) => a - b)) {
    passed += count
    if (passed >= rank) return middleMs(bucket)
  }
  return null
}
