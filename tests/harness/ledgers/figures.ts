/** Figures from samples. */

/** The smallest sample that at least the share `p` of them does not exceed. */
export function percentile(samples: number[], p: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  const value = sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)]
  if (value === undefined) throw new RangeError('no samples')
  return value
}

export function median(samples: number[]): number {
  return percentile(samples, 0.5)
}

/** Most of the times (ms) that lie in one window of this length, wherever it begins. */
export function mostInWindow(times: number[], windowMs: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  let [from, most] = [0, 0]
  sorted.forEach((time, to) => {
    while ((sorted[from] ?? 0) <= time - windowMs) from++
    most = Math.max(most, to - from + 1)
  })
  return most
}

/**
 * The lowest rate, per second, in one window of this length that begins at one of the times and ends before the last.
 * `lostMs`: how much of a window does not count.
 */
export function lowestRate(
  times: number[],
  windowMs: number,
  lostMs: (from: number, to: number) => number = () => 0,
): number {
  const sorted = times.toSorted((a, b) => a - b)
  const last = sorted.at(-1) ?? 0
  const starts = sorted.filter((time) => time + windowMs <= last)
  if (starts.length === 0) throw new RangeError('no whole window')
  const rates = starts.map((start) => {
    const end = start + windowMs
    const count = sorted.filter((time) => time >= start && time < end).length
    return (count * 1_000) / (windowMs - lostMs(start, end))
  })
  return Math.min(...rates)
}
