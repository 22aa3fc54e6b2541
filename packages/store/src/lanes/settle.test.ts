import { stateKey } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { countsKey } from '../keys/keys.ts'
import {
  BASE,
  claimsOf,
  deleteLane,
  keysLeft,
  makeMessage,
  parkAll,
  referencesTo,
  SHARD,
  skew,
  takeFrom,
  writeLane,
} from './lane.fixture.ts'
import { useLanes } from './lanes.fixture.ts'
import type { DeadState, RetryState, SettleTo } from './records/lane-records.ts'

const { redis, lanes } = await useLanes()

const FAILED: RetryState = { kind: 'retry', attempts: 2, statusCode: null, error: 'connection_refused' }
const DEAD: DeadState = {
  kind: 'dead',
  cause: 'retriesExhausted',
  attempts: 3,
  statusCode: 503,
  error: null,
}

async function claimOne() {
  const id = await writeLane(redis)
  await parkAll(lanes, [id], [makeMessage()])
  const [claim] = claimsOf(await takeFrom(lanes))
  if (!claim) throw new Error('a claim was due')
  return claim
}

async function settleOne(claim: Awaited<ReturnType<typeof claimOne>>, to: SettleTo) {
  const { accepted, leases, nextDueAt } = await lanes.settle(SHARD, [{ ...claim, to }])
  return { accepted: accepted[0], lease: leases[0] ?? null, nextDueAt }
}

const counts = () => redis.hgetall(countsKey(BASE))

test.each<[SettleTo, Record<string, string>]>([
  [{ op: 'delivered' }, {}],
  [{ op: 'deadLettered' }, { deadLettered: '1' }],
  [{ op: 'discard', cause: 'permanent' }, { 'discarded:permanent': '1' }],
  [{ op: 'discard', cause: 'expired' }, { expired: '1' }],
  [{ op: 'quarantined' }, { quarantined: '1' }],
])('%o ends the delivery and frees its body', async (to, counted) => {
  const claim = await claimOne()
  expect(await settleOne(claim, to)).toEqual({ accepted: true, lease: null, nextDueAt: null })
  expect(await counts()).toEqual(counted)
  expect(await keysLeft(redis)).toEqual([`${BASE}lane:${claim.subscriptionId}`])
})

test('unreadable data of a lane fails its own settlements, and others of the script are settled', async () => {
  const [first, bad, last] = [await writeLane(redis), await writeLane(redis), await writeLane(redis)]
  const [message, other] = [makeMessage(), makeMessage()]
  await parkAll(lanes, [first, bad, last], [message])
  await parkAll(lanes, [bad], [other])
  const claims = claimsOf(await takeFrom(lanes))
  await redis.set(stateKey(BASE, bad), 'unreadable')
  const settled = (subscriptionId: string, { id }: { id: Buffer }, to: SettleTo) => {
    const found = claims.find((one) => one.subscriptionId === subscriptionId && one.delivery.equals(id))
    if (!found) throw new Error('every delivery was due')
    return { ...found, to }
  }
  const { accepted, failed } = await lanes.settle(SHARD, [
    settled(first, message, { op: 'deadLettered' }),
    settled(bad, message, { op: 'deadLettered' }),
    settled(bad, other, { op: 'retry', delayMs: 1_000, state: FAILED }),
    settled(last, message, { op: 'deadLettered' }),
  ])
  expect(accepted).toEqual([true, false, false, true])
  const error = expect.stringContaining('WRONGTYPE')
  expect([...(failed ?? [])]).toEqual([1, 2].map((at) => [at, error]))
  // The delivery in the unreadable lane keeps its body, and only what was settled is counted.
  expect([await referencesTo(redis, message), await referencesTo(redis, other)]).toEqual([1, 1])
  expect(await counts()).toEqual({ deadLettered: '2' })
  await redis.del(stateKey(BASE, bad))
})

test('a retry waits for its time, with its state; the lane shows the last failure', async () => {
  const claim = await claimOne()
  const { nextDueAt } = await settleOne(claim, { op: 'retry', delayMs: 30_000, state: FAILED })
  expect(await takeFrom(lanes)).toMatchObject({ lanes: [], nextDueAt })
  const [where] = await lanes.deliveryStates(SHARD, [claim])
  expect(where).toEqual({ where: 'waiting', dueAt: nextDueAt, state: FAILED })
  const [figures] = await lanes.figures([{ subscriptionId: claim.subscriptionId, shard: SHARD }])
  expect(figures).toMatchObject({
    nextAttemptAt: nextDueAt,
    lastFailure: { at: expect.any(Number), error: 'connection_refused', statusCode: null },
  })
  await skew(redis, 30_100)
  expect(claimsOf(await takeFrom(lanes))).toMatchObject([{ delivery: claim.delivery, state: FAILED }])
})

test('an unsent delivery is due at once and counts no attempt', async () => {
  const claim = await claimOne()
  expect((await settleOne(claim, { op: 'returnToLane' })).accepted).toBe(true)
  expect(claimsOf(await takeFrom(lanes))).toMatchObject([{ delivery: claim.delivery, state: null }])
})

test('while the key of a message is missing its delivery waits, and the lane and the delivery say so', async () => {
  const claim = await claimOne()
  const { nextDueAt } = await settleOne(claim, { op: 'awaitKey', delayMs: 60_000 })
  const lane = [{ subscriptionId: claim.subscriptionId, shard: SHARD }]
  expect(await lanes.figures(lane)).toMatchObject([{ waiting: 1, lacksKey: true, isBlocked: false }])
  expect(await lanes.deliveryStates(SHARD, [claim])).toMatchObject([
    { where: 'waiting', dueAt: nextDueAt, hold: { cause: 'misconfigured', until: nextDueAt } },
  ])
  await skew(redis, 60_100)
  const [again] = claimsOf(await takeFrom(lanes))
  expect(again).toMatchObject({ delivery: claim.delivery, state: null })
  await skew(redis, 65_100)
  expect(await lanes.figures(lane)).toMatchObject([{ lacksKey: false }])
})

test('a delivery that waits for a missing dead-letter queue stays dead, and the lane and the delivery say so', async () => {
  const claim = await claimOne()
  const { lease } = await settleOne(claim, { op: 'declareDead', leaseMs: 15_000, state: DEAD })
  const dead = { ...claim, lease: lease ?? '' }
  const { nextDueAt } = await settleOne(dead, { op: 'awaitDlq', delayMaxMs: 60_000 })
  const lane = [{ subscriptionId: claim.subscriptionId, shard: SHARD }]
  expect(await lanes.figures(lane)).toMatchObject([{ waiting: 1, isDlqMissing: true }])
  expect(await lanes.deliveryStates(SHARD, [claim])).toMatchObject([
    { where: 'waiting', dueAt: nextDueAt, state: DEAD, hold: { cause: 'dlqMissing', until: nextDueAt } },
  ])
  expect(claimsOf(await takeFrom(lanes))).toEqual([])
  expect(await lanes.releaseDead(SHARD, claim.subscriptionId)).toBe(1)
  const [again] = claimsOf(await takeFrom(lanes))
  expect(again).toMatchObject({ delivery: claim.delivery, state: DEAD })
  await settleOne(again ?? claim, { op: 'deadLettered' })
  expect(await lanes.figures(lane)).toMatchObject([{ waiting: 0, isDlqMissing: false }])
  expect(await keysLeft(redis)).toEqual([`${BASE}lane:${claim.subscriptionId}`])
})

test('the more wait for a missing queue, the later each asks again, but never after its time is over', async () => {
  const id = await writeLane(redis)
  await parkAll(
    lanes,
    [id],
    Array.from({ length: 50 }, () => makeMessage()),
    { as: 'dead', state: DEAD },
  )
  const claims = claimsOf(await takeFrom(lanes))
  const before = await lanes.now(SHARD)
  const to = { op: 'awaitDlq', delayMaxMs: 5_000 } as const
  await lanes.settle(
    SHARD,
    claims.map((claim) => ({ ...claim, to })),
  )
  const states = await lanes.deliveryStates(SHARD, claims)
  const delays = states.map(({ dueAt }) => (dueAt ?? 0) - before)
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(2_000)
  expect(Math.max(...delays)).toBeGreaterThanOrEqual(5_000)
  expect(Math.max(...delays)).toBeLessThan(7_000)
})

test('only what is declared dead is released, however many retries wait beside it', async () => {
  const id = await writeLane(redis)
  const retry = { as: 'retry', delayMs: 60_000, state: FAILED } as const
  await parkAll(
    lanes,
    [id],
    Array.from({ length: 1_100 }, () => makeMessage()),
    retry,
  )
  const dead = makeMessage()
  await parkAll(lanes, [id], [dead], { as: 'dead', state: DEAD })
  const [claim] = claimsOf(await takeFrom(lanes))
  if (!claim) throw new Error('the dead one was due')
  await settleOne(claim, { op: 'awaitDlq', delayMaxMs: 120_000 })
  expect(await lanes.releaseDead(SHARD, id)).toBe(1)
  expect(claimsOf(await takeFrom(lanes))).toMatchObject([{ delivery: dead.id }])
})

test('a delivery that got no slot is due a little later, and counts no attempt', async () => {
  const claim = await claimOne()
  const { nextDueAt } = await settleOne(claim, { op: 'returnToLane', delayMs: 30_000 })
  expect(claimsOf(await takeFrom(lanes))).toEqual([])
  await skew(redis, 30_050)
  expect(nextDueAt).toBeGreaterThan(Date.now())
  expect(claimsOf(await takeFrom(lanes))).toMatchObject([{ delivery: claim.delivery, state: null }])
})

test('a delivery declared dead is claimed as dead after a crash', async () => {
  const claim = await claimOne()
  const dead = await settleOne(claim, { op: 'declareDead', leaseMs: 5_000, state: DEAD })
  expect(dead).toMatchObject({ accepted: true, lease: claim.lease })
  await skew(redis, 30_000)
  expect(claimsOf(await takeFrom(lanes))).toMatchObject([
    { delivery: claim.delivery, state: DEAD, sendAt: null },
  ])
})

test('declaring a delivery dead extends a lease that is about to end; the one before counts no more', async () => {
  const claim = await claimOne()
  const { lease } = await settleOne(claim, { op: 'declareDead', leaseMs: 60_000, state: DEAD })
  expect(lease).not.toBe(claim.lease)
  expect((await settleOne(claim, { op: 'deadLettered' })).accepted).toBe(false)
  expect((await settleOne({ ...claim, lease: lease ?? '' }, { op: 'deadLettered' })).accepted).toBe(true)
})

test('a worker that comes back after its lease was handed on changes nothing', async () => {
  const stale = await claimOne()
  await skew(redis, 30_000)
  const [current] = claimsOf(await takeFrom(lanes))
  const ops: SettleTo[] = [
    { op: 'delivered' },
    { op: 'retry', delayMs: 0, state: FAILED },
    { op: 'declareDead', leaseMs: 90_000, state: DEAD },
    { op: 'deadLettered' },
    { op: 'discard', cause: 'permanent' },
    { op: 'returnToLane' },
    { op: 'quarantined' },
  ]
  for (const to of ops) expect((await settleOne(stale, to)).accepted).toBe(false)
  expect(await counts()).toEqual({})
  expect(await lanes.deliveryStates(SHARD, [stale])).toEqual([
    { where: 'inFlight', dueAt: null, state: null },
  ])
  expect(current && (await settleOne(current, { op: 'delivered' })).accepted).toBe(true)
})

test('one stale settlement in a batch refuses only itself', async () => {
  const id = await writeLane(redis)
  await parkAll(lanes, [id], [makeMessage(), makeMessage()])
  const [one, two] = claimsOf(await takeFrom(lanes))
  if (!one || !two) throw new Error('two claims were due')
  const to = { op: 'delivered' } as const
  const { accepted } = await lanes.settle(SHARD, [
    { ...one, lease: '12345', to },
    { ...two, to },
    { ...two, to },
  ])
  expect(accepted).toEqual([false, true, false])
})

test('in the lane of a deleted subscription nothing waits again', async () => {
  const id = await writeLane(redis)
  await parkAll(lanes, [id], [makeMessage(), makeMessage(), makeMessage()])
  const [retry, back, done] = claimsOf(await takeFrom(lanes))
  await deleteLane(redis, id)
  if (!retry || !back || !done) throw new Error('three claims were due')
  const { accepted } = await lanes.settle(SHARD, [
    { ...retry, to: { op: 'retry', delayMs: 1_000, state: FAILED } },
    { ...back, to: { op: 'returnToLane' } },
    { ...done, to: { op: 'delivered' } },
  ])
  expect(accepted).toEqual([true, true, true])
  expect(await counts()).toEqual({ 'discarded:unsubscribed': '2' })
  expect(await keysLeft(redis)).toEqual([])
})
