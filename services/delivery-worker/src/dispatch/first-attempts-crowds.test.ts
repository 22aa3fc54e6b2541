/** First attempts of endpoints that never answered must not fill what dispatch may queue. */
import { waitFor } from '@fantail/test-kit'
import { afterEach, expect, test } from 'vitest'
import type { Outcome } from '../attempts/attempt-outcome.ts'
import { AttemptSlots } from '../attempts/attempt-slots.ts'
import { FirstAttempts, type FirstAttemptsOptions } from './first-attempts.ts'
import type { Unit } from './job-run.ts'

const CROWD = 1_500
/** So long none of a crowd may answer (first-attempts.ts). */
const PATIENCE_MS = 100
const ANSWER_EVERY_MS = 5

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** Attempts end when the test says so. */
function createFirstAttempts() {
  const parked: string[] = []
  const attempts: ((outcome: Outcome) => void)[] = []
  const slots = new AttemptSlots({ attemptsMax: 16 })
  const firstAttempts = new FirstAttempts({
    slots,
    bytes: { hasRoom: () => true },
    attempts: { attempt: (_s: unknown, _m: unknown, _d: unknown, done: never) => attempts.push(done) },
    parking: {
      park: (_: number, { subscriptionId }: { subscriptionId: string }) => parked.push(subscriptionId),
    },
    now: () => 0,
    jitter: 0,
    attemptTimeoutMs: 60_000,
    metrics: { delivered: () => undefined },
    status: {},
    onRoom: () => undefined,
  } as unknown as FirstAttemptsOptions)
  const answer = () => {
    const outcome = {
      result: { kind: 'response', statusCode: 200, durationMs: 1 },
      along: 0,
      answeredAfterMs: 1,
    }
    attempts.shift()?.(outcome as Outcome)
  }
  stops.push(async () => {
    const stopped = firstAttempts.stop()
    while (attempts.length > 0) answer()
    await stopped
  })
  return { firstAttempts, slots, parked, answer }
}

/** For so many subscriptions of their own, all unthrottled and unsigned. */
function unitFor(name: string, count: number): Unit {
  const policy = { healthyRetryPolicy: {} }
  const matched = Array.from({ length: count }, (_, slot) => ({
    record: {
      id: `${name}-${slot}`,
      slot,
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
    markSettled: () => undefined,
    markDelivered: () => undefined,
    close: () => undefined,
  } as unknown as Unit
}

test('a crowd without an answer goes to its lanes at once, with later ones', async () => {
  const { firstAttempts, parked } = createFirstAttempts()
  firstAttempts.start(unitFor('first', CROWD))
  expect(firstAttempts.queued).toBeGreaterThan(1_000)
  expect(parked).toEqual([])
  await waitFor(() => firstAttempts.queued === 0)
  firstAttempts.start(unitFor('second', CROWD))
  expect(firstAttempts.queued).toBeLessThanOrEqual(1_000)
  expect(parked.filter((id) => id.startsWith('second')).length).toBeGreaterThanOrEqual(CROWD - 1_000)
})

test('endpoints that are proven are queued beside the crowd', async () => {
  const { firstAttempts, slots, parked } = createFirstAttempts()
  firstAttempts.start(unitFor('hung', CROWD))
  await waitFor(() => firstAttempts.queued === 0)
  firstAttempts.start(unitFor('again', CROWD))
  slots.trust('healthy-0')
  for (let i = 0; slots.acquire('other', 32) && i < 16; i++) slots.trust('other')
  const before = firstAttempts.queued + firstAttempts.running
  firstAttempts.start(unitFor('healthy', 1))
  expect(firstAttempts.queued + firstAttempts.running).toBe(before + 1)
  expect(parked).not.toContain('healthy-0')
})

test('a crowd of which some answer waits for its slots', async () => {
  const { firstAttempts, parked, answer } = createFirstAttempts()
  const startedAt = performance.now()
  firstAttempts.start(unitFor('cold', CROWD))
  let [answers, answeredAt] = [0, startedAt]
  // In each turn of the event loop: a busy machine delays the answers no more than the checks for them.
  while (performance.now() - startedAt < PATIENCE_MS * 1.5) {
    await new Promise((resolve) => setImmediate(resolve))
    if (performance.now() - answeredAt < ANSWER_EVERY_MS) continue
    answer()
    answers++
    answeredAt = performance.now()
  }
  expect(answers).toBeGreaterThan(0)
  expect(firstAttempts.queued).toBeGreaterThan(1_000)
  expect(parked).toEqual([])
})
