/** Bitmaps compared with sets of numbers, below and above the size that fits into a number. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Bitmap } from './bitmap.ts'

const sizes = fc.constantFrom(1, 7, 8, 9, 24, 29, 30, 31, 32, 33, 64, 500)

test('holds what was added, counts it, and comes back from its packed form', () => {
  const cases = sizes.chain((bits) =>
    fc.tuple(fc.constant(bits), fc.uniqueArray(fc.nat({ max: bits - 1 })), fc.nat({ max: bits - 1 })),
  )
  fc.assert(
    fc.property(cases, ([bits, added, later]) => {
      const bitmap = new Bitmap(bits)
      for (const bit of added) bitmap.add(bit)
      if (!added.includes(later)) bitmap.add(later)
      if (!added.includes(later)) bitmap.remove(later)
      const packed = Buffer.from(bitmap.packed())
      const again = new Bitmap(bits, packed)
      again.add(later)
      expect(bitmap.count()).toBe(added.length)
      expect(packed.at(-1)).not.toBe(0)
      for (let bit = 0; bit < bits; bit++) {
        expect(bitmap.has(bit)).toBe(added.includes(bit))
        expect(again.has(bit)).toBe(added.includes(bit) || bit === later)
      }
    }),
  )
})

test('a checkpoint of a slice that has shrunk since keeps its bits', () => {
  const before = new Bitmap(500)
  before.add(3)
  before.add(499)
  const after = new Bitmap(8, before.packed())
  expect([after.has(3), after.has(499), after.count()]).toEqual([true, true, 2])
})

test('a packed form does not change when bits are added later', () => {
  const bitmap = new Bitmap(10)
  bitmap.add(1)
  const packed = bitmap.packed()
  bitmap.add(2)
  expect([...packed]).toEqual([2])
})
