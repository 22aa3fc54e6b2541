import { expect, test } from 'vitest'
import { cutUp, type Weight } from './job-parts.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
const weight = (deliveries: number, slices = Math.ceil(deliveries / 500)): Weight => ({
  deliveries,
  slices: numbers(slices),
})

test('a batch is cut by messages, neighbours together', () => {
  expect(cutUp(Array.from({ length: 100 }, () => weight(300)))).toEqual(
    Array.from({ length: 17 }, (_, i) => ({
      messages: [6 * i, Math.min(6 * i + 6, 100)],
      slices: [0, null],
    })),
  )
})

test('a message to many is cut by slices, without a gap and open at the end', () => {
  const cuts = cutUp([weight(100), weight(8_000), weight(100)])
  expect(cuts).toEqual([
    { messages: [0, 1], slices: [0, null] },
    { messages: [1, 2], slices: [0, 4] },
    { messages: [1, 2], slices: [4, 8] },
    { messages: [1, 2], slices: [8, 12] },
    { messages: [1, 2], slices: [12, null] },
    { messages: [2, 3], slices: [0, null] },
  ])
})

test('only the slices that a message opens count, and those between go along', () => {
  const slices = [7, 90, 91, 400]
  expect(cutUp([{ deliveries: 6_000, slices }]).map((part) => part.slices)).toEqual([
    [0, 90],
    [90, 91],
    [91, null],
  ])
})

test('ten million subscriptions are 256 parts', () => {
  expect(cutUp([weight(10_000_000)])).toHaveLength(256)
})

test('messages without recipients and those of one slice go with their neighbours', () => {
  expect(cutUp([weight(0, 0), weight(20_000, 1), weight(0, 0)])).toEqual([
    { messages: [0, 3], slices: [0, null] },
  ])
})
