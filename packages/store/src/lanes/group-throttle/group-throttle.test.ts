/** The throttle of message groups. lanes-model.test.ts has a lane with such a throttle among random histories. */
import { expect, test } from 'vitest'
import { dueKey, laneKey } from '../../keys/keys.ts'
import {
  BASE,
  changeLane,
  claimsOf,
  makeMessage,
  parkAll,
  SHARD,
  skew,
  type TestMessage,
  takeFrom,
  writeLane,
  writeSlice,
} from '../lane.fixture.ts'
import { useLanes } from '../lanes.fixture.ts'
import type { TakeRequest } from '../records/lane-records.ts'

const { redis, lanes } = await useLanes()

interface Sent {
  delivery: Buffer
  group: string | undefined
  sendAt: number | null
  takenAt: number
}

/** A lane with a backlog of these groups, one message of each in turn. Other lanes are not due. */
async function aLane(settings: Parameters<typeof writeLane>[1], counts: Record<string, number>) {
  await redis.del(dueKey(BASE))
  await skew(redis, 0)
  const id = await writeLane(redis, { maxInFlight: 256, ...settings })
  const most = Math.max(...Object.values(counts))
  const messages = Array.from({ length: most }, (_, i) =>
    Object.entries(counts).flatMap(([group, count]) =>
      i < count ? [makeMessage(Date.now() - 1_000, 'hello', group || undefined)] : [],
    ),
  ).flat()
  await parkAll(lanes, [id], messages)
  return { id, messages }
}

async function takeAndDeliver(messages: TestMessage[], request: Partial<TakeRequest> = {}) {
  const taken = await takeFrom(lanes, request)
  const claims = claimsOf(taken)
  await lanes.settle(
    SHARD,
    claims.map((claim) => ({ ...claim, to: { op: 'delivered' as const } })),
  )
  const sent = claims.map(({ delivery, sendAt }): Sent => {
    const group = messages.find(({ id }) => delivery.equals(id))?.groupId
    return { delivery, group, sendAt, takenAt: taken.now }
  })
  return { sent, taken }
}

/** Takes whenever the lane is due, and moves the time to the next such moment. */
async function drain(messages: TestMessage[]) {
  const begun = performance.now()
  const sent: Sent[] = []
  for (let [skewMs, round] = [0, 0]; sent.length < messages.length && round < 1_000; round++) {
    const { sent: more, taken } = await takeAndDeliver(messages)
    sent.push(...more)
    const due = await redis.zrange(dueKey(BASE), '0', '0', 'WITHSCORES')
    skewMs += Math.max(0, Number(due[1] ?? 0) - (await lanes.now(SHARD)))
    await skew(redis, skewMs)
    if (due.length === 0) expect(sent).toHaveLength(messages.length)
    if (more.length === 0) expect(taken.now).toBeGreaterThan(0)
  }
  await skew(redis, 0)
  expect(sent).toHaveLength(messages.length)
  return { sent, realMs: performance.now() - begun }
}

const withoutSent = (messages: TestMessage[], sent: Sent[]) =>
  messages.filter(({ id }) => !sent.some(({ delivery }) => delivery.equals(id)))
const timesOf = (sent: Sent[], group?: string) =>
  sent
    .flatMap((one) => (group === undefined || one.group === group ? (one.sendAt ?? []) : []))
    .sort((a, b) => a - b)
const leastGap = (times: number[]) => Math.min(...times.slice(1).map((time, i) => time - (times[i] ?? 0)))
const spanOf = (times: number[]) => (times.at(-1) ?? 0) - (times[0] ?? 0)

test('each group gets its rate, beside each other, and messages without a group are not throttled', async () => {
  const { id, messages } = await aLane({ groupRates: '20\tgold=100\t' }, { '': 20, a: 60, b: 60, gold: 150 })
  const { sent, realMs } = await drain(messages)
  expect(sent.filter(({ group }) => group === undefined).every(({ sendAt }) => sendAt === null)).toBe(true)
  for (const [group, rate, count] of [
    ['a', 20, 60],
    ['b', 20, 60],
    ['gold', 100, 150],
  ] as const) {
    const times = timesOf(sent, group)
    expect(times).toHaveLength(count)
    expect(leastGap(times)).toBeGreaterThan(1_000 / rate - 0.1)
    expect(spanOf(times)).toBeLessThan(((count - 1) * 1_000) / rate / 0.97 + realMs)
  }
  expect(await redis.exists(`${BASE}shelves:${id}`, `${BASE}shelved:${id}`)).toBe(0)
  expect(await redis.pttl(`${BASE}tats:${id}`)).toBeLessThan(2_500)
})

test('the throttle of the subscription holds beside that of the groups, and neither wastes the other', async () => {
  const { messages } = await aLane({ rate: 50, groupRates: '20\t' }, { a: 40, b: 40, c: 40 })
  const { sent, realMs } = await drain(messages)
  expect(leastGap(timesOf(sent))).toBeGreaterThan(20 - 0.1)
  expect(spanOf(timesOf(sent))).toBeLessThan((119 * 20) / 0.95 + realMs)
  for (const group of ['a', 'b', 'c']) expect(leastGap(timesOf(sent, group))).toBeGreaterThan(50 - 0.1)
})

test('one group under a throttle of the subscription that is little higher gets its whole rate', async () => {
  const { messages } = await aLane({ rate: 10, groupRates: '9\t' }, { a: 40 })
  const { sent, realMs } = await drain(messages)
  expect(leastGap(timesOf(sent))).toBeGreaterThan(1_000 / 9 - 0.1)
  expect(spanOf(timesOf(sent))).toBeLessThan((39 * 1_000) / 9 / 0.97 + realMs)
})

test('a group with a long backlog is not in the way of others, and costs their takes nothing', async () => {
  const { id, messages } = await aLane({ groupRates: '\tbig=0.01\t' }, { big: 1_500 })
  for (let round = 0; round < 20; round++) await takeAndDeliver(messages)
  expect(await redis.zcount(`${BASE}fresh:${id}`, '-inf', String(8 * 2 ** 40))).toBe(0)
  const later = [makeMessage(Date.now(), 'hello', 'small'), makeMessage()]
  await parkAll(lanes, [id], later)
  await redis.config('RESETSTAT')
  const { sent } = await takeAndDeliver(later)
  expect(sent.map(({ group }) => group).sort()).toEqual(['small', undefined])
  const calls = [...(await redis.info('commandstats')).matchAll(/:calls=(\d+)/g)]
  expect(calls.reduce((sum, [, n]) => sum + Number(n), 0)).toBeLessThan(150)
})

test('a lane that can get few claims still reaches the groups behind a throttled one', async () => {
  const { messages } = await aLane({ groupRates: '\tbig=0.01\t' }, { big: 150 })
  const { id } = await aLane({ groupRates: '\tbig=0.01\t' }, {})
  const small = makeMessage(Date.now(), 'hello', 'small')
  await parkAll(lanes, [id], [...messages, small])
  const bodies = [...messages, small]
  expect((await takeAndDeliver(bodies, { deliveriesMax: 1 })).sent[0]?.group).toBe('big')
  expect((await takeAndDeliver(bodies, { deliveriesMax: 1 })).sent[0]?.group).toBe('small')
})

test('retries keep the rate of their group', async () => {
  const { id, messages } = await aLane({ groupRates: '1\t' }, { a: 1, b: 1 })
  const [a, b] = messages
  if (!a || !b) throw new Error('there are two')
  const first = claimsOf(await takeFrom(lanes))
  expect(first).toHaveLength(2)
  const state = { kind: 'retry' as const, attempts: 1, statusCode: 500, error: null }
  await lanes.settle(
    SHARD,
    first.map((claim) => ({ ...claim, to: { op: 'retry' as const, delayMs: 0, state } })),
  )
  expect(claimsOf(await takeFrom(lanes))).toEqual([])
  await skew(redis, 900)
  const from = await lanes.now(SHARD)
  const [again] = claimsOf(await takeFrom(lanes))
  const to = await lanes.now(SHARD)
  const before = first.find(({ delivery }) => again?.delivery.equals(delivery))
  const earliest = (before?.sendAt ?? 0) + 1_000
  // On a busy machine this time may have passed already. The retry is then sent at once.
  expect(again?.sendAt).toBeGreaterThanOrEqual(Math.max(earliest, from) - 0.5)
  expect(again?.sendAt).toBeLessThanOrEqual(Math.max(earliest, to) + 0.5)
  await skew(redis, 0)
  expect(await lanes.purge(SHARD, id)).toBeLessThanOrEqual(1)
})

test('late claims of a group move on together, and the group with them', async () => {
  const { id, messages } = await aLane({ groupRates: '20\t' }, { a: 5, b: 5 })
  const claims = claimsOf(await takeFrom(lanes))
  expect(claims).toHaveLength(10)
  const before = claims.map(({ sendAt }) => sendAt ?? 0)
  await skew(redis, 1_000)
  const [renewed] = await lanes.renew(SHARD, {
    leaseMs: 15_000,
    lanes: [{ subscriptionId: id, leadMs: 0, claims }],
  })
  const times = renewed?.map(({ sendAt }) => sendAt ?? 0) ?? []
  expect(Math.min(...times.map((time, i) => time - (before[i] ?? 0)))).toBeGreaterThanOrEqual(1_000)
  for (const group of ['a', 'b']) {
    const isOf = ({ id: message, groupId }: TestMessage, i: number) =>
      groupId === group && claims[i]?.delivery.equals(message)
    const own = times.filter((_, i) => messages.some((message) => isOf(message, i)))
    expect(own).toHaveLength(5)
    expect(leastGap(own.toSorted((x, y) => x - y))).toBeGreaterThan(50 - 0.1)
  }
  await skew(redis, 0)
})

test('a purge, and the end of the last group, leave no shelf behind', async () => {
  const { id } = await aLane({ groupRates: '1\t' }, { a: 20, b: 20 })
  await takeFrom(lanes, { deliveriesMax: 2 })
  expect(claimsOf(await takeFrom(lanes))).toEqual([])
  expect(await redis.zcard(`${BASE}shelves:${id}`)).toBe(2)
  expect(await lanes.purge(SHARD, id)).toBe(38)
  await redis.del(`${BASE}lease:${id}`)
  await changeLane(redis, id, 'p', '')
  expect(await redis.exists(`${BASE}shelves:${id}`, `${BASE}shelved:${id}`)).toBe(0)
})

test('deliveries on shelves go on if the data of the shelves are lost', async () => {
  const { id, messages } = await aLane({ groupRates: '1\t' }, { a: 20 })
  await takeAndDeliver(messages)
  await redis.del(`${BASE}shelves:${id}`, `${BASE}shelved:${id}`)
  await redis.hdel(laneKey(BASE, id), 'gr')
  await changeLane(redis, id, 'p', '')
  const sent: Sent[] = []
  for (let round = 0; round < 5; round++) sent.push(...(await takeAndDeliver(messages)).sent)
  expect(sent).toHaveLength(19)
  expect(await redis.hexists(laneKey(BASE, id), 'gr')).toBe(0)
})

test('a delivery on a shelf is shown as waiting for the throttle, and its lane when the next one goes', async () => {
  const { id, messages } = await aLane({ groupRates: '0.1\t' }, { a: 3 })
  const { sent } = await takeAndDeliver(messages)
  const waiting = withoutSent(messages, sent).map(({ id: delivery }) => ({ subscriptionId: id, delivery }))
  const states = await lanes.deliveryStates(SHARD, waiting)
  const nextAt = (sent[0]?.sendAt ?? 0) + 10_000
  expect(states).toHaveLength(2)
  for (const { where, dueAt, hold } of states) {
    expect([where, hold?.cause]).toEqual(['waiting', 'throttle'])
    expect(Math.abs((hold?.until ?? 0) - nextAt)).toBeLessThan(2)
    expect(dueAt).toBeLessThanOrEqual(sent[0]?.takenAt ?? 0)
  }
  const [figures] = await lanes.figures([{ subscriptionId: id, shard: SHARD }])
  expect(figures).toMatchObject({ waiting: 2, groupsThrottled: 1 })
  expect(Math.abs((figures?.nextAttemptAt ?? 0) - nextAt)).toBeLessThan(500)
  expect(figures?.oldestPublishedAt).not.toBeNull()
})

test('deliveries on a shelf expire', async () => {
  await writeSlice(redis, { retentionSeconds: 60 })
  const { id, messages } = await aLane({ groupRates: '0.01\t' }, { a: 5 })
  const { sent } = await takeAndDeliver(messages)
  await skew(redis, 80_000)
  const expired: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const step = await lanes.sweep(SHARD, { cursor: cursor || null, deliveriesMax: 500, leaseMs: 20_000 })
    expired.push(...step.expired.map(({ delivery }) => delivery.toString('hex')))
    cursor = step.cursor
  }
  const kept = withoutSent(messages, sent).map((message) => message.id.toString('hex'))
  expect(expired.sort()).toEqual(kept.sort())
  expect(await redis.exists(`${BASE}shelves:${id}`, `${BASE}shelved:${id}`)).toBe(0)
  await writeSlice(redis)
  await skew(redis, 0)
})

test('a group gets the number of a shelf that is free, and none if all are taken', async () => {
  const { id, messages } = await aLane({ groupRates: '1\t' }, { a: 2, b: 2 })
  const others = Array.from({ length: 8_000 }, (_, i) => i + 8).filter((number) => number !== 4_711)
  await redis.zadd(`${BASE}shelves:${id}`, ...others.flatMap((number) => [number, `other-${number}`]))
  await takeAndDeliver(messages)
  await takeAndDeliver(messages)
  const numbers = await redis.zmscore(`${BASE}shelves:${id}`, 'a', 'b')
  expect(numbers.filter((number) => number !== null)).toEqual(['4711'])
  const scores = (await redis.zrange(`${BASE}fresh:${id}`, '0', '-1', 'WITHSCORES')).filter(
    (_, i) => i % 2 === 1,
  )
  expect(scores.map((score) => Math.floor(Number(score) / 2 ** 40) === 4_711).sort()).toEqual([false, true])
  await redis.del(`${BASE}shelves:${id}`)
})

test('the next head of a FIFO group waits for the send time of its group, and other groups go on', async () => {
  const { id, messages } = await aLane({ groupRates: '1\t' }, { a: 1, b: 1 })
  const [a, b] = messages
  const next = makeMessage(Date.now(), 'hello', 'a')
  if (!a || !b) throw new Error('there are two')
  await redis.hset(laneKey(BASE, id), 'f', '1', 'b', 1)
  const key = `${BASE}groups:${id}`
  for (const { id: head, groupId = '' } of [a, b]) {
    await redis.hset(key, `g${groupId}`, head)
    await redis.hset(key, Buffer.concat([Buffer.from('d'), head]), groupId)
  }
  await redis.rpush(`${BASE}behind:${id}:a`, next.id)
  const first = (await takeAndDeliver(messages)).sent
  expect(first.map(({ group }) => group).sort()).toEqual(['a', 'b'])
  expect((await takeAndDeliver([next])).sent).toEqual([])
  await skew(redis, 1_000)
  const { sent } = await takeAndDeliver([next])
  expect(sent.map(({ group }) => group)).toEqual(['a'])
  const before = first.find(({ group }) => group === 'a')?.sendAt ?? 0
  expect((sent[0]?.sendAt ?? 0) - before).toBeGreaterThan(1_000 - 0.1)
  await skew(redis, 0)
})
