/** Tests lanes that are blocked because the service's own configuration prevents their attempts. */
import { RANDOM_TIMEOUT_MS } from '@fantail/test-kit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dueKey, laneKey } from '../keys/keys.ts'
import {
  BASE,
  claimsOf,
  makeMessage,
  parkAll,
  SHARD,
  takeFrom,
  writeLane,
  writeSlice,
} from '../lanes/lane.fixture.ts'
import { asRetry, failedOnce, type TestClaim, useLanes } from '../lanes/lanes.fixture.ts'
import type { SettleTo } from '../lanes/records/lane-records.ts'

const { redis, lanes, later, claimDue, settleAll } = await useLanes()
const BLOCK_MS = 30_000
const LEASE_MS = 20_000
/** Larger than all inaccuracies, so that sums of these steps stay apart. */
const STEP_MS = 8_000
const BLOCK = { op: 'block', delayMs: BLOCK_MS, credential: 'smtp:mail.example:25' } as const
const ANSWERED: SettleTo[] = [
  { op: 'delivered' },
  { op: 'retry', delayMs: 60_000, state: failedOnce() },
  { op: 'declareDead', leaseMs: 1_000, state: { ...failedOnce(), kind: 'dead', cause: 'permanent' } },
  { op: 'discard', cause: 'permanent' },
]
const messages = (n: number) => Array.from({ length: n }, (_, i) => makeMessage(Date.now() - 1_000 + i))
const figures = async (subscriptionId: string) => (await lanes.figures([{ subscriptionId, shard: SHARD }]))[0]
const idsOf = (claims: { delivery: Buffer }[]) => claims.map(({ delivery }) => delivery.toString('hex'))
const modeFields = async (id: string) =>
  (await redis.hkeys(laneKey(BASE, id))).filter((field) => field.startsWith('m'))

/** A lane with these deliveries. The configuration prevented an attempt at one of them. */
async function standing(waiting = messages(5), settings: Parameters<typeof writeLane>[1] = {}) {
  const id = await writeLane(redis, { ...settings, maxInFlight: 1 })
  await parkAll(lanes, [id], waiting)
  await settleAll(await claimDue(), BLOCK)
  return id
}

async function probe(id: string): Promise<TestClaim> {
  await later(BLOCK_MS)
  const [claim, ...others] = (await claimDue()).filter(({ subscriptionId }) => subscriptionId === id)
  if (!claim || others.length > 0) throw new Error('there is one probe')
  return claim
}

test('it claims nothing until its time, then one delivery, and says for which credential', async () => {
  const waiting = messages(3)
  const id = await standing(waiting)
  await redis.hset(laneKey(BASE, id), 'c', 32)
  expect(await claimDue()).toEqual([])
  expect(await figures(id)).toMatchObject({ waiting: 3, inFlight: 0, isBlocked: true })
  const until = (await figures(id))?.circuitOpenUntil ?? 0
  expect(until - (await lanes.now(SHARD))).toBeGreaterThan(BLOCK_MS - 1_000)
  const delivery = waiting[1]?.id ?? Buffer.of()
  expect(await lanes.deliveryStates(SHARD, [{ subscriptionId: id, delivery }])).toMatchObject([
    { where: 'waiting', state: null, hold: { cause: 'misconfigured', until } },
  ])
  await later(BLOCK_MS)
  const { lanes: taken } = await takeFrom(lanes)
  expect(taken).toMatchObject([{ subscriptionId: id, proven: true, blockedBy: BLOCK.credential }])
  expect(taken[0]?.claims.map(({ delivery }) => delivery)).toEqual([waiting[0]?.id])
  expect(await claimDue()).toEqual([])
})

test('an attempted delivery keeps its place, its attempts and its state', async () => {
  const [first, second] = messages(2)
  if (!first || !second) throw new Error('two messages')
  const id = await writeLane(redis, { maxInFlight: 1 })
  await parkAll(lanes, [id], [first], asRetry())
  await parkAll(lanes, [id], [second])
  for (let i = 0; i < 3; i++) {
    await settleAll(await claimDue(), BLOCK)
    await later(BLOCK_MS)
  }
  await redis.hset(laneKey(BASE, id), 'c', 32)
  expect(await lanes.release(SHARD, id)).toBe(true)
  const claims = await claimDue()
  expect(claims).toMatchObject([
    { delivery: second.id, state: null },
    { delivery: first.id, state: failedOnce() },
  ])
})

test.each(ANSWERED)('a probe that reached its endpoint ends it: $op', async (to) => {
  const waiting = messages(4)
  const id = await standing(waiting)
  await redis.hset(laneKey(BASE, id), 'c', 32)
  await settleAll([await probe(id)], to)
  expect(idsOf(await claimDue())).toEqual(idsOf(waiting.slice(1).map(({ id }) => ({ delivery: id }))))
  expect(await figures(id)).toMatchObject({ isBlocked: false, circuitOpenUntil: null })
  expect(await modeFields(id)).toEqual([])
})

test('a probe that was handed back unsent is followed by another at once, one that fails by the next in time', async () => {
  const id = await standing()
  await settleAll([await probe(id)], { op: 'returnToLane' })
  const again = await claimDue()
  expect(again).toHaveLength(1)
  await settleAll(again, BLOCK)
  expect(await claimDue()).toEqual([])
  expect(await probe(id)).toMatchObject({ subscriptionId: id })
  // Its worker died.
  await later(LEASE_MS + 1)
  expect(await claimDue()).toHaveLength(1)
})

test('release lets all of it go, and changes nothing in a lane that is not blocked', async () => {
  const id = await standing()
  await redis.hset(laneKey(BASE, id), 'c', 32)
  expect([await lanes.release(SHARD, id), await lanes.release(SHARD, id)]).toEqual([true, false])
  expect(await claimDue()).toHaveLength(5)
  const paced = await writeLane(redis, { mode: '- 1 30000' })
  await lanes.reportAnswers(SHARD, [{ subscriptionId: paced, answered: 'failed', cost: 0 }])
  await parkAll(lanes, [paced], messages(2))
  expect(await lanes.release(SHARD, paced)).toBe(false)
  expect(await claimDue()).toEqual([])
})

test('a delivery expires although its lane is blocked', async () => {
  await writeSlice(redis, { retentionSeconds: 60 })
  const id = await standing(messages(100))
  await later(61_000)
  const { expired, lanes: claimed } = await takeFrom(lanes)
  expect([expired.length, claimed]).toEqual([100, []])
  expect(await figures(id)).toMatchObject({ waiting: 0 })
})

test('deliveries of a lane with a dead-letter queue are claimed as expired, and none as permanent', async () => {
  await writeSlice(redis, { retentionSeconds: 60 })
  const id = await standing(messages(3), { deadLetters: true })
  await redis.hset(laneKey(BASE, id), 'c', 32)
  await later(61_000)
  const states = claimsOf(await takeFrom(lanes)).map(({ state }) => state)
  expect(states).toMatchObject(Array(3).fill({ kind: 'dead', cause: 'expired', attempts: 0 }))
})

test.each(['s', 'a', '- 2 30000', 's 2 30000'])(
  'a paced lane (%s) is blocked and goes on as it was',
  async (mode) => {
    const id = await standing(messages(5), { mode })
    await redis.hset(laneKey(BASE, id), 'c', 32)
    expect(await figures(id)).toMatchObject({ isBlocked: true })
    const claim = await probe(id)
    await lanes.reportAnswers(SHARD, [{ subscriptionId: id, answered: 'ok', cost: 0 }])
    await settleAll([claim], { op: 'delivered' })
    expect(await claimDue()).toHaveLength(4)
    expect(await figures(id)).toMatchObject({ isBlocked: false, circuitOpenUntil: null })
    expect(await redis.hget(laneKey(BASE, id), 'm')).toBe(mode)
  },
)

test('a circuit that opens at the probe’s failure is shown as a circuit', async () => {
  const id = await standing(messages(5), { mode: '- 1 30000' })
  const claim = await probe(id)
  await lanes.reportAnswers(SHARD, [{ subscriptionId: id, answered: 'failed', cost: 0 }])
  await settleAll([claim], { op: 'returnUncounted' })
  expect(await figures(id)).toMatchObject({ isBlocked: false })
  expect((await figures(id))?.circuitOpenUntil).not.toBeNull()
})

test('a deleted lane is not blocked', async () => {
  const id = await writeLane(redis)
  await parkAll(lanes, [id], messages(2))
  const claims = await claimDue()
  await redis.hset(laneKey(BASE, id), 'g', '1')
  await settleAll(claims, BLOCK)
  expect(await redis.hgetall(`${BASE}counts`)).toEqual({ 'discarded:unsubscribed': '2' })
  await takeFrom(lanes)
  expect(await redis.exists(laneKey(BASE, id))).toBe(0)
})

test('lets through as many as a model does, for any ends of attempts', {
  timeout: RANDOM_TIMEOUT_MS,
}, async () => {
  const ends = fc.record({
    which: fc.nat(),
    as: fc.constantFrom('block', 'block', 'retry', 'returnToLane', 'returnUncounted'),
  })
  const steps = fc.array(fc.oneof(ends, fc.constantFrom('take', 'take', 'wait')), {
    minLength: 5,
    maxLength: 50,
  })
  const TO: Record<string, SettleTo> = {
    block: BLOCK,
    retry: { op: 'retry', delayMs: 0, state: failedOnce() },
    returnToLane: { op: 'returnToLane' },
    returnUncounted: { op: 'returnUncounted' },
  }
  const history = fc.asyncProperty(steps, fc.boolean(), async (all, proven) => {
    const id = await writeLane(redis, { maxInFlight: 2, proven })
    await parkAll(lanes, [id], messages(6))
    let until: number | null = null
    let lastProbe: string | null = null
    const flying: { claim: TestClaim; till: number }[] = []
    for (const step of all) {
      const now = await lanes.now(SHARD)
      if (step === 'wait') {
        await later(STEP_MS)
      } else if (step === 'take') {
        const claims = (await claimDue()).filter(({ subscriptionId }) => subscriptionId === id)
        const most = until === null ? (proven ? 2 : 1) : until <= now ? 1 : 0
        expect(claims.length).toBeLessThanOrEqual(most)
        const isFull = flying.filter(({ till }) => till > now).length >= 6
        if (until !== null && most === 1) expect(claims).toHaveLength(isFull ? 0 : 1)
        if (until !== null && claims[0]) [until, lastProbe] = [now + LEASE_MS, claims[0].lease]
        for (const claim of claims) flying.push({ claim, till: now + LEASE_MS })
      } else {
        const [ended] = flying.splice(step.which % Math.max(1, flying.length), 1)
        if (!ended) continue
        const to = TO[step.as]
        if (!to) throw new Error('every end has its settlement')
        const { accepted } = await settleAll([ended.claim], to)
        if (!accepted[0]) continue
        const isProbe = ended.claim.lease === lastProbe
        if (step.as === 'block') [until, lastProbe] = [now + BLOCK_MS, null]
        else if (isProbe) [until, lastProbe] = [step.as === 'retry' ? null : now, null]
      }
    }
    await redis.del(dueKey(BASE), `${BASE}unproven`)
  })
  await fc.assert(history, { numRuns: 100 })
})
