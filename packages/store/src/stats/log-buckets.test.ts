import { expect, test } from 'vitest'
import { BUCKETS_MAX, bucketOf, percentile } from './log-buckets.ts'

const countsOf = (times: number[]) => {
  const counts = new Map<number, number>()
  for (const ms of times) counts.set(bucketOf(ms), (counts.get(bucketOf(ms)) ?? 0) + 1)
  return counts
}

test('a percentile is at most 10 % off, from 1 ms to four days', () => {
  for (let exponent = 0; exponent <= 8.5; exponent += 0.01) {
    const ms = 10 ** exponent
    const found = percentile(countsOf([ms]), 0.5) ?? 0
    expect(Math.abs(found - ms) / ms, `${ms} ms gave ${found}`).toBeLessThan(0.1)
  }
})

test('percentiles of many times are those of the sorted list', () => {
  const times = Array.from({ length: 10_000 }, (_, i) => 1 + ((i * 7_919) % 10_000) ** 1.5 / 100)
  const sorted = times.toSorted((a, b) => a - b)
  for (const share of [0.01, 0.5, 0.99, 1]) {
    const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0
    expect(Math.abs((percentile(countsOf(times), share) ?? 0) - exact) / exact).toBeLessThan(0.1)
  }
})

test('times that no bucket was made for count in the first or the last', () => {
  expect([bucketOf(-5), bucketOf(0), bucketOf(Number.NaN), bucketOf(0.9)]).toEqual([0, 0, 0, 0])
  expect(bucketOf(1)).toBe(1)
  expect(bucketOf(Number.MAX_SAFE_INTEGER)).toBe(BUCKETS_MAX - 1)
  expect(percentile(new Map(), 0.5)).toBeNull()
})
