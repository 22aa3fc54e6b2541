import { expect, test } from 'vitest'
import { JobBytes } from './job-bytes.ts'

const MIB = 1_048_576

/** How many commands are sent beside each other before there is no capacity left. */
function fetchesOf(bytes: JobBytes): number {
  let count = 0
  for (; bytes.hasCapacity && count < 1_000; count++) bytes.fetching(1)
  for (let i = 0; i < count; i++) bytes.fetching(-1)
  return count
}

test('jobs that are being fetched count as the largest of late, and nothing once they have come', () => {
  const bytes = new JobBytes()
  expect(fetchesOf(bytes)).toBe(64)
  bytes.begin(32 * MIB)
  bytes.end(32 * MIB)
  expect(fetchesOf(bytes)).toBe(2)
  for (let i = 0; i < 200; i++) {
    bytes.begin(1_000)
    bytes.end(1_000)
  }
  expect(fetchesOf(bytes)).toBe(1_000)
})

test('jobs that run leave less for those that are being fetched', () => {
  const bytes = new JobBytes()
  for (let i = 0; i < 60; i++) bytes.begin(MIB)
  expect(fetchesOf(bytes)).toBe(4)
})
