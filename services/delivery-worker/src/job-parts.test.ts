import { expect, test } from 'vitest'
import { cutUp, type Weight } from './job-parts.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
const weight = (deliveries: number, slices = Math.ceil(deliveries / 500), bytes = 1_000): Weight => ({
  deliveries,
  slices: numbers(slices),
  bytes,
})

test('a batch is cut by messages, neighbours together', () => {
  expect(cutUp(Array.from({ length: 100 }, () => weight(300)))).toEqual(
    Array.from({ length: 17 }, (_, i) => ({ from: 6 * i, to: Math.min(6 * i + 6, 100), slices: [0, null] })),
  )
})

test('a message to many is cut by slices, without a gap and open at the end', () => {
  const cuts = cutUp([weight(100), weight(8_000), weight(100)])
  expect(cuts).toEqual([
    { from: 0, to: 1, slices: [0, null] },
    { from: 1, to: 2, slices: [0, 4] },
    { from: 1, to: 2, slices: [4, 8] },
    { from: 1, to: 2, slices: [8, 12] },
    { from: 1, to: 2, slices: [12, null] },
    { from: 2, to: 3, slices: [0, null] },
  ])
})

test('only the slices that a message opens count, and those between go along', () => {
  const slices = [7, 90, 91, 400]
  expect(cutUp([{ deliveries: 6_000, slices, bytes: 100 }]).map((cut) => cut.slices)).toEqual([
    [0, 90],
    [90, 91],
    [91, null],
  ])
})

test('ten million subscriptions are 256 parts, and large bodies fewer', () => {
  expect(cutUp([weight(10_000_000)])).toHaveLength(256)
  expect(cutUp([weight(10_000_000, 20_000, 1_048_576)])).toHaveLength(64)
})

test('the copies of a whole batch are bounded, not those of each of its messages', () => {
  const batch = Array.from({ length: 100 }, () => weight(10_000_000, 20_000, 10_000))
  expect(cutUp(batch).length * 10_000).toBeLessThanOrEqual(67_108_864)
})

test('what nobody gets and what one slice holds goes with its neighbours', () => {
  expect(cutUp([weight(0, 0), weight(20_000, 1), weight(0, 0)])).toEqual([
    { from: 0, to: 3, slices: [0, null] },
  ])
})
