import { expect, test } from 'vitest'
import { SHARD_COUNT, shardBase } from './shards.ts'
import { DISPATCH_QUEUES_MAX, dispatchTag, keySlot, SLOT_COUNT } from './slots.ts'

const MASTERS_MAX = 16

/** How many of the slots each of `masters` masters has, if they divide all slots evenly. */
function shares(slots: number[], masters: number): number[] {
  const owners = slots.map((slot) => Math.floor((slot * masters) / SLOT_COUNT))
  return Array.from({ length: masters }, (_, master) => owners.filter((owner) => owner === master).length)
}

test('a key has the slot that Redis gives it', () => {
  // Values from the specification, and from CLUSTER KEYSLOT.
  expect(keySlot('123456789')).toBe(12_739)
  expect(keySlot('foo')).toBe(12_182)
  expect(keySlot('a{foo}b')).toBe(12_182)
  // An empty tag is none.
  expect(keySlot('foo{}{bar}')).toBe(8_363)
})

test('shards are spread evenly over any number of masters', () => {
  const slots = Array.from({ length: SHARD_COUNT }, (_, shard) => keySlot(shardBase(shard)))
  for (let masters = 1; masters <= MASTERS_MAX; masters++) {
    const counts = shares(slots, masters)
    expect([masters, Math.max(...counts) - Math.min(...counts) <= 1]).toEqual([masters, true])
  }
})

test('with as many dispatch queues as masters, each master has one', () => {
  for (let masters = 1; masters <= 14; masters++) {
    const slots = Array.from({ length: masters }, (_, number) => keySlot(`{${dispatchTag(number)}}`))
    expect(shares(slots, masters)).toEqual(new Array(masters).fill(1))
  }
})

test('dispatch queues have a tag each, and no more of them than there are tags', () => {
  const tags = Array.from({ length: DISPATCH_QUEUES_MAX }, (_, number) => dispatchTag(number))
  expect(new Set(tags).size).toBe(64)
  expect(() => dispatchTag(64)).toThrow('no dispatch queue 64')
})
