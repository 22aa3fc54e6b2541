/** Retry modes and circuit breakers in the scripts of lanes. */
import type { Answered } from '@fantail/policy'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dueKey, laneKey } from '../keys/keys.ts'
import { ADAPTIVE_START, adapt, isSlowing } from './adaptive-rate.fixture.ts'
import {
  BASE,
  makeMessage,
  parkAll,
  SHARD,
  type TestMessage,
  takeFrom,
  writeLane,
  writeSlice,
} from './lane.fixture.ts'
import { asRetry, failedOnce, type TestClaim, useLanes } from './lanes.fixture.ts'
import type { LaneResult } from './records/lane-records.ts'

const { redis, lanes, later, claimDue, settleAll } = await useLanes()
/** A full quota, in tokens. */
const RETRY_QUOTA = 500
/** Ids rise, so that deliveries with the same due time keep this order. */
const messages = (n: number) => Array.from({ length: n }, (_, i) => makeMessage(Date.now() - 1_000 + i))
const note = (subscriptionId: string, answered: LaneResult['answered'], cost = 0, times = 1) =>
  lanes.reportAnswers(
    SHARD,
    Array.from({ length: times }, () => ({ subscriptionId, answered, cost })),
  )
const figures = async (subscriptionId: string) => {
  const [found] = await lanes.figures([{ subscriptionId, shard: SHARD }])
  if (!found) throw new Error('no such lane')
  return found
}
const dueIn = async (id: string) => Number(await redis.zscore(dueKey(BASE), id)) - (await lanes.now(SHARD))

describe('the retry quota', () => {
  test('is drawn on by retries, more by those after a timeout, and not by first attempts', async () => {
    const id = await writeLane(redis, { mode: 's', maxInFlight: 1_000 })
    await parkAll(lanes, [id], messages(3))
    await parkAll(lanes, [id], messages(2), asRetry())
    await parkAll(lanes, [id], messages(1), asRetry(failedOnce('timeout')))
    expect(await claimDue()).toHaveLength(6)
    expect((await figures(id)).retryQuota).toBe(RETRY_QUOTA - 2 * 5 - 10)
  })

  test('empty lets one retry a second go, keeps the others in their place, and holds up nothing fresh', async () => {
    const id = await writeLane(redis, { mode: 's', maxInFlight: 1_000 })
    await redis.hset(laneKey(BASE, id), 'mq', 4)
    const waiting = messages(4)
    await parkAll(lanes, [id], waiting, asRetry())
    const first = await claimDue()
    expect(first.map(({ delivery }) => delivery)).toEqual([waiting[0]?.id])
    expect(await claimDue()).toEqual([])
    expect(await dueIn(id)).toBeGreaterThan(500)
    await parkAll(lanes, [id], messages(3))
    expect(await claimDue()).toHaveLength(3)
    for (const message of waiting.slice(1)) {
      await later(1_000)
      expect((await claimDue()).map(({ delivery }) => delivery)).toEqual([message.id])
    }
  })

  test('is filled by successes, which let what waits go at once', async () => {
    const id = await writeLane(redis, { mode: 's', maxInFlight: 1_000 })
    await redis.hset(laneKey(BASE, id), 'mq', 0, 'mn', Date.now() + 900)
    await parkAll(lanes, [id], messages(5), asRetry())
    expect(await claimDue()).toEqual([])
    await note(id, 'ok', 5)
    expect(await claimDue()).toHaveLength(1)
    await note(id, 'ok', 0, 4)
    expect(await claimDue()).toEqual([])
    await note(id, 'ok')
    expect(await claimDue()).toHaveLength(1)
    await note(id, 'failed', 5, 3)
    expect((await figures(id)).retryQuota).toBe(0)
    await note(id, 'unsent', 10)
    expect((await figures(id)).retryQuota).toBe(10)
    await note(id, 'ok', 5, 1_000)
    expect((await figures(id)).retryQuota).toBe(RETRY_QUOTA)
  })

  test('costs lanes without a mode nothing, and leaves no trace in them', async () => {
    const id = await writeLane(redis)
    await parkAll(lanes, [id], messages(200), asRetry())
    expect(await claimDue()).toHaveLength(32)
    expect((await redis.hkeys(laneKey(BASE, id))).filter((field) => field.startsWith('m'))).toEqual([])
    expect(await figures(id)).toMatchObject({ retryQuota: null, circuitOpenUntil: null, rate: null })
  })
})

describe('the adaptive rate', () => {
  const ANSWERS: Answered[] = ['ok', 'refused', 'limited', 'unavailable', 'timeout', 'failed']

  test('falls and recovers as the model says', async () => {
    const answers = fc.array(
      fc.record({ waitMs: fc.nat({ max: 3_000 }), answered: fc.constantFrom(...ANSWERS) }),
      {
        minLength: 1,
        maxLength: 40,
      },
    )
    await fc.assert(
      fc.asyncProperty(answers, async (steps) => {
        const id = await writeLane(redis, { mode: 'a' })
        let state = { ...ADAPTIVE_START, bucketAt: -1 }
        for (const { waitMs, answered } of steps) {
          await later(waitMs)
          const { from, until, bucketAt } = await noteAt(id, answered)
          if (state.bucketAt < 0) state = { ...state, bucketAt }
          const early = adapt(state, answered, from)
          const late = adapt(state, answered, until)
          const { rate } = await figures(id)
          if (early.rate === null || rate === null)
            expect([rate, late.rate]).toEqual([early.rate, early.rate])
          else expect(distance(rate, early.rate, late.rate ?? 0)).toBeLessThan(0.01)
          state = { ...early, rate }
        }
      }),
      { numRuns: 25 },
    )
  })

  /** Notes an answer. Returns the times between which the script ran: exact after a slowing answer. */
  async function noteAt(id: string, answered: Answered) {
    const before = await lanes.now(SHARD)
    await note(id, answered)
    const after = await lanes.now(SHARD)
    const found = await redis.hmget(laneKey(BASE, id), 'mt', 'mb')
    const [slowedAt, bucketAt] = found.map(Number) as [number, number]
    const isExact = isSlowing(answered)
    const from = isExact ? slowedAt : Math.max(before, bucketAt)
    return { from, until: isExact ? slowedAt : Math.min(after, bucketAt + 499), bucketAt }
  }

  /** How far a value lies outside of the range of two others. */
  function distance(value: number, one: number, other: number): number {
    return Math.max(0, Math.min(one, other) - value, value - Math.max(one, other))
  }

  test('paces the lane, shows in its figures, and never lifts its throttle', async () => {
    const [free, throttled] = [
      await writeLane(redis, { mode: 'a' }),
      await writeLane(redis, { mode: 'a', rate: 2 }),
    ]
    for (const id of [free, throttled]) await redis.hset(laneKey(BASE, id), 'mf', 10)
    await parkAll(lanes, [free, throttled], messages(20))
    const claims = await claimDue()
    const of = (id: string) => claims.filter(({ subscriptionId }) => subscriptionId === id)
    expect([of(free).length, of(throttled).length]).toEqual([3, 1])
    expect(of(free).every(({ sendAt }) => sendAt !== null)).toBe(true)
    expect([(await figures(free)).rate, (await figures(throttled)).rate]).toEqual([10, 2])
  })

  test('is at least one in two seconds, however bad it gets', async () => {
    const id = await writeLane(redis, { mode: 'a' })
    await note(id, 'timeout', 0, 50)
    expect((await figures(id)).rate).toBe(0.5)
  })
})

describe('the circuit breaker', () => {
  const mode = '- 3 30000'
  const PROBE_MS = 30_000
  const LEASE_MS = 20_000
  /** Sums of these steps stay apart from all other times. */
  const STEP_MS = 8_000

  async function opened(set: Parameters<typeof writeLane>[1] = {}): Promise<string> {
    const id = await writeLane(redis, { mode, ...set })
    expect((await note(id, 'failed', 0, 3)).circuitOpen).toEqual([false, false, false])
    return id
  }
  const idsOf = (claims: { delivery: Buffer }[]) => claims.map(({ delivery }) => delivery)

  test('opens after so many failures in a row, and says until when', async () => {
    const id = await writeLane(redis, { mode })
    await note(id, 'failed', 0, 2)
    await note(id, 'limited')
    await note(id, 'timeout', 0, 2)
    expect((await figures(id)).circuitOpenUntil).toBeNull()
    await note(id, 'unavailable')
    const until = (await figures(id)).circuitOpenUntil ?? 0
    expect(until - (await lanes.now(SHARD))).toBeGreaterThan(29_000)
    expect((await note(id, 'failed')).circuitOpen).toEqual([true])
  })

  test('open parks everything, then asks with one delivery at a time, and closes with an answer', async () => {
    const id = await opened()
    const waiting: TestMessage[] = messages(5)
    await parkAll(lanes, [id], waiting)
    expect(await claimDue()).toEqual([])
    expect(await dueIn(id)).toBeGreaterThan(29_000)
    await later(30_000)
    const probe = await claimDue()
    expect(idsOf(probe)).toEqual([waiting[0]?.id])
    await later(10_000)
    expect(await claimDue()).toEqual([])
    expect((await note(id, 'failed')).circuitOpen).toEqual([true])
    const [claim] = probe
    if (!claim) throw new Error('there is a probe')
    await lanes.settle(SHARD, [{ ...claim, to: { op: 'returnToLane' } }])
    await later(29_000)
    expect(await claimDue()).toEqual([])
    await later(1_000)
    const second = await claimDue()
    expect(idsOf(second)).toEqual([waiting[0]?.id])
    expect((await note(id, 'ok')).circuitOpen).toEqual([true])
    expect(idsOf(await claimDue())).toEqual(waiting.slice(1).map((message) => message.id))
    expect((await figures(id)).circuitOpenUntil).toBeNull()
  })

  test('a probe whose worker died is followed by another; one that was handed back at once', async () => {
    const id = await opened()
    await parkAll(lanes, [id], messages(2))
    await later(30_000)
    expect(await claimDue()).toHaveLength(1)
    await later(20_001)
    const probe = await claimDue()
    expect(probe).toHaveLength(1)
    await note(id, 'unsent')
    await settleAll(probe, { op: 'returnToLane' })
    expect(await claimDue()).toHaveLength(1)
  })

  test('lets nothing through for claims that were made before it opened and are handed back unsent', async () => {
    const id = await writeLane(redis, { mode })
    await parkAll(lanes, [id], messages(5))
    const before = await claimDue()
    expect(before).toHaveLength(5)
    await note(id, 'failed', 0, 3)
    await note(id, 'unsent', 0, 2)
    await settleAll(before.slice(0, 3), { op: 'retry', delayMs: 0, state: failedOnce() })
    await settleAll(before.slice(3, 4), { op: 'returnToLane' })
    expect(await claimDue()).toEqual([])
    await later(30_000)
    expect(await claimDue()).toHaveLength(1)
    await settleAll(before.slice(4), { op: 'returnToLane' })
    expect(await claimDue()).toEqual([])
  })

  test('lets through as many as a model does, for any answers and returns', async () => {
    const ends = fc.record({ which: fc.nat(), as: fc.constantFrom('ok', 'failed', 'failed', 'unsent') })
    const steps = fc.array(fc.oneof(ends, fc.constantFrom('take', 'take', 'wait')), {
      minLength: 5,
      maxLength: 50,
    })
    const history = fc.asyncProperty(steps, async (all) => {
      const id = await writeLane(redis, { mode: '- 2 30000', maxInFlight: 2 })
      await parkAll(lanes, [id], messages(6))
      let [failures, until, probe] = [0, null as number | null, null as string | null]
      const flying: { claim: TestClaim; till: number }[] = []
      for (const step of all) {
        const now = await lanes.now(SHARD)
        if (step === 'wait') {
          await later(STEP_MS)
        } else if (step === 'take') {
          const claims = (await claimDue()).filter(({ subscriptionId }) => subscriptionId === id)
          const most = until === null ? 2 : until <= now ? 1 : 0
          expect(claims.length).toBeLessThanOrEqual(most)
          if (most === 1)
            expect(claims).toHaveLength(flying.filter(({ till }) => till > now).length < 6 ? 1 : 0)
          if (until !== null && claims[0]) [until, probe] = [now + LEASE_MS, claims[0].lease]
          for (const claim of claims) flying.push({ claim, till: now + LEASE_MS })
        } else {
          const [ended] = flying.splice(step.which % Math.max(1, flying.length), 1)
          if (!ended) continue
          if (ended.claim.lease === probe && step.as === 'unsent' && ended.till > now) until = now
          if (step.as !== 'unsent') probe = null
          if (step.as === 'ok') [failures, until] = [0, null]
          if (step.as === 'failed') failures++
          if (step.as === 'failed' && (until !== null || failures >= 2)) until = now + PROBE_MS
          await note(id, step.as as LaneResult['answered'])
          await settleAll([ended.claim], { op: 'returnToLane' })
        }
      }
      await redis.del(dueKey(BASE))
    })
    await fc.assert(history, { numRuns: 100 })
  })

  test('a delivery expires although the circuit is open', async () => {
    const id = await opened()
    await writeSlice(redis, { retentionSeconds: 60 })
    await parkAll(lanes, [id], messages(100))
    await later(61_000)
    const { expired, lanes: claimed } = await takeFrom(lanes)
    expect([expired.length, claimed]).toEqual([100, []])
    expect(await figures(id)).toMatchObject({ waiting: 0 })
  })

  test('a clock that is set back holds nothing up for ever', async () => {
    await later(1_000_000_000)
    const id = await opened()
    await parkAll(lanes, [id], messages(1))
    await later(-1_000_000_000)
    let cursor: string | null = null
    do ({ cursor } = await lanes.sweep(SHARD, { cursor, deliveriesMax: 100, leaseMs: 20_000 }))
    while (cursor !== null)
    expect(await claimDue()).toHaveLength(1)
  })

  test('goes with its lane', async () => {
    const id = await opened({ gone: true })
    await takeFrom(lanes)
    expect(await redis.exists(laneKey(BASE, id))).toBe(0)
    await note(id, 'failed')
    expect(await redis.exists(laneKey(BASE, id))).toBe(0)
  })
})
