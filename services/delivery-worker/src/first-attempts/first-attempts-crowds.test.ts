/** First attempts at endpoints that never answered must not fill the queue of first attempts. */
import { createLogger } from '@fantail/runtime'
import { passingTime } from '@fantail/store'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Outcome } from '../attempts/attempt-outcome.ts'
import type { FirstAttempt } from '../attempts/first-attempt.ts'
import { AttemptSlots } from '../capacity/attempt-slots.ts'
import { BusyTargets } from '../capacity/busy-targets.ts'
import { FreedCapacity } from '../capacity/freed-capacity.ts'
import { Endings } from '../endings/endings.ts'
import { LaneFigureWriter } from '../reports/lane-figure-writer.ts'
import type { Unit } from '../runs/unit.ts'
import { FirstAttempts, type FirstAttemptsOptions } from './first-attempts.ts'
import { FirstQueues, type FirstQueuesOptions } from './first-queues.ts'

const LOG = createLogger({ service: 'test', level: 'silent' })
const CROWD = 1_500
/** How long no endpoint of a crowd may answer before its attempts are parked (endpoint-crowd.ts). */
const PATIENCE_MS = 100
const ANSWER_EVERY_MS = 5

const stops: (() => Promise<void>)[] = []
// The test moves the time. On a busy machine the patience would otherwise end while a test is still being set up.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
})
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** Attempts end when the test says so. */
function createFirstAttempts() {
  const parked: string[] = []
  const started: string[] = []
  const attempts: ((outcome: Outcome) => void)[] = []
  const notedAt: number[] = []
  const notes = new LaneFigureWriter({ noteAttempts: async () => undefined }, LOG)
  notes.delivered = (_, __, at = Number.NaN) => void notedAt.push(at)
  const slots = new AttemptSlots({ attemptsMax: 16 })
  const freed = new FreedCapacity()
  const firstAttempts = new FirstAttempts({
    slots,
    bytes: { hasCapacity: () => true },
    credentials: { isBlocked: () => false },
    targets: new BusyTargets(),
    attemptMaker: {
      attempt: ({ record }: { record: { id: string } }, _m: unknown, _d: unknown, done: never) => {
        started.push(record.id)
        attempts.push(done)
      },
      goInBatches: () => false,
    },
    parking: {
      park: (_: number, { subscriptionId }: { subscriptionId: string }) => parked.push(subscriptionId),
    },
    now: () => 0,
    endings: new Endings({ reports: [notes], jitter: 0, maxRetrySeconds: 60 } as never),
    attemptTimeoutMs: 60_000,
    metrics: { delivered: () => undefined },
    status: {},
    snapshots: { slice: () => new Promise(() => undefined) },
    freed,
  } as unknown as FirstAttemptsOptions)
  freed.notify(firstAttempts)
  const answer = () => {
    const outcome = {
      result: { kind: 'response', statusCode: 200, durationMs: 1 },
      followersSent: 0,
      answeredAfterMs: 1,
    }
    attempts.shift()?.(outcome as Outcome)
  }
  stops.push(async () => {
    const stopped = firstAttempts.stop()
    while (attempts.length > 0) answer()
    await stopped
  })
  return { firstAttempts, slots, parked, started, answer, notedAt }
}

/** A unit for this many new subscriptions, all unthrottled and unsigned. */
function unitFor(name: string, count: number): Unit {
  const policy = { healthyRetryPolicy: {} }
  const matched = Array.from({ length: count }, (_, bit) => ({
    record: {
      id: `${name}-${bit}`,
      bit,
      protocol: 'https',
      status: 'active',
      unsubscribed: false,
      maxInFlight: 32,
    },
    rate: null,
    paced: false,
    signature: undefined,
    policy,
  }))
  const set = () => ({ has: () => false, add: () => undefined })
  return {
    matched,
    context: { id: Buffer.alloc(16), message: { publishedAt: 0 } },
    slice: { shard: 0, topic: { retentionSeconds: 60 } },
    run: { lost: false },
    settled: set(),
    delivered: set(),
    parked: set(),
    failures: [],
    open: 1,
    checkedAt: Number.POSITIVE_INFINITY,
    settle: () => undefined,
    settleDelivered: () => undefined,
    close: () => undefined,
  } as unknown as Unit
}

test('a crowd without an answer goes to its lanes at once, with later ones', () => {
  const { firstAttempts, parked } = createFirstAttempts()
  firstAttempts.start(unitFor('first', CROWD))
  expect(firstAttempts.queued).toBeGreaterThan(1_000)
  expect(parked).toEqual([])
  vi.advanceTimersByTime(PATIENCE_MS / 2)
  expect(parked).toEqual([])
  vi.advanceTimersByTime(PATIENCE_MS)
  expect(firstAttempts.queued).toBe(0)
  firstAttempts.start(unitFor('second', CROWD))
  expect(firstAttempts.queued).toBeLessThanOrEqual(1_000)
  expect(parked.filter((id) => id.startsWith('second')).length).toBeGreaterThanOrEqual(CROWD - 1_000)
})

test('endpoints that are proven are queued beside the crowd', () => {
  const { firstAttempts, slots, parked } = createFirstAttempts()
  firstAttempts.start(unitFor('hung', CROWD))
  vi.advanceTimersByTime(PATIENCE_MS * 1.5)
  expect(firstAttempts.queued).toBe(0)
  firstAttempts.start(unitFor('again', CROWD))
  slots.trust('healthy-0')
  for (let i = 0; slots.acquire('other', 32) && i < 16; i++) slots.trust('other')
  const before = firstAttempts.queued + firstAttempts.running
  firstAttempts.start(unitFor('healthy', 1))
  expect(firstAttempts.queued + firstAttempts.running).toBe(before + 1)
  expect(parked).not.toContain('healthy-0')
})

test('a crowd of which some answer waits for its slots', () => {
  const { firstAttempts, parked, answer } = createFirstAttempts()
  firstAttempts.start(unitFor('cold', CROWD))
  for (let ms = 0; ms < PATIENCE_MS * 3; ms += ANSWER_EVERY_MS) {
    vi.advanceTimersByTime(ANSWER_EVERY_MS)
    answer()
  }
  expect(firstAttempts.queued).toBeGreaterThan(1_000)
  expect(parked).toEqual([])
})

test('freed slots go to the waiting subscriptions in turn', () => {
  const { firstAttempts, slots, started, answer } = createFirstAttempts()
  for (const id of ['a-0', 'b-0', 'c-0', ...Array.from({ length: 16 }, (_, n) => `first-${n}`)])
    slots.trust(id)
  firstAttempts.start(unitFor('first', 16))
  const running = started.length
  for (const name of ['a', 'a', 'a', 'b', 'b', 'b', 'c']) firstAttempts.start(unitFor(name, 1))
  for (let left = 16 - running + 7; left > 0; left--) answer()
  expect(started.slice(16)).toEqual(['a-0', 'b-0', 'c-0', 'a-0', 'b-0', 'a-0', 'b-0'])
})

test('an ended attempt looks at a few of the queues that wait for a check of their snapshot', () => {
  const { firstAttempts, slots, started, answer } = createFirstAttempts()
  for (const id of ['a-0', ...Array.from({ length: 16 }, (_, n) => `first-${n}`)]) slots.trust(id)
  let looks = 0
  const run = {
    get lost() {
      looks++
      return false
    },
  }
  firstAttempts.start({ ...unitFor('stalled', 500), run, checkedAt: -1_000 } as unknown as Unit)
  firstAttempts.start(unitFor('first', 16))
  firstAttempts.start(unitFor('a', 1))
  const before = { looks, started: started.length }
  answer()
  expect(looks - before.looks).toBeLessThan(50)
  vi.advanceTimersByTime(PATIENCE_MS / 2)
  expect(started.slice(before.started)).toEqual(['first-14'])
})

test('a first delivery is noted at the time of the stack', () => {
  const { firstAttempts, answer, notedAt } = createFirstAttempts()
  passingTime.moveTo(3_600_000)
  firstAttempts.start(unitFor('moved', 1))
  answer()
  expect(notedAt).toEqual([passingTime.now()])
  passingTime.moveTo(0)
})

test('a snapshot that becomes too old while other attempts are started is checked first', async () => {
  const checked: string[] = []
  const started: string[] = []
  const waiting = (id: string, agoMs: number) => {
    const subscription = { record: { id, maxInFlight: 1 } }
    const slice = { sliceId: id, revision: 'old', byId: new Map([[id, subscription]]) }
    const unit = { run: {}, context: {}, matched: [], slice, checkedAt: performance.now() - agoMs }
    return { unit, subscription, queuedAt: performance.now() } as unknown as FirstAttempt
  }
  const slice = async (of: { sliceId: string }) => {
    checked.push(of.sliceId)
    return { ...of, revision: 'new' }
  }
  let isFree = false
  const queues = new FirstQueues({
    slots: { acquireFirst: () => isFree, isProven: () => true, freeForFirst: 1 },
    targets: { isBusy: () => false },
    snapshots: { slice, checkedAt: () => performance.now() },
    crowd: {},
    signatures: { size: 0 },
    freed: { announce: () => undefined },
    goesByLane: () => false,
    run: ({ subscription }: FirstAttempt) => {
      started.push(subscription.record.id)
      vi.advanceTimersByTime(100)
    },
  } as unknown as FirstQueuesOptions)
  queues.offer(waiting('slow to start', 100))
  queues.offer(waiting('next', 0))
  isFree = true
  await vi.waitFor(() => expect(started).toEqual(['slow to start', 'next']))
  expect(checked).toEqual(['slow to start', 'next'])
})
