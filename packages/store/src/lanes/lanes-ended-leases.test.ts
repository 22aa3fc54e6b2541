/**
 * Leases of some deliveries end again and again, because workers die at them. Such deliveries wait, each time longer.
 */
import { freshKey, stateKey } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { countsKey } from '../keys/keys.ts'
import {
  BASE,
  keysLeft,
  makeMessage,
  parkAll,
  SHARD,
  type TestMessage,
  takeFrom,
  writeLane,
  writeSlice,
} from './lane.fixture.ts'
import { asRetry, failedOnce, useLanes } from './lanes.fixture.ts'

const { redis, lanes, later, claimDue } = await useLanes()

const LEASE_MS = 20_000
/** Longer than any delay. */
const DELAYS_ENDED_MS = 300_001
const FAILED = failedOnce()

async function park(state?: typeof FAILED): Promise<{ id: string; message: TestMessage }> {
  const id = await writeLane(redis)
  const message = makeMessage()
  await parkAll(lanes, [id], [message], state && asRetry(state))
  return { id, message }
}

async function claimOne() {
  const [claim, ...others] = await claimDue()
  if (!claim || others.length > 0) throw new Error('one delivery is due')
  return claim
}

/** A worker claims the delivery and dies. Resolves with how long the delivery then waits. */
async function die(): Promise<number> {
  await claimOne()
  await later(LEASE_MS)
  const { nextDueAt, now } = await takeFrom(lanes, { limits: new Map(), othersMax: 0 })
  return (nextDueAt ?? Number.NaN) - now
}

test('each lease that ends without a word is followed by a longer delay, up to five minutes', async () => {
  const { id, message } = await park()
  const delays: number[] = []
  for (let deaths = 1; deaths <= 13; deaths++) {
    const delayMs = await die()
    // A take that may claim nothing postpones the lane by 250 ms.
    delays.push(deaths === 1 ? 0 : delayMs / 1_000)
    expect(await lanes.deliveryStates(SHARD, [{ subscriptionId: id, delivery: message.id }])).toMatchObject([
      { where: 'waiting', state: null },
    ])
    await later(DELAYS_ENDED_MS)
  }
  expect(delays).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
  const claim = await claimOne()
  expect(claim).toMatchObject({ delivery: message.id, state: null })
  await lanes.settle(SHARD, [{ ...claim, to: { op: 'delivered' } }])
  expect(await redis.exists(stateKey(BASE, id))).toBe(0)
})

test('the first time it waits again at once, where it was', async () => {
  const { id, message } = await park()
  await claimOne()
  await later(LEASE_MS)
  await takeFrom(lanes, { othersMax: 0 })
  expect(await redis.zrangeBuffer(freshKey(BASE, id), '0', '-1')).toEqual([message.id])
})

test('an attempt that ends in between starts the row again', async () => {
  await park(FAILED)
  for (let deaths = 0; deaths < 3; deaths++) {
    await die()
    await later(DELAYS_ENDED_MS)
  }
  const claim = await claimOne()
  expect(claim.state).toEqual(FAILED)
  const state = { ...FAILED, attempts: 2 }
  await lanes.settle(SHARD, [{ ...claim, to: { op: 'retry', delayMs: 0, state } }])
  expect((await claimOne()).state).toEqual(state)
  await later(LEASE_MS)
  expect(await claimOne()).toMatchObject({ state })
})

test.each([undefined, FAILED])(
  'an attempt that fails under an open circuit starts the row again, too: %o',
  async (state) => {
    const { id } = await park(state)
    for (let deaths = 0; deaths < 3; deaths++) {
      await die()
      await later(DELAYS_ENDED_MS)
    }
    await lanes.settle(SHARD, [{ ...(await claimOne()), to: { op: 'returnUncounted' } }])
    expect((await claimOne()).state).toEqual(state ?? null)
    await later(LEASE_MS)
    const claim = await claimOne()
    expect(claim.state).toEqual(state ?? null)
    await lanes.settle(SHARD, [{ ...claim, to: { op: 'delivered' } }])
    expect(await redis.exists(stateKey(BASE, id))).toBe(0)
  },
)

test('a delivery that a worker returns unsent keeps its count and its place', async () => {
  const { id, message } = await park()
  await die()
  await later(DELAYS_ENDED_MS)
  await die()
  await later(DELAYS_ENDED_MS)
  const claim = await claimOne()
  await lanes.settle(SHARD, [{ ...claim, to: { op: 'returnToLane' } }])
  expect(await redis.zrangeBuffer(freshKey(BASE, id), '0', '-1')).toEqual([message.id])
  expect(await die()).toBe(2_000)
})

test('the others of its lane go on', async () => {
  const { id, message } = await park()
  await die()
  await later(DELAYS_ENDED_MS)
  await die()
  const other = makeMessage(await lanes.now(SHARD))
  await parkAll(lanes, [id], [other])
  expect((await claimDue()).map(({ delivery }) => delivery)).toEqual([other.id])
  expect(await lanes.deliveryStates(SHARD, [{ subscriptionId: id, delivery: message.id }])).toMatchObject([
    { where: 'waiting', hold: { cause: 'leasesEnded', until: expect.any(Number) } },
  ])
})

test('retention ends it, counted, with what is known of its attempts', async () => {
  const { id } = await park()
  await die()
  await later(DELAYS_ENDED_MS)
  await die()
  await writeSlice(redis, { retentionSeconds: 600 })
  await later(600_000)
  expect((await takeFrom(lanes)).expired).toHaveLength(1)
  expect(await redis.hgetall(countsKey(BASE))).toEqual({ expired: '1' })
  expect((await keysLeft(redis)).filter((key) => !key.endsWith(`lane:${id}`))).toEqual([])
})

test('a dead letter that is too old keeps the attempts that were made', async () => {
  const id = await writeLane(redis, { deadLetters: true })
  await parkAll(lanes, [id], [makeMessage()], asRetry(FAILED))
  await die()
  await later(DELAYS_ENDED_MS)
  await die()
  await writeSlice(redis, { retentionSeconds: 600 })
  await later(600_000)
  const dead = { ...FAILED, kind: 'dead', cause: 'expired' }
  expect((await claimOne()).state).toEqual(dead)
})
