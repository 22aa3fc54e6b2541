import { expect, test } from 'vitest'
import { SHARD_COUNT, shardBase, shardOf } from '../index.ts'
import { sliceShard } from './shards.ts'

test('shards fill evenly with topics', () => {
  const filled = new Array<number>(SHARD_COUNT).fill(0)
  for (let i = 0; i < 48_000; i++) {
    const shard = shardOf(`arn:aws:sns:us-east-1:000000000000:topic-${i}`)
    filled[shard] = (filled[shard] ?? 0) + 1
  }
  expect(Math.min(...filled)).toBeGreaterThan(700)
  expect(Math.max(...filled)).toBeLessThan(1_300)
})

test('slices of a topic follow one another through the shards', () => {
  const home = shardOf('arn:x')
  expect([sliceShard('arn:x', 0), sliceShard('arn:x', 1)]).toEqual([home, (home + 1) % SHARD_COUNT])
})

test('the 48 tags stand in 48 evenly spaced cluster slots', () => {
  const slots = Array.from(
    { length: SHARD_COUNT },
    (_, i) => crc16(/\{(.*)\}/.exec(shardBase(i))?.[1] ?? '') % 16_384,
  )
  expect(slots).toEqual(Array.from({ length: SHARD_COUNT }, (_, i) => Math.floor(((i + 0.5) * 16_384) / 48)))
})

/** CRC-16/XMODEM, as the Redis Cluster specification gives it. */
function crc16(text: string): number {
  let crc = 0
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8
    for (let i = 0; i < 8; i++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff
  }
  return crc
}
