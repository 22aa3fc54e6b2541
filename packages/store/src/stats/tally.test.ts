import { expect, test } from 'vitest'
import { BUCKETS_MAX } from './log-buckets.ts'
import { TimeCounts } from './tally.ts'

test.each([1, 8, 9, BUCKETS_MAX])('%i different times are counted exactly, and only once', (buckets) => {
  const counts = new TimeCounts()
  const rounds = 3
  for (let round = 0; round < rounds; round++) {
    for (let bucket = 0; bucket < buckets; bucket++) counts.add(bucket)
    counts.add(0)
  }
  const expected = Array.from({ length: buckets }, (_, bucket) => [
    bucket,
    bucket === 0 ? 2 * rounds : rounds,
  ])
  expect(counts.take()).toEqual(expected.flat())
  expect(counts.take()).toEqual([])
  counts.add(7)
  expect(counts.take()).toEqual([7, 1])
})
