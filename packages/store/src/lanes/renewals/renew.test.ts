import { leaseKey, RANDOM_TIMEOUT_MS } from '@fantail/test-kit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dueKey, laneKey } from '../../keys/keys.ts'
import {
  BASE,
  claimsOf,
  deleteLane,
  makeMessage,
  parkAll,
  SHARD,
  skew,
  takeFrom,
  writeLane,
} from '../lane.fixture.ts'
import { renew } from '../lane-throttle/send-times.fixture.ts'
import { useLanes } from '../lanes.fixture.ts'
import type { Claim, LaneRenewal } from '../records/lane-records.ts'

const { redis, lanes } = await useLanes()

const RATE = 20
const GAP_MS = 50

/** A lane with a backlog, and the claims of a take. Lanes that were there before are no longer due. */
async function takeLane(settings: Parameters<typeof writeLane>[1] = { rate: RATE }) {
  await redis.del(dueKey(BASE))
  const id = await writeLane(redis, settings)
  await parkAll(
    lanes,
    [id],
    Array.from({ length: 30 }, () => makeMessage(Date.now() - 1_000)),
  )
  return { id, claims: claimsOf(await takeFrom(lanes)) }
}

const tatOf = async (id: string) => Number(await redis.hget(laneKey(BASE, id), 'x'))
const renewLane = async (lane: Partial<LaneRenewal> & Pick<LaneRenewal, 'subscriptionId' | 'claims'>) => {
  const [renewed] = await lanes.renew(SHARD, {
    leaseMs: 15_000,
    lanes: [{ leadMs: 0, ...lane }],
  })
  return renewed ?? []
}
const firstOf = (claims: Claim[]) => claims[0]?.sendAt ?? null
const gapsOf = (times: (number | null)[]) =>
  times.slice(1).map((time, i) => Math.round((time ?? 0) - (times[i] ?? 0)))

const isNear = (a: number | null, b: number | null) =>
  a === null || b === null ? a === b : Math.abs(a - b) < 0.1

test('a lane without claims fails no renewal of the others', async () => {
  const { id, claims } = await takeLane({})
  const none = { subscriptionId: id, leadMs: 0, claims: [] }
  const renewal = { leaseMs: 15_000, lanes: [none, { ...none, claims: claims.slice(0, 2) }] }
  const [first, second] = await lanes.renew(SHARD, renewal)
  expect(first).toEqual([])
  expect(second?.map(({ sendAt }) => sendAt)).toEqual([expect.any(Number), expect.any(Number)])
})

test('late claims and the lane move on by the delay', async () => {
  const takenFrom = performance.now()
  const { id, claims } = await takeLane()
  const before = await tatOf(id)
  await skew(redis, 1_000)
  const renewed = await renewLane({ subscriptionId: id, claims })
  const sinceTakeMs = performance.now() - takenFrom
  const times = renewed.map(({ sendAt }) => sendAt)
  expect(gapsOf(times)).toEqual(Array(claims.length - 1).fill(GAP_MS))
  const moved = (times[0] ?? 0) - (firstOf(claims) ?? 0)
  expect(moved).toBeGreaterThanOrEqual(1_000)
  expect(moved).toBeLessThan(1_001 + sinceTakeMs)
  expect((await tatOf(id)) - before).toBeCloseTo(moved, 1)
})

test('a lead puts them off further, for a worker that is late again and again', async () => {
  const { id, claims } = await takeLane()
  const now = await lanes.now(SHARD)
  const [first] = await renewLane({ subscriptionId: id, claims, leadMs: 200 })
  expect(first?.sendAt).toBeGreaterThanOrEqual(now + 200)
})

test('late claims take the next free send times if another worker has later claims', async () => {
  const { id, claims } = await takeLane()
  await skew(redis, 100)
  await redis.zadd(dueKey(BASE), 0, id)
  const others = claimsOf(await takeFrom(lanes))
  expect(others.length).toBeGreaterThan(0)
  const tat = await tatOf(id)
  const renewed = await renewLane({ subscriptionId: id, claims })
  expect(renewed[0]?.sendAt).toBeCloseTo(tat, 1)
  // Claims that are not late keep their send times.
  expect(renewed.at(-1)?.sendAt).toBe(claims.at(-1)?.sendAt)
})

test('a claim that makes another request gets a new send time, and a lease that lasts', async () => {
  const { id, claims } = await takeLane()
  const tat = await tatOf(id)
  const [claim] = claims
  if (!claim) throw new Error('there is a claim')
  await skew(redis, 10_000)
  const [renewed] = await renewLane({ subscriptionId: id, claims: [{ ...claim, sendAt: null }] })
  expect(renewed?.sendAt).toBeGreaterThanOrEqual(tat)
  expect(renewed?.lease).not.toBe(claim.lease)
  const [current] = await redis.zmscore(leaseKey(BASE, id), claim.delivery)
  expect(Number(current)).toBe(Number(renewed?.lease))
  const settle = (lease: string) =>
    lanes.settle(SHARD, [{ subscriptionId: id, delivery: claim.delivery, lease, to: { op: 'delivered' } }])
  expect((await settle(claim.lease)).accepted).toEqual([false])
  expect((await settle(renewed?.lease ?? '')).accepted).toEqual([true])
})

test('a lease that lasts long enough stays', async () => {
  const { id, claims } = await takeLane()
  const renewed = await renewLane({ subscriptionId: id, claims })
  expect(renewed.map(({ lease }) => lease)).toEqual(claims.map(({ lease }) => lease))
})

test('a lane without a throttle is not kept waiting', async () => {
  const { id, claims } = await takeLane({})
  const now = await lanes.now(SHARD)
  const renewed = await renewLane({ subscriptionId: id, claims })
  for (const { sendAt } of renewed) expect(sendAt).toBeLessThan(now + 500)
  expect(await redis.hexists(laneKey(BASE, id), 'x')).toBe(0)
})

test('nothing is renewed whose lease has ended, in a lane that is paused, deleted or unknown', async () => {
  const paused = await takeLane()
  await writeLane(redis, { rate: RATE, paused: true }, paused.id)
  const gone = await takeLane()
  await deleteLane(redis, gone.id)
  const ended = await takeLane()
  const claims = ended.claims.map((claim) => ({ ...claim, lease: '1' }))
  for (const lane of [paused, gone, { ...ended, claims }, { ...ended, id: 'unknown' }]) {
    const tat = await tatOf(lane.id)
    const renewed = await renewLane({ subscriptionId: lane.id, claims: lane.claims })
    expect(renewed).toEqual(lane.claims.map(({ lease }) => ({ sendAt: null, lease })))
    expect(await tatOf(lane.id)).toBe(tat)
  }
})

test('renewals go as the model says, and none lies further ahead than it allows', {
  timeout: RANDOM_TIMEOUT_MS,
}, async () => {
  const sequences = fc.array(
    fc.record({
      passMs: fc.nat(400),
      late: fc.boolean(),
      rate: fc.constantFrom(1, 20, 150),
      leadMs: fc.constantFrom(0, 100),
    }),
    { minLength: 1, maxLength: 12 },
  )
  const property = fc.asyncProperty(sequences, async (sequence) => {
    const rate = sequence[0]?.rate ?? 1
    const { id, claims } = await takeLane({ rate })
    let [passed, planned] = [0, claims.map(({ sendAt }) => sendAt)]
    let leases = claims.map(({ lease }) => lease)
    for (const { passMs, late, leadMs } of sequence) {
      passed += passMs
      await skew(redis, passed)
      if (!late) planned = planned.map(() => null)
      const inHand = claims.map((claim, i) => ({
        ...claim,
        sendAt: planned[i] ?? null,
        lease: leases[i] ?? '',
      }))
      const [before, earliest] = [await tatOf(id), await lanes.now(SHARD)]
      const renewed = await renewLane({ subscriptionId: id, leadMs, claims: inHand })
      const latest = await lanes.now(SHARD)
      const times = renewed.map(({ sendAt }) => sendAt)
      const moments = Array.from({ length: latest - earliest + 1 }, (_, i) => earliest + i)
      const models = moments.map((now) => renew(before, now, { rate, planned, leadMs }))
      const tat = await tatOf(id)
      const isLike = (model: (typeof models)[number]) =>
        isNear(model.tat, tat) && model.sendAt.every((at, i) => isNear(at, times[i] ?? null))
      expect(models.some(isLike)).toBe(true)
      if (times.includes(null)) break
      planned = times.toSorted((a, b) => (a ?? 0) - (b ?? 0))
      leases = renewed.map(({ lease }) => lease)
    }
    await skew(redis, 0)
  })
  await fc.assert(property, { numRuns: 20, endOnFailure: true })
})
