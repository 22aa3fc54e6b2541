import { expect, test } from 'vitest'
import { ShardClocks } from './shard-clocks.ts'

const HOUR_MS = 3_600_000

test('shards go by the clock of their own master', () => {
  const clocks = new ShardClocks((shard) => (shard < 2 ? 'a' : 'b'))
  const now = Date.now()
  clocks.tell(0, now)
  clocks.tell(2, now + HOUR_MS)
  expect(clocks.of(1).now()).toBeCloseTo(now, -2)
  expect(clocks.of(3).now()).toBeCloseTo(now + HOUR_MS, -2)
  expect(clocks.of(3).localTime(now + HOUR_MS)).toBeCloseTo(clocks.of(1).localTime(now), -1)
})

test('a master that has told nothing is taken to be as far as the furthest', () => {
  const clocks = new ShardClocks(String)
  clocks.tell(0, Date.now() - HOUR_MS)
  clocks.tell(1, Date.now() + HOUR_MS)
  expect(clocks.of(2).now()).toBeCloseTo(Date.now() + HOUR_MS, -2)
  clocks.tell(2, Date.now())
  expect(clocks.of(2).now()).toBeCloseTo(Date.now(), -2)
})
