import { createMessageId } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { sliceShard } from '../keys/shards.ts'
import { bits, type Found, readEntry } from './outcome-entries.ts'
import { bitRuns, bitsText, filteredTexts } from './outcome-filtered.ts'

const topicArn = 'arn:aws:sns:us-east-1:000000000000:orders'
const messageId = createMessageId(1_700_000_000_000)

function bitmap(...bits: number[]): Buffer {
  const bytes = Buffer.alloc(63)
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7))
  return bytes
}

const first = (count: number) => Array.from({ length: count }, (_, bit) => bit)
type Slices = [number: number, bits: number[], departures?: number][]

const textsOf = (slices: Slices, except: number[] = []) =>
  filteredTexts({
    messageId,
    id: Buffer.alloc(16),
    topicArn,
    topicUid: 'uid',
    sizeBytes: 7,
    runs: bitRuns(
      slices.map(([number, bits, departures = 0]) => ({
        number,
        bits: bitsText(bitmap(...bits)),
        departures,
      })),
    ),
    except,
  })

test('slices and bits are read as written', () => {
  const slices: Slices = [
    [0, first(500)],
    [1, first(500)],
    [3, first(500)],
    [4, first(12)],
    [5, [1, 2, 499]],
    [6, [1, 2, 499]],
    [7, first(500), 12],
    [8, first(500), 12],
    [9, first(500), 3],
    [11, []],
  ]
  for (const except of [
    [],
    [0],
    [1],
    [11],
    [0, 1, 3],
    [4, 5, 6],
    [0, 2, 5, 8, 11, 12],
    [0, 1, 3, 4, 5, 6, 11],
  ]) {
    const found: Found = { dispatch: [], lanes: [] }
    for (const text of textsOf(slices, except)) readEntry({ messageId, text }, found)
    expect(found.dispatch.map(({ slice, filtered }) => [slice, bits(filtered)])).toEqual(
      slices
        .filter(([number]) => !except.includes(number))
        .map(([number, bits, departures]) => [
          {
            sliceId: `uid.${number}`,
            shard: sliceShard(topicArn, number),
            ...(departures !== undefined && { departures }),
          },
          bits,
        ]),
    )
    for (const entry of found.dispatch)
      expect(entry).toMatchObject({ messageId, topicArn, sizeBytes: 7, failures: [] })
  }
})

test('two hundred full slices are one short entry, as many with holes are several that stay short', () => {
  const full = textsOf(first(200).map((number) => [number, first(500)]))
  expect(full.map((text) => text.length < 200)).toEqual([true])
  const lossy = textsOf(first(200).map((number) => [number, first(500), 40]))
  expect(lossy.map((text) => text.length < 200)).toEqual([true])
  const holes = textsOf(first(200).map((number) => [number, [number, 499]]))
  expect(holes.length).toBeGreaterThan(1)
  expect(holes.length).toBeLessThan(100)
  expect(holes.every((text) => text.length < 700)).toBe(true)
})
