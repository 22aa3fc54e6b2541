import { Redis } from 'ioredis'
import { afterAll, expect, test } from 'vitest'
import { PartsRoom } from './parts-room.ts'

const redis = new Redis({ lazyConnect: true })
afterAll(() => redis.disconnect())

const roomOf = (usedBytes: number, limitBytes: number) =>
  new PartsRoom(redis, async () => ({ usedBytes, limitBytes }))

test('an eighth of what publishing may still fill is given away by one sample', async () => {
  const room = roomOf(350, 1_000)
  expect([await room.take(30), await room.take(20), await room.take(21), await room.take(0)]).toEqual([
    true,
    true,
    false,
    true,
  ])
})

test('past the watermark there is none', async () => {
  expect(await roomOf(751, 1_000).take(0)).toBe(false)
})

test('a Redis without a limit has room', async () => {
  expect(await roomOf(1_000_000, Number.POSITIVE_INFINITY).take(1_000_000)).toBe(true)
})
