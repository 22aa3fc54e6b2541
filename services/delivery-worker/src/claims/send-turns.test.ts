import { createMessageId, type SubscriptionRecord } from '@fantail/contracts'
import type { LaneRenewal, RenewedClaim } from '@fantail/store'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ShardClocks } from '../clocks/shard-clocks.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import { MessageContext } from '../topics/message-context.ts'
import type { ClaimInHand } from './claim-in-hand.ts'
import { type SendTurn, SendTurns } from './send-turns.ts'

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

/** Turns whose renewals the test answers. Redis and this process have the same clock. */
function createTurns() {
  const clocks = new ShardClocks()
  const asked: (LaneRenewal & { answer(renewed: RenewedClaim[]): void })[] = []
  const redis = { connected: true }
  const told: { due: SendTurn[]; none: string[] } = { due: [], none: [] }
  const turns = new SendTurns({
    clocks,
    isConnected: () => redis.connected,
    renewals: {
      renew: (_, renewal) => new Promise((answer) => asked.push({ ...renewal, answer })),
    },
    onTurn: (turn) => told.due.push(turn),
    onNone: ({ claim }) => told.none.push(claim.lease),
  })
  return { turns, asked, told, clocks, redis }
}

/** A claim of a lane that is sent `inMs` from now. */
function claimIn(clocks: ShardClocks, lane: string, lease: string, inMs: number, rate = RATE): ClaimInHand {
  const sendAt = clocks.of(0).now() + inMs
  return {
    subscription: {
      record: { id: lane } as SubscriptionRecord,
      shard: 0,
      rate,
    } as CompiledSubscription,
    claim: { delivery: Buffer.alloc(16), lease, sendAt, state: null },
    message,
    sendAt: performance.now() + inMs,
    proven: true,
    hasSlot: false,
    checkedAt: 0,
  }
}

/** Begins the claim whose time has come. */
function begun({ turns, told }: Pick<ReturnType<typeof createTurns>, 'turns' | 'told'>): SendTurn {
  const turn = told.due.at(-1)
  if (!turn || !turns.start(turn)) throw new Error('its time has come')
  expect(turns.isInTime(turn)).toBe(true)
  return turn
}

const leasesOf = (turns: SendTurn[]) => turns.map(({ hand }) => hand.claim.lease)

test('a due claim is reported, and begins once', () => {
  const { turns, told, asked, clocks } = createTurns()
  turns.add(claimIn(clocks, 'a', '1', 0))
  const [turn] = told.due
  expect(turn && turns.start(turn)).toBe(true)
  expect(asked).toEqual([])
})

test('a late claim is kept: all of its lane get new send times, those of another lane stay', async () => {
  const { turns, told, asked, clocks } = createTurns()
  turns.add(claimIn(clocks, 'b', 'other', 20))
  turns.add(claimIn(clocks, 'a', 'second', 40))
  turns.add(claimIn(clocks, 'a', 'first', -LATE_MS))
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
  const { turns, told, asked, clocks } = createTurns()
  const clock = clocks.of(0)
  clock.report(clock.now(), performance.now())
  await pass(500)
  const claims = [claimIn(clocks, 'a', 'late', -LATE_MS), claimIn(clocks, 'a', 'next', 100)]
  clock.report(clock.now() - 500, performance.now() - 500)
  for (const claim of claims) turns.add(claim)
  expect(asked).toMatchObject([{ leadMs: expect.closeTo(500, -1), claims: [{ lease: 'late' }] }])
  await pass(100)
  expect(told.due.map(({ hand }) => hand.claim.lease)).toEqual(['next'])
  turns.stop()
})

test('a claim that was late while it was checked waits anew, and the work begun for its old time is over', async () => {
  const { turns, told, asked, clocks } = createTurns()
  turns.add(claimIn(clocks, 'a', '1', 0))
  const [turn] = told.due
  if (!turn) throw new Error('its time has come')
  const { round } = turn
  turn.hand.sendAt = performance.now() - LATE_MS
  expect(turns.start(turn)).toBe(false)
  expect(turn.round).not.toBe(round)
  asked[0]?.answer([{ sendAt: clocks.of(0).now(), lease: '1' }])
  await pass(0)
  expect(told.due).toHaveLength(2)
})

test('a claim that is late when its request is written gets a new send time, as others of its lane do', async () => {
  const { turns, told, asked, clocks } = createTurns()
  turns.add(claimIn(clocks, 'a', 'begun', 0))
  const turn = begun({ turns, told })
  turns.add(claimIn(clocks, 'a', 'next', 40))
  turn.hand.sendAt = performance.now() - LATE_MS
  expect(turns.isInTime(turn)).toBe(false)
  turns.missed(turn)
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

test('a claim whose request is late again and again is handed back', async () => {
  const { turns, told, asked, clocks } = createTurns()
  turns.add(claimIn(clocks, 'a', '1', 0))
  for (let n = 1; n <= 4; n++) {
    const turn = begun({ turns, told })
    turn.hand.sendAt = performance.now() - LATE_MS
    turns.missed(turn)
    asked[n - 1]?.answer([{ sendAt: clocks.of(0).now(), lease: '1' }])
    await pass(0)
  }
  expect(told.none).toEqual(['1'])
  expect(asked).toHaveLength(3)
})

test('a request is written neither without a connection to Redis, nor by a time from before it came back', () => {
  const { turns, told, asked, clocks, redis } = createTurns()
  turns.add(claimIn(clocks, 'a', '1', 0))
  const turn = begun({ turns, told })
  redis.connected = false
  expect(turns.isInTime(turn)).toBe(false)
  redis.connected = true
  turns.reconnected()
  expect(asked).toEqual([])
  expect(turns.isInTime(turn)).toBe(false)
  turns.missed(turn)
  expect(asked).toMatchObject([{ claims: [{ lease: '1' }] }])
})

test('a claim that has begun when the clock of Redis is set forward is put off, too', () => {
  const { turns, told, asked, clocks } = createTurns()
  turns.add(claimIn(clocks, 'a', '1', 0))
  const turn = begun({ turns, told })
  turns.setForward()
  expect(turns.isInTime(turn)).toBe(false)
  turns.missed(turn)
  expect(asked).toMatchObject([{ claims: [{ lease: '1', sendAt: null }] }])
  expect(asked[0]?.leadMs).toBeGreaterThan(200)
})

test('a claim whose time was reckoned by a slow reply is late by a faster one', () => {
  const { turns, told, asked, clocks } = createTurns()
  const redisNow = Date.now()
  clocks.report(0, redisNow - LATE_MS)
  const hand = claimIn(clocks, 'a', '1', 0)
  hand.sendAt = performance.now()
  turns.add(hand)
  const turn = begun({ turns, told })
  clocks.report(0, redisNow)
  expect(turns.isInTime(turn)).toBe(false)
  turns.missed(turn)
  expect(asked).toHaveLength(1)
})

test('a claim of a slow lane may be late by half the gap between two send times', () => {
  const { turns, told, asked, clocks } = createTurns()
  turns.add(claimIn(clocks, 'slow', 'in time', -LATE_MS, 2))
  turns.add(claimIn(clocks, 'slow', 'late', -500, 2))
  expect(leasesOf(told.due)).toEqual(['in time'])
  expect(asked).toMatchObject([{ claims: [{ lease: 'late' }, { lease: 'in time' }] }])
  turns.stop()
})

test('a worker that is late again and again asks with a lead, and hands back in the end', async () => {
  const { turns, told, asked, clocks } = createTurns()
  turns.add(claimIn(clocks, 'a', '1', -LATE_MS))
  for (let n = 0; n < 3; n++) {
    await pass(0)
    asked[n]?.answer([{ sendAt: clocks.of(0).now() - LATE_MS, lease: '1' }])
  }
  await pass(0)
  expect(told.none).toEqual(['1'])
  expect(asked.map(({ leadMs }) => leadMs > 0)).toEqual([false, true, true])
  expect(told.due).toEqual([])
})

test('nothing is sent without a connection to Redis, and claims in hand are renewed when it is back', async () => {
  const { turns, told, asked, clocks, redis } = createTurns()
  turns.add(claimIn(clocks, 'a', 'due', 0))
  turns.add(claimIn(clocks, 'b', 'waiting', 10_000))
  redis.connected = false
  const [turn] = told.due
  expect(turn && turns.start(turn)).toBe(false)
  redis.connected = true
  turns.reconnected()
  expect(asked.map(({ claims }) => claims.map(({ lease }) => lease))).toEqual([['due'], ['waiting']])
  asked[0]?.answer([{ sendAt: clocks.of(0).now(), lease: 'due' }])
  asked[1]?.answer([{ sendAt: null, lease: 'waiting' }])
  await pass(0)
  expect(told.due).toHaveLength(2)
  expect(told.none).toEqual(['waiting'])
})

test('after the clock of Redis was set forward, claims in hand and later ones are put off', () => {
  const { turns, asked, clocks } = createTurns()
  turns.add(claimIn(clocks, 'a', 'in hand', 10_000))
  turns.setForward()
  turns.add(claimIn(clocks, 'a', 'next', 0))
  expect(asked).toMatchObject([
    { leadMs: 850, claims: [{ lease: 'in hand', sendAt: null }] },
    { leadMs: 850, claims: [{ lease: 'next', sendAt: null }] },
  ])
  turns.stop()
})

test('a claim without a send time is told as such, and so is what waits or is renewed at the stop', async () => {
  const { turns, told, asked, clocks } = createTurns()
  turns.addAgain(claimIn(clocks, 'a', 'refused', 0))
  expect(asked[0]).toMatchObject({ leadMs: 0, claims: [{ sendAt: null }] })
  asked[0]?.answer([{ sendAt: null, lease: 'refused' }])
  await pass(0)
  expect(told.none).toEqual(['refused'])
  turns.add(claimIn(clocks, 'a', 'waiting', 10_000))
  turns.addAgain(claimIn(clocks, 'a', 'renewing', 0))
  turns.stop()
  expect(told.none).toEqual(['refused', 'waiting'])
  asked[1]?.answer([{ sendAt: clocks.of(0).now(), lease: 'renewing' }])
  await pass(0)
  expect(told.none).toHaveLength(3)
})
