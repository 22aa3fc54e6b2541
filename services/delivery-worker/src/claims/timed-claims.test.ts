import { createMessageId } from '@fantail/contracts'
import type { LaneRenewal, RenewedClaim } from '@fantail/store'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ShardClocks } from '../clocks/shard-clocks.ts'
import { MessageContext } from '../messages/message-context.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import { ThrottledClaim } from './open-claims.ts'
import { TimedClaims } from './timed-claims.ts'

const RATE = 20
const LATE_MS = 150

// Time passes only if a test says so, however busy the machine is.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

const message = new MessageContext({
  messageId: createMessageId(1),
  topicArn: 'arn',
  publishedAt: 1,
  message: '',
})

/** Throttled claims whose renewals the test answers. Redis and this process have the same clock. */
function createTimedClaims() {
  const clocks = new ShardClocks()
  const asked: (LaneRenewal & { answer(renewed: RenewedClaim[]): void })[] = []
  const redis = { connected: true }
  const told: { due: ThrottledClaim[]; none: string[] } = { due: [], none: [] }
  const timedClaims = new TimedClaims({
    clocks,
    isConnected: () => redis.connected,
    renewals: {
      renew: (_, renewal) => new Promise((answer) => asked.push({ ...renewal, answer })),
    },
    onTime: (timed) => told.due.push(timed),
    onNone: ({ lease }) => told.none.push(lease),
  })
  return { timedClaims, asked, told, clocks, redis }
}

/** A claim of a lane that is sent `inMs` from now. */
function claimIn(
  clocks: ShardClocks,
  lane: string,
  lease: string,
  inMs: number,
  rate = RATE,
): ThrottledClaim {
  const subscription = { record: { id: lane }, shard: 0, rate } as CompiledSubscription
  const taken = { subscription, proven: true, checkedAt: 0 }
  const claim = { delivery: Buffer.alloc(16), lease, sendAt: clocks.of(0).now() + inMs, state: null }
  return new ThrottledClaim(taken, claim, message, { hang: () => undefined, release: () => undefined })
}

/** Begins the claim whose time has come. */
function begun({
  timedClaims,
  told,
}: Pick<ReturnType<typeof createTimedClaims>, 'timedClaims' | 'told'>): ThrottledClaim {
  const timed = told.due.at(-1)
  if (!timed || !timedClaims.start(timed)) throw new Error('its time has come')
  expect(timedClaims.isInTime(timed)).toBe(true)
  return timed
}

const leasesOf = (timedClaims: ThrottledClaim[]) => timedClaims.map(({ lease }) => lease)

test('a due claim is reported, and begins once', () => {
  const { timedClaims, told, asked, clocks } = createTimedClaims()
  timedClaims.add(claimIn(clocks, 'a', '1', 0))
  const [timed] = told.due
  expect(timed && timedClaims.start(timed)).toBe(true)
  expect(asked).toEqual([])
})

test('a late claim is kept: all of its lane get new send times, those of another lane stay', async () => {
  const { timedClaims, told, asked, clocks } = createTimedClaims()
  timedClaims.add(claimIn(clocks, 'b', 'other', 20))
  timedClaims.add(claimIn(clocks, 'a', 'second', 40))
  timedClaims.add(claimIn(clocks, 'a', 'first', -LATE_MS))
  expect(asked).toMatchObject([
    { subscriptionId: 'a', leadMs: 0, claims: [{ lease: 'first' }, { lease: 'second' }] },
  ])
  await pass(20)
  expect(told.due).toHaveLength(1)
  const now = clocks.of(0).now()
  asked[0]?.answer([
    { sendAt: now, lease: 'first' },
    { sendAt: now + 10, lease: 'longer' },
  ])
  await pass(10)
  expect(leasesOf(told.due)).toEqual(['other', 'first', 'longer'])
  expect(told.none).toEqual([])
})

test('behind a slow Redis only late claims get new send times, with a lead', async () => {
  const { timedClaims, told, asked, clocks } = createTimedClaims()
  const clock = clocks.of(0)
  clock.report(clock.now(), performance.now())
  await pass(500)
  const claims = [claimIn(clocks, 'a', 'late', -LATE_MS), claimIn(clocks, 'a', 'next', 100)]
  clock.report(clock.now() - 500, performance.now() - 500)
  for (const claim of claims) timedClaims.add(claim)
  expect(asked).toMatchObject([{ leadMs: expect.closeTo(500, -1), claims: [{ lease: 'late' }] }])
  await pass(100)
  expect(told.due.map(({ lease }) => lease)).toEqual(['next'])
  timedClaims.stop()
})

test('a claim that was late while it was checked waits again, and the work for its old time is over', async () => {
  const { timedClaims, told, asked, clocks } = createTimedClaims()
  timedClaims.add(claimIn(clocks, 'a', '1', 0))
  const [timed] = told.due
  if (!timed) throw new Error('its time has come')
  const { round } = timed
  timed.sendAt = performance.now() - LATE_MS
  expect(timedClaims.start(timed)).toBe(false)
  expect(timed.round).not.toBe(round)
  asked[0]?.answer([{ sendAt: clocks.of(0).now(), lease: '1' }])
  await pass(0)
  expect(told.due).toHaveLength(2)
})

test('a claim that is late when its request is written gets a new send time, as others of its lane do', async () => {
  const { timedClaims, told, asked, clocks } = createTimedClaims()
  timedClaims.add(claimIn(clocks, 'a', 'begun', 0))
  const timed = begun({ timedClaims, told })
  timedClaims.add(claimIn(clocks, 'a', 'next', 40))
  timed.sendAt = performance.now() - LATE_MS
  expect(timedClaims.isInTime(timed)).toBe(false)
  timedClaims.missed(timed)
  expect(asked).toMatchObject([
    { subscriptionId: 'a', leadMs: 0, claims: [{ lease: 'begun' }, { lease: 'next' }] },
  ])
  expect(asked[0]?.claims[0]?.sendAt).toEqual(expect.any(Number))
  const now = clocks.of(0).now()
  asked[0]?.answer([
    { sendAt: now, lease: 'begun' },
    { sendAt: now + 10, lease: 'next' },
  ])
  await pass(10)
  expect(leasesOf(told.due)).toEqual(['begun', 'begun', 'next'])
})

test('a claim whose request is late again and again is returned', async () => {
  const { timedClaims, told, asked, clocks } = createTimedClaims()
  timedClaims.add(claimIn(clocks, 'a', '1', 0))
  for (let n = 1; n <= 4; n++) {
    const timed = begun({ timedClaims, told })
    timed.sendAt = performance.now() - LATE_MS
    timedClaims.missed(timed)
    asked[n - 1]?.answer([{ sendAt: clocks.of(0).now(), lease: '1' }])
    await pass(0)
  }
  expect(told.none).toEqual(['1'])
  expect(asked).toHaveLength(3)
})

test('a request is written neither without a connection to Redis, nor by a time from before it came back', () => {
  const { timedClaims, told, asked, clocks, redis } = createTimedClaims()
  timedClaims.add(claimIn(clocks, 'a', '1', 0))
  const timed = begun({ timedClaims, told })
  redis.connected = false
  expect(timedClaims.isInTime(timed)).toBe(false)
  redis.connected = true
  timedClaims.reconnected()
  expect(asked).toEqual([])
  expect(timedClaims.isInTime(timed)).toBe(false)
  timedClaims.missed(timed)
  expect(asked).toMatchObject([{ claims: [{ lease: '1' }] }])
})

test('a claim that has begun when the clock of Redis is set forward is put off, too', () => {
  const { timedClaims, told, asked, clocks } = createTimedClaims()
  timedClaims.add(claimIn(clocks, 'a', '1', 0))
  const timed = begun({ timedClaims, told })
  timedClaims.setForward()
  expect(timedClaims.isInTime(timed)).toBe(false)
  timedClaims.missed(timed)
  expect(asked).toMatchObject([{ claims: [{ lease: '1', sendAt: null }] }])
  expect(asked[0]?.leadMs).toBeGreaterThan(200)
})

test('a claim whose time was reckoned by a slow reply is late by a faster one', () => {
  const { timedClaims, told, asked, clocks } = createTimedClaims()
  const redisNow = Date.now()
  clocks.report(0, redisNow - LATE_MS)
  timedClaims.add(claimIn(clocks, 'a', '1', 0))
  const timed = begun({ timedClaims, told })
  clocks.report(0, redisNow)
  expect(timedClaims.isInTime(timed)).toBe(false)
  timedClaims.missed(timed)
  expect(asked).toHaveLength(1)
})

test('a claim must be earlier while Redis has only been heard through slow replies', () => {
  const { timedClaims, told, asked, clocks } = createTimedClaims()
  const clock = clocks.of(0)
  clock.report(clock.now() - 40, performance.now() - 40)
  timedClaims.add(claimIn(clocks, 'a', 'late', -60))
  expect([leasesOf(told.due), asked.length]).toEqual([[], 1])
  clock.report(clock.now() + 40, performance.now())
  timedClaims.add(claimIn(clocks, 'b', 'in time', -60))
  expect(leasesOf(told.due)).toEqual(['in time'])
  timedClaims.stop()
})

test('a claim of a slow lane may be late by half the gap between two send times', () => {
  const { timedClaims, told, asked, clocks } = createTimedClaims()
  timedClaims.add(claimIn(clocks, 'slow', 'in time', -LATE_MS, 2))
  timedClaims.add(claimIn(clocks, 'slow', 'late', -500, 2))
  expect(leasesOf(told.due)).toEqual(['in time'])
  expect(asked).toMatchObject([{ claims: [{ lease: 'late' }, { lease: 'in time' }] }])
  timedClaims.stop()
})

test('a worker that is late again and again asks with a lead, and returns the claim in the end', async () => {
  const { timedClaims, told, asked, clocks } = createTimedClaims()
  timedClaims.add(claimIn(clocks, 'a', '1', -LATE_MS))
  for (let n = 0; n < 3; n++) {
    await pass(0)
    asked[n]?.answer([{ sendAt: clocks.of(0).now() - LATE_MS, lease: '1' }])
  }
  await pass(0)
  expect(told.none).toEqual(['1'])
  expect(asked.map(({ leadMs }) => leadMs > 0)).toEqual([false, true, true])
  expect(told.due).toEqual([])
})

test('nothing is sent without a connection to Redis, and claims are renewed when it is back', async () => {
  const { timedClaims, told, asked, clocks, redis } = createTimedClaims()
  timedClaims.add(claimIn(clocks, 'a', 'due', 0))
  timedClaims.add(claimIn(clocks, 'b', 'waiting', 10_000))
  redis.connected = false
  const [timed] = told.due
  expect(timed && timedClaims.start(timed)).toBe(false)
  redis.connected = true
  timedClaims.reconnected()
  expect(asked.map(({ claims }) => claims.map(({ lease }) => lease))).toEqual([['due'], ['waiting']])
  asked[0]?.answer([{ sendAt: clocks.of(0).now(), lease: 'due' }])
  asked[1]?.answer([{ sendAt: null, lease: 'waiting' }])
  await pass(0)
  expect(told.due).toHaveLength(2)
  expect(told.none).toEqual(['waiting'])
})

test('after the clock of Redis was set forward, earlier and later claims are put off', () => {
  const { timedClaims, asked, clocks } = createTimedClaims()
  timedClaims.add(claimIn(clocks, 'a', 'earlier', 10_000))
  timedClaims.setForward()
  timedClaims.add(claimIn(clocks, 'a', 'next', 0))
  expect(asked).toMatchObject([
    { leadMs: 850, claims: [{ lease: 'earlier', sendAt: null }] },
    { leadMs: 850, claims: [{ lease: 'next', sendAt: null }] },
  ])
  timedClaims.stop()
})

test('a claim without a send time is told as such, and so is what waits or is renewed at the stop', async () => {
  const { timedClaims, told, asked, clocks } = createTimedClaims()
  timedClaims.addAgain(claimIn(clocks, 'a', 'refused', 0))
  expect(asked[0]).toMatchObject({ leadMs: 0, claims: [{ sendAt: null }] })
  asked[0]?.answer([{ sendAt: null, lease: 'refused' }])
  await pass(0)
  expect(told.none).toEqual(['refused'])
  timedClaims.add(claimIn(clocks, 'a', 'waiting', 10_000))
  timedClaims.addAgain(claimIn(clocks, 'a', 'renewing', 0))
  timedClaims.stop()
  expect(told.none).toEqual(['refused', 'waiting'])
  asked[1]?.answer([{ sendAt: clocks.of(0).now(), lease: 'renewing' }])
  await pass(0)
  expect(told.none).toHaveLength(3)
})
