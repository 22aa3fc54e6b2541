import { freshKey, retryKey } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { LaneSurvey } from '../board/lane-survey.ts'
import {
  apiKeysKey,
  countsKey,
  dueKey,
  pausedKey,
  suppressedAddressesKey,
  topicsKey,
  tornDueSetsKey,
  unprovenKey,
} from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'
import { Quarantine } from '../quarantine/quarantine.ts'
import { UnreadableRecords } from '../quarantine/unreadable-records.ts'
import { busyLanes } from './busy-lanes.ts'
import { mendDueSets } from './due-sets.ts'
import {
  BASE,
  claimsOf,
  keysLeft,
  makeMessage,
  parkAll,
  SHARD,
  skew,
  takeFrom,
  writeLane,
  writeSlice,
} from './lane.fixture.ts'
import { useLanes } from './lanes.fixture.ts'
import type { SweepResult } from './records/lane-records.ts'

const { redis, lanes } = await useLanes({ retentionSeconds: 60 })

const messages = (n: number, publishedAt?: number) =>
  Array.from({ length: n }, () => makeMessage(publishedAt))
const retryIn = (delayMs: number) =>
  ({ as: 'retry', delayMs, state: { kind: 'retry', attempts: 4, statusCode: 502, error: null } }) as const

async function sweepAll(deliveriesMax = 100): Promise<SweepResult[]> {
  const steps: SweepResult[] = []
  let cursor: string | null = null
  do {
    const step: SweepResult = await lanes.sweep(SHARD, { cursor, deliveriesMax, leaseMs: 20_000 })
    steps.push(step)
    cursor = step.cursor
  } while (cursor !== null && steps.length < 100)
  return steps
}

async function duesOf(id: string): Promise<number[]> {
  const flat = await redis.zrange(retryKey(BASE, id), '0', '-1', 'WITHSCORES')
  return flat.filter((_, i) => i % 2 === 1).map(Number)
}

test('retry now makes everything due, in steps, and returns the number', async () => {
  const id = await writeLane(redis, { maxInFlight: 256 })
  for (let i = 0; i < 3; i++) await parkAll(lanes, [id], messages(800), retryIn(600_000 + i))
  expect(await lanes.retryNow(SHARD, id)).toBe(2_400)
  expect(claimsOf(await takeFrom(lanes))).toHaveLength(256)
  expect(await lanes.retryNow(SHARD, id)).toBe(0)
})

test('retry now at a rate spreads what waits and makes nothing later than it was', async () => {
  const id = await writeLane(redis)
  await parkAll(lanes, [id], messages(3), retryIn(0))
  await parkAll(lanes, [id], messages(1_500), retryIn(600_000))
  const soon = Date.now()
  await parkAll(lanes, [id], messages(1), retryIn(150))
  expect(await lanes.retryNow(SHARD, id, { maxPerSecond: 10 })).toBe(1_501)
  const dues = await duesOf(id)
  const gaps = dues.slice(4).map((due, i) => due - (dues[i + 3] ?? 0))
  expect(dues[3]).toBeLessThan(soon + 150)
  expect([Math.min(...gaps), Math.max(...gaps)]).toEqual([100, 100])
})

test('purge discards what waits, counts it, and leaves what is in flight', async () => {
  const id = await writeLane(redis)
  await parkAll(lanes, [id], messages(1))
  const [flying] = claimsOf(await takeFrom(lanes))
  await parkAll(lanes, [id], messages(1_500))
  await parkAll(lanes, [id], messages(700), retryIn(1_000))
  expect(await lanes.purge(SHARD, id)).toBe(2_200)
  expect(await redis.hgetall(countsKey(BASE))).toEqual({ 'discarded:purged': '2200' })
  const left = await lanes.figures([{ subscriptionId: id, shard: SHARD }])
  expect(left).toMatchObject([{ waiting: 0, inFlight: 1, oldestPublishedAt: null }])
  if (flying) await lanes.settle(SHARD, [{ ...flying, to: { op: 'delivered' } }])
  expect(await keysLeft(redis)).toEqual([`${BASE}lane:${id}`])
})

test('a sweep expires what is too old in paused lanes, wherever it waits', async () => {
  const id = await writeLane(redis, { paused: true })
  await parkAll(lanes, [id], [...messages(1), ...messages(150, Date.now() - 61_000)])
  await parkAll(lanes, [id], messages(70, Date.now() - 61_000), retryIn(40_000))
  const steps = await sweepAll()
  expect(steps.flatMap(({ expired }) => expired)).toHaveLength(220)
  expect(await redis.hgetall(countsKey(BASE))).toEqual({ expired: '220' })
  expect(await lanes.figures([{ subscriptionId: id, shard: SHARD }])).toMatchObject([{ waiting: 1 }])
})

test('with a dead-letter queue the sweep claims them as dead, as many as it may', async () => {
  const id = await writeLane(redis, { paused: true, deadLetters: true })
  await parkAll(lanes, [id], messages(5, Date.now() - 61_000))
  const steps = await sweepAll(2)
  const claims = steps.flatMap((step) => claimsOf(step))
  expect(claims.map(({ state }) => state)).toEqual(
    Array(5).fill({ kind: 'dead', cause: 'expired', attempts: 0, statusCode: null, error: null }),
  )
  const forgotten = await lanes.settle(
    SHARD,
    claims.map((claim) => ({ ...claim, to: { op: 'deadLettered' } as const })),
  )
  expect(forgotten.accepted).toEqual(Array(5).fill(true))
  expect(await redis.hgetall(countsKey(BASE))).toEqual({ deadLettered: '5' })
})

test('claims of a crashed sweep in a paused lane are claimed again', async () => {
  const id = await writeLane(redis, { paused: true, deadLetters: true })
  await parkAll(lanes, [id], messages(1, Date.now() - 61_000))
  expect((await sweepAll()).flatMap((step) => claimsOf(step))).toHaveLength(1)
  expect((await sweepAll()).flatMap((step) => claimsOf(step))).toHaveLength(0)
  await skew(redis, 30_000)
  expect((await sweepAll()).flatMap((step) => claimsOf(step))).toHaveLength(1)
})

test('a sweep reaches lanes that are not paused, and every one of many', async () => {
  const old = messages(1, Date.now() - 61_000)
  for (let i = 0; i < 300; i++) await parkAll(lanes, [await writeLane(redis)], old, retryIn(30_000))
  const steps = await sweepAll()
  expect(steps.flatMap(({ expired }) => expired)).toHaveLength(300)
  expect(await redis.zcard(dueKey(BASE))).toBe(0)
})

test('times written before the clock was set back are corrected', async () => {
  const id = await writeLane(redis)
  await writeSlice(redis)
  await skew(redis, 7_200_000)
  await parkAll(lanes, [id], messages(3))
  await takeFrom(lanes, { deliveriesMax: 1 })
  await redis.del(`${BASE}skew`)
  expect(claimsOf(await takeFrom(lanes))).toEqual([])
  await sweepAll()
  expect(claimsOf(await takeFrom(lanes))).toHaveLength(3)
})

test('lanes that were resumed leave the set of paused lanes', async () => {
  const id = await writeLane(redis, { paused: true })
  await parkAll(lanes, [id], messages(1))
  expect(await redis.smembers(pausedKey(BASE))).toEqual([id])
  await sweepAll()
  expect(await redis.smembers(pausedKey(BASE))).toEqual([id])
  await writeLane(redis, {}, id)
  await sweepAll()
  expect(await redis.smembers(pausedKey(BASE))).toEqual([])
  expect(claimsOf(await takeFrom(lanes))).toHaveLength(1)
})

test('the earliest due times of all shards are read at once', async () => {
  await parkAll(lanes, [await writeLane(redis, { proven: false })], messages(1))
  const { due, unproven } = await lanes.dueTimes()
  expect([[...due.keys()], [...unproven.keys()]]).toEqual([[], [SHARD]])
  await parkAll(lanes, [await writeLane(redis)], messages(1))
  expect([...(await lanes.dueTimes()).due.keys()]).toEqual([SHARD])
})

test('a shard whose due set has another type does not hide the lanes of others', async () => {
  const id = await writeLane(redis)
  await parkAll(lanes, [id], messages(1))
  await redis.set(dueKey(shardBase(SHARD + 1)), 'damaged')
  expect([...(await lanes.dueTimes()).due.keys()]).toEqual([SHARD])
  await busyLanes(redis, 10)
  expect(await new LaneSurvey(redis).read()).toMatchObject({ isComplete: false })
  const others = [topicsKey(shardBase(SHARD + 1)), apiKeysKey(), suppressedAddressesKey()]
  for (const key of others) await redis.set(key, 'damaged')
  const quarantine = new Quarantine(redis)
  const unreadable = new UnreadableRecords(quarantine)
  await unreadable.sweepIndexes(redis)
  expect(await unreadable.sweep()).toBe(3)
  const { items } = await quarantine.list({ limit: 10 })
  for (const key of others)
    expect(items.map(({ detail }) => detail).join()).toContain(`${key}: it is a string`)
})

test.each([dueKey, unprovenKey, pausedKey])(
  'a due set with another type is made again from the lanes',
  async (setOf) => {
    const proven = await writeLane(redis)
    const unproven = await writeLane(redis, { proven: false })
    const paused = await writeLane(redis, { paused: true })
    await parkAll(lanes, [proven, unproven, paused], messages(2))
    const logs = ['log:topic', 'log:topic:group']
    for (const log of logs) await redis.rpush(`${BASE}${log}`, 'entry')
    const dueSets = async () => ({
      due: await redis.zrange(dueKey(BASE), '0', '-1'),
      unproven: await redis.zrange(unprovenKey(BASE), '0', '-1'),
      paused: await redis.smembers(pausedKey(BASE)),
    })
    const before = await dueSets()
    await redis.set(setOf(BASE), 'damaged')
    const told: string[] = []
    expect(await mendDueSets(redis, (error, key) => void told.push(`${key}: ${error.message}`))).toBe(5)
    expect(told).toEqual([expect.stringContaining(`${setOf(BASE)}: it was a string`)])
    const { due, ...others } = await dueSets()
    expect(others).toEqual({ unproven: before.unproven, paused: before.paused })
    expect(due.sort()).toEqual([...before.due, 'log:topic', 'isolated:topic:group'].sort())
    await redis.set(tornDueSetsKey(BASE), '')
    expect([await mendDueSets(redis, () => undefined), await redis.exists(tornDueSetsKey(BASE))]).toEqual([
      5, 0,
    ])
    expect(await mendDueSets(redis, () => undefined)).toBe(0)
    await redis.del(logs.map((log) => `${BASE}${log}`))
  },
)

test('hints of busy shards are set and taken back', async () => {
  await lanes.noteDue(3, 1_000)
  await lanes.noteDue(4, 2_000)
  await lanes.noteDue(3, null)
  await lanes.noteUnproven(5, 3_000)
  expect(await lanes.busyShards()).toEqual({ due: new Map([[4, 2_000]]), unproven: new Map([[5, 3_000]]) })
})

test('figures of several lanes at once, also of ones that do not exist', async () => {
  const id = await writeLane(redis, { rate: 5 })
  const publishedAt = Date.now() - 20_000
  await parkAll(lanes, [id], [makeMessage(publishedAt), makeMessage()])
  const figures = await lanes.figures([
    { subscriptionId: 'none', shard: 1 },
    { subscriptionId: id, shard: SHARD },
  ])
  expect(figures[0]).toMatchObject({ waiting: 0, rate: null, nextAttemptAt: null })
  expect(figures[1]).toMatchObject({ waiting: 2, inFlight: 0, oldestPublishedAt: publishedAt, rate: 5 })
  expect(await redis.zcard(freshKey(BASE, id))).toBe(2)
})

test('a delivery is shown as waiting, in flight or absent', async () => {
  const id = await writeLane(redis)
  const [flying, failed, unknown] = [makeMessage(), makeMessage(), makeMessage()]
  await parkAll(lanes, [id], [flying])
  await takeFrom(lanes)
  await parkAll(lanes, [id], [failed], retryIn(5_000))
  const states = await lanes.deliveryStates(
    SHARD,
    [flying, failed, unknown].map(({ id: delivery }) => ({ subscriptionId: id, delivery })),
  )
  expect(states.map(({ where }) => where)).toEqual(['inFlight', 'waiting', 'absent'])
  expect(states[1]?.state).toEqual(retryIn(0).state)
})

test('a message that is set aside is claimed as dead, once, and keeps what is known of its attempts', async () => {
  const id = await writeLane(redis, { deadLetters: true })
  const [failed, fresh] = [makeMessage(), makeMessage()]
  await parkAll(lanes, [id], [failed], retryIn(600_000))
  expect(await lanes.setAside(SHARD, id, failed.id)).toBe('done')
  const [claim] = claimsOf(await takeFrom(lanes))
  expect(claim?.state).toEqual({
    kind: 'dead',
    cause: 'setAside',
    attempts: 4,
    statusCode: 502,
    error: null,
  })
  expect(await lanes.setAside(SHARD, id, failed.id)).toBe('inFlight')
  // The worker is killed here. The next claim knows what to do.
  await skew(redis, 30_000)
  const [again] = claimsOf(await takeFrom(lanes))
  expect(again?.state).toMatchObject({ kind: 'dead', cause: 'setAside' })
  if (again) await lanes.settle(SHARD, [{ ...again, to: { op: 'deadLettered' } }])
  expect(await lanes.setAside(SHARD, id, failed.id)).toBe('missing')
  await parkAll(lanes, [id], [fresh])
  expect(await lanes.setAside(SHARD, id, fresh.id)).toBe('done')
  expect(claimsOf(await takeFrom(lanes))[0]?.state).toMatchObject({ cause: 'setAside', attempts: 0 })
})

test('nothing is set aside where it would be lost', async () => {
  const id = await writeLane(redis)
  const message = makeMessage()
  await parkAll(lanes, [id], [message])
  expect(await lanes.setAside(SHARD, id, message.id)).toBe('noQueue')
  expect(claimsOf(await takeFrom(lanes))).toHaveLength(1)
})

test('a sweep tries what could not be appended again when it is due, and not before', async () => {
  const id = await writeLane(redis, { deadLetters: true })
  const dead = { as: 'dead', state: { ...retryIn(0).state, kind: 'dead', cause: 'permanent' } } as const
  await parkAll(lanes, [id], messages(300), dead)
  const steps = await sweepAll(200)
  const claims = steps.flatMap(claimsOf)
  expect(claims).toHaveLength(300)
  const back = { op: 'returnToLane', delayMs: 2_000 } as const
  await lanes.settle(
    SHARD,
    claims.map((claim) => ({ ...claim, to: back })),
  )
  expect((await sweepAll(200)).flatMap(claimsOf)).toEqual([])
  await skew(redis, 2_000)
  expect((await sweepAll(200)).flatMap(claimsOf)).toHaveLength(300)
})
