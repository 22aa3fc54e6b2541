import { waitFor } from '@fantail/test-kit'
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { claimsOf, makeMessage, parkAll, SHARD, skew, takeFrom, writeLane } from './lane.fixture.ts'
import { useLanes } from './lanes.fixture.ts'
import type { Standing } from './records/lane-records.ts'

const { redis, lanes } = await useLanes()

const messages = (n: number) => Array.from({ length: n }, () => makeMessage())
const unproven = { proven: false } as const

test('lanes of unproven endpoints get one claim each in turn, and none without a slot for it', async () => {
  const ids = [
    await writeLane(redis, unproven),
    await writeLane(redis, unproven),
    await writeLane(redis, unproven),
  ]
  for (const id of ids) await parkAll(lanes, [id], messages(3))
  const served = async (unprovenMax: number) => {
    // Lanes have the order of their times in milliseconds.
    const before = Date.now()
    await waitFor(() => Date.now() > before, { intervalMs: 1 })
    return (await takeFrom(lanes, { unprovenMax })).lanes.map(({ subscriptionId, proven, claims }) => {
      expect([proven, claims.length]).toEqual([false, 1])
      return subscriptionId
    })
  }
  expect(await served(0)).toEqual([])
  expect(await served(2)).toHaveLength(2)
  // Each lane is served once before any is served again.
  const lanesServed = [...(await served(1)), ...(await served(1)), ...(await served(1))]
  expect(new Set(lanesServed)).toEqual(new Set(ids))
})

test('a lane that is sent in batches gets several claims at a time, which take one slot', async () => {
  const [batched, other] = [await writeLane(redis, unproven), await writeLane(redis, unproven)]
  await parkAll(lanes, [batched], messages(8))
  await parkAll(lanes, [other], messages(8))
  const unprovenClaims = new Map([[batched, 5]])
  const take = async (request: Parameters<typeof takeFrom>[1]) => {
    const taken = await takeFrom(lanes, { unprovenClaims, unprovenMax: 2, ...request })
    return new Map(taken.lanes.map(({ subscriptionId, claims }) => [subscriptionId, claims.length]))
  }
  const first = await take({})
  expect([first.get(batched), first.get(other)]).toEqual([5, 1])
  const second = await take({ limits: new Map([[batched, 2]]) })
  expect([second.get(batched), second.get(other)]).toEqual([2, 1])
})

test('a take of what is due never comes by lanes of unproven endpoints, however many they are', async () => {
  const healthy = await writeLane(redis)
  const many = await Promise.all(Array.from({ length: 300 }, () => writeLane(redis, unproven)))
  await parkAll(lanes, many, messages(1))
  await parkAll(lanes, [healthy], messages(1))
  const before = await commandsOf(redis)
  const taken = await takeFrom(lanes, { unprovenMax: 0 })
  expect(taken.lanes.map(({ subscriptionId }) => subscriptionId)).toEqual([healthy])
  expect((await commandsOf(redis)) - before).toBeLessThan(40)
})

test('a lane that has all its worker may attempt comes again once one of them is settled', async () => {
  const id = await writeLane(redis, unproven)
  await parkAll(lanes, [id], messages(5))
  const [claim] = claimsOf(await takeFrom(lanes, { limits: new Map([[id, 1]]) }))
  if (!claim) throw new Error('one was claimed')
  const full = await takeFrom(lanes, { limits: new Map([[id, 0]]) })
  expect(full.lanes).toEqual([])
  expect(full.nextUnprovenAt).toBeGreaterThan(full.now)
  await lanes.settle(SHARD, [{ ...claim, to: { op: 'delivered' } }])
  expect((await lanes.dueTimes()).unproven.get(SHARD)).toBeLessThanOrEqual(await lanes.now(SHARD))
})

test('a lane that is full for one worker is served by another, however often the first one looks', async () => {
  const ids = [await writeLane(redis, unproven), await writeLane(redis, unproven)]
  await parkAll(lanes, ids, messages(5))
  const limits = new Map(ids.map((id) => [id, 1]))
  expect(claimsOf(await takeFrom(lanes, { limits }))).toHaveLength(2)
  const none = new Map(ids.map((id) => [id, 0]))
  for (let ms = 0; ms <= 3_000; ms += 1_000) {
    await skew(redis, ms)
    const looked = await takeFrom(lanes, { limits: none })
    expect(looked.lanes).toEqual([])
    expect(looked.nextUnprovenAt).toBeGreaterThan(looked.now)
  }
  expect(claimsOf(await takeFrom(lanes))).toHaveLength(2)
})

test('a lane that has become full for one worker is served by another within 250 ms', async () => {
  const id = await writeLane(redis, unproven)
  await parkAll(lanes, [id], messages(5))
  const taken = await takeFrom(lanes, { limits: new Map([[id, 1]]) })
  expect(claimsOf(taken)).toHaveLength(1)
  const other = await takeFrom(lanes)
  expect(other.nextUnprovenAt).toBeLessThanOrEqual(taken.now + 250)
  await skew(redis, 250)
  expect(claimsOf(await takeFrom(lanes))).toHaveLength(1)
})

test('a full lane is not due before a pause of its delivery ends, if leases ended twice', async () => {
  const id = await writeLane(redis, unproven)
  await parkAll(lanes, [id], messages(1))
  const leaseMs = 20_000
  expect(claimsOf(await takeFrom(lanes, { leaseMs }))).toHaveLength(1)
  await skew(redis, 30_000)
  expect(claimsOf(await takeFrom(lanes, { leaseMs }))).toHaveLength(1)
  await skew(redis, 60_000)
  const looked = await takeFrom(lanes, { limits: new Map([[id, 0]]) })
  expect((await lanes.dueTimes()).unproven.get(SHARD)).toBe(looked.now + 1_000)
  await skew(redis, 61_000)
  expect(claimsOf(await takeFrom(lanes))).toHaveLength(1)
})

test('a lane changes its line with what an attempt has shown, by accepted writes alone', async () => {
  const id = await writeLane(redis, unproven)
  await parkAll(lanes, [id], messages(3))
  const [claim] = claimsOf(await takeFrom(lanes))
  if (!claim) throw new Error('one was claimed')
  const report = (standing: Standing, lease = claim.lease) =>
    lanes.settle(SHARD, [{ ...claim, lease, to: { op: 'continueClaim' }, standing }])
  await report('proven', '1')
  expect([...(await lanes.dueTimes()).due]).toEqual([])
  await report('proven')
  expect([...(await lanes.dueTimes()).unproven]).toEqual([])
  const others = claimsOf(await takeFrom(lanes, { unprovenMax: 0 }))
  expect(others).toHaveLength(2)
  await report('unproven')
  expect([...(await lanes.dueTimes()).due]).toEqual([])
})

async function commandsOf(redis: Redis): Promise<number> {
  const found = /^total_commands_processed:(\d+)/m.exec(await redis.info('stats'))
  return Number(found?.[1])
}
