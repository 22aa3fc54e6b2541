/** Figures from samples. */

/** The smallest sample that is not exceeded by at least the share `p` of all samples. */
export function percentile(samples: number[], p: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  const value = sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)]
  if (value === undefined) throw new RangeError('no samples')
  return value
}

export function median(samples: number[]): number {
  return percentile(samples, 0.5)
}

/** The highest number of these times (ms) in any window of this length. */
export function mostInWindow(times: number[], windowMs: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  let [from, most] = [0, 0]
  sorted.forEach((time, to) => {
    while ((sorted[from] ?? 0) <= time - windowMs) from++
    most = Math.max(most, to - from + 1)
  })
  return most
}
