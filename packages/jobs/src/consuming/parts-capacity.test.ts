import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { PART_BYTES, PARTS_SHARE, PartsCapacity } from './parts-capacity.ts'

const { redis } = await useRedis()

/** A Redis with capacity for this many parts. */
const capacityFor = (parts: number) => {
  const limitBytes = 1e9
  const usedBytes = limitBytes * PARTS_SHARE - parts * PART_BYTES
  return new PartsCapacity({ redis, read: async () => ({ usedBytes, limitBytes }) })
}

test('one sample gives away an eighth of the capacity', async () => {
  const room = capacityFor(400)
  expect([await room.take(30), await room.take(19), await room.take(2), await room.take(0)]).toEqual([
    true,
    true,
    false,
    true,
  ])
})

test('there is some past the watermark, and none where parking needs it', async () => {
  const at = (usedBytes: number) =>
    new PartsCapacity({ redis, read: async () => ({ usedBytes, limitBytes: 1e9 }) }).take(256)
  expect([await at(0.76e9), await at(0.81e9)]).toEqual([true, false])
})

test('a Redis without a limit has capacity', async () => {
  const read = async () => ({ usedBytes: 1e6, limitBytes: Number.POSITIVE_INFINITY })
  expect(await new PartsCapacity({ redis, read }).take(1e6)).toBe(true)
})

test('the setting stands for the limit of a Redis that has none', async () => {
  expect(await new PartsCapacity({ redis, memoryBytes: 1_048_576 }).take(1)).toBe(false)
  expect(await new PartsCapacity({ redis, memoryBytes: 1e9 }).take(1)).toBe(true)
})
