import { expect, test } from 'vitest'
import { countsKey, dueKey, laneKey } from '../keys/keys.ts'
import {
  BASE,
  changeLane,
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
  writeSlice,
} from './lane.fixture.ts'
import { useLanes } from './lanes.fixture.ts'
import { deliveryId } from './records/generations.ts'

const { redis, lanes } = await useLanes()

const retried = (delayMs = 0) =>
  ({ as: 'retry', delayMs, state: { kind: 'retry', attempts: 1, statusCode: 500, error: null } }) as const
const messages = (n: number) => Array.from({ length: n }, () => makeMessage())

const dueOf = async (id: string) => Number(await redis.zscore(dueKey(BASE), id))

test('claims carry slice, revision, a unique lease and the retry state', async () => {
  const id = await writeLane(redis)
  const [fresh, failed] = [makeMessage(), makeMessage()]
  await parkAll(lanes, [id], [fresh])
  await parkAll(lanes, [id], [failed], retried())
  const taken = await takeFrom(lanes, { leaseMs: 5_000 })
  expect(taken.lanes).toMatchObject([
    { subscriptionId: id, sliceId: 'topic-uid.0', sliceRevision: 'revision-1' },
  ])
  const claims = taken.lanes[0]?.claims ?? []
  expect(claims.map(({ delivery, sendAt, state }) => ({ delivery, sendAt, state }))).toEqual([
    { delivery: fresh.id, sendAt: null, state: null },
    { delivery: failed.id, sendAt: null, state: retried().state },
  ])
  expect(new Set(claims.map(({ lease }) => lease)).size).toBe(2)
  expect(taken.nextDueAt).toBe(taken.now + 5_000)
})

test('a paused lane gives nothing until it is resumed', async () => {
  const id = await writeLane(redis, { paused: true })
  await parkAll(lanes, [id], messages(2))
  expect(await takeFrom(lanes)).toMatchObject({ lanes: [], nextDueAt: null })
  await writeLane(redis, {}, id)
  await redis.zadd(dueKey(BASE), 0, id)
  expect(claimsOf(await takeFrom(lanes))).toHaveLength(2)
})

test('a lane gets no more than its limit, and its own maxInFlight where it has none', async () => {
  const [own, limited] = [await writeLane(redis, { maxInFlight: 3 }), await writeLane(redis)]
  await parkAll(lanes, [own, limited], messages(5))
  const taken = await takeFrom(lanes, { limits: new Map([[limited, 1]]) })
  const got = new Map(taken.lanes.map((lane) => [lane.subscriptionId, lane.claims.length]))
  expect([got.get(own), got.get(limited)]).toEqual([3, 1])
})

test('lanes that are not named share a bound of the taker, throttled ones only their rate', async () => {
  const [plain, paced] = [await writeLane(redis), await writeLane(redis, { rate: 1_000 })]
  await parkAll(lanes, [plain, paced], messages(5))
  const taken = await takeFrom(lanes, { othersMax: 2 })
  const got = new Map(taken.lanes.map((lane) => [lane.subscriptionId, lane.claims.length]))
  expect([got.get(plain), got.get(paced)]).toEqual([2, 5])
})

test('a lane cut short by its limit is due again after 250 ms, or when one of its claims is settled', async () => {
  const [full, id] = [await writeLane(redis), await writeLane(redis, { maxInFlight: 1 })]
  await parkAll(lanes, [full, id], messages(2))
  const taken = await takeFrom(lanes, { limits: new Map([[full, 0]]) })
  expect(taken.lanes.map(({ subscriptionId }) => subscriptionId)).toEqual([id])
  expect([await dueOf(full), await dueOf(id)]).toEqual([taken.now + 250.5, taken.now + 250.5])
  const settlements = claimsOf(taken).map((claim) => ({ ...claim, to: { op: 'delivered' } as const }))
  const { nextDueAt } = await lanes.settle(SHARD, settlements)
  expect(nextDueAt).toBeLessThan(taken.now + 250)
  expect(await dueOf(id)).toBe(nextDueAt)
})

test('with a backlog of both kinds, one claim in five is a retry', async () => {
  const id = await writeLane(redis, { maxInFlight: 1 })
  await parkAll(lanes, [id], messages(20))
  await parkAll(lanes, [id], messages(20), retried())
  const kinds: (string | undefined)[] = []
  for (let i = 0; i < 15; i++) {
    await redis.zadd(dueKey(BASE), 0, id)
    kinds.push(...claimsOf(await takeFrom(lanes)).map(({ state }) => state?.kind ?? 'fresh'))
  }
  const five = ['fresh', 'fresh', 'fresh', 'fresh', 'retry']
  expect(kinds).toEqual([...five, ...five, ...five])
})

test('takes of several claims keep to one in five as well', async () => {
  const id = await writeLane(redis, { maxInFlight: 7 })
  await parkAll(lanes, [id], messages(60))
  await parkAll(lanes, [id], messages(60), retried())
  let retries = 0
  for (let i = 0; i < 5; i++) {
    await redis.zadd(dueKey(BASE), 0, id)
    retries += claimsOf(await takeFrom(lanes)).filter(({ state }) => state !== null).length
  }
  expect(retries).toBe(7)
})

test('a lane with a backlog that was served goes behind one that has waited', async () => {
  const [busy, quiet] = [await writeLane(redis, { maxInFlight: 256 }), await writeLane(redis)]
  await parkAll(lanes, [busy], messages(20))
  await takeFrom(lanes, { deliveriesMax: 10 })
  await parkAll(lanes, [quiet], messages(1))
  await redis.zadd(dueKey(BASE), (await dueOf(busy)) - 1, quiet)
  const taken = await takeFrom(lanes, { deliveriesMax: 1 })
  expect(taken.lanes.map(({ subscriptionId }) => subscriptionId)).toEqual([quiet])
})

test('claims whose lease ended wait again, with what is known of their attempts', async () => {
  const id = await writeLane(redis)
  const [fresh, failed] = [makeMessage(), makeMessage()]
  await parkAll(lanes, [id], [fresh])
  await parkAll(lanes, [id], [failed], retried())
  const first = claimsOf(await takeFrom(lanes, { leaseMs: 10_000 }))
  expect(claimsOf(await takeFrom(lanes))).toEqual([])
  await skew(redis, 10_500)
  const again = claimsOf(await takeFrom(lanes))
  expect(again.map(({ delivery, state }) => ({ delivery, state }))).toEqual(
    first.map(({ delivery, state }) => ({ delivery, state })),
  )
  expect(again.map(({ lease }) => lease)).not.toEqual(first.map(({ lease }) => lease))
})

test('a throttled lane gets send times one gap apart and at most 250 ms ahead', async () => {
  await writeSlice(redis, { rate: 20 })
  const id = await writeLane(redis)
  await parkAll(lanes, [id], messages(30))
  const taken = await takeFrom(lanes)
  const times = claimsOf(taken).map(({ sendAt }) => sendAt ?? Number.NaN)
  expect(times).toEqual([0, 50, 100, 150, 200, 250].map((ms) => taken.now + ms))
  expect(claimsOf(await takeFrom(lanes))).toEqual([])
  await skew(redis, 1_000)
  const later = await takeFrom(lanes)
  expect(claimsOf(later)[0]?.sendAt).toBe(later.now)
})

test('a distant worker gets send times that it can keep, further ahead, and the shard stays so for all', async () => {
  const id = await writeLane(redis, { rate: 10 })
  await parkAll(lanes, [id], messages(30))
  const far = await takeFrom(lanes, { tripMs: 500, leadMs: 400 })
  const times = claimsOf(far).map(({ sendAt }) => (sendAt ?? Number.NaN) - far.now)
  expect(times).toEqual([400, 500, 600, 700])
  expect((far.nextDueAt ?? 0) - far.now).toBeLessThanOrEqual(200)
  await skew(redis, 500)
  const near = await takeFrom(lanes)
  const later = claimsOf(near).map(({ sendAt }) => Math.round((sendAt ?? Number.NaN) - far.now))
  expect(later.slice(0, 2)).toEqual([800, 900])
  expect(later.at(-1)).toBeGreaterThan(near.now - far.now + 600)
})

test('a take brings the bodies of its claims along, each once, as far as they fit', async () => {
  const ids = [await writeLane(redis), await writeLane(redis)]
  const bodies = ['x', 'y'].map((text) => makeMessage(Date.now(), text.repeat(1_000)))
  await parkAll(lanes, ids, bodies)
  expect((await takeFrom(lanes, { deliveriesMax: 0, bodyBytesMax: 9_999 })).bodies).toBeUndefined()
  const taken = await takeFrom(lanes, { bodyBytesMax: 1_999 })
  const messageIds = claimsOf(taken).map(({ delivery }) => delivery.toString('latin1', 0, 16))
  expect(messageIds).toHaveLength(4)
  const brought = [...(taken.bodies ?? [])]
  expect(brought).toHaveLength(1)
  expect(messageIds).toContain(brought[0]?.[0])
  expect(bodies.map(({ body }) => body)).toContain(String(brought[0]?.[1]))
})

test("a subscription's own throttle stands over the topic's unless the topic forbids overrides", async () => {
  await writeSlice(redis, { rate: 4 })
  const id = await writeLane(redis, { rate: 1_000 })
  const figures = () => lanes.figures([{ subscriptionId: id, shard: SHARD }])
  expect(await figures()).toMatchObject([{ rate: 1_000 }])
  await redis.hset(`${BASE}slice:topic-uid.0`, 'ovr', '1')
  expect(await figures()).toMatchObject([{ rate: 4 }])
})

test('the rate of a customer lowers the throttle of subscription or topic, and never raises it', async () => {
  await writeSlice(redis, { rate: 4 })
  const id = await writeLane(redis)
  const rateWith = async (own: string, overrides = '') => {
    await redis.hset(laneKey(BASE, id), 'r', own)
    await redis.hset(`${BASE}slice:topic-uid.0`, 'ovr', overrides)
    return (await lanes.figures([{ subscriptionId: id, shard: SHARD }]))[0]?.rate
  }
  expect(await rateWith('<3')).toBe(3)
  expect(await rateWith('<9')).toBe(4)
  expect(await rateWith('10<0.5')).toBe(0.5)
  expect(await rateWith('10<50')).toBe(10)
  expect(await rateWith('10<50', '1')).toBe(4)
  await writeSlice(redis)
  expect(await rateWith('<50')).toBe(50)
})

test('an arrival time written before the clock was set back does not stop the lane', async () => {
  const id = await writeLane(redis, { rate: 10 })
  await parkAll(lanes, [id], messages(1))
  await redis.hset(laneKey(BASE, id), 'x', Date.now() + 3_600_000)
  await redis.zadd(dueKey(BASE), 0, id)
  const { nextDueAt, now } = await takeFrom(lanes)
  expect((nextDueAt ?? 0) - now).toBeLessThanOrEqual(350)
})

test('deliveries older than the retention are removed and counted', async () => {
  await writeSlice(redis, { retentionSeconds: 60 })
  const id = await writeLane(redis)
  const [old, failed, young] = [
    makeMessage(Date.now() - 61_000),
    makeMessage(Date.now() - 61_000),
    makeMessage(),
  ]
  await parkAll(lanes, [id], [old, young])
  await parkAll(lanes, [id], [failed], retried())
  const taken = await takeFrom(lanes)
  expect(claimsOf(taken).map(({ delivery }) => delivery)).toEqual([young.id])
  expect(taken.expired).toEqual([old, failed].map(({ id: delivery }) => ({ subscriptionId: id, delivery })))
  expect(await redis.hgetall(countsKey(BASE))).toEqual({ expired: '2' })
  expect(await Promise.all([old, failed].map((message) => referencesTo(redis, message)))).toEqual([0, 0])
})

test('a delivery outlives its topic’s retention for as long as its lane says', async () => {
  await writeSlice(redis, { retentionSeconds: 60 })
  const [long, short] = [await writeLane(redis, { floorSeconds: 90 }), await writeLane(redis)]
  const [old, tooOld] = [makeMessage(Date.now() - 75_000), makeMessage(Date.now() - 91_000)]
  await parkAll(lanes, [long, short], [old])
  await parkAll(lanes, [long], [tooOld])
  const taken = await takeFrom(lanes)
  const expired = [
    { subscriptionId: short, delivery: old.id },
    { subscriptionId: long, delivery: tooOld.id },
  ]
  expect(new Set(taken.expired)).toEqual(new Set(expired))
  expect(claimsOf(taken)).toMatchObject([{ subscriptionId: long, delivery: old.id }])
  expect(await redis.hgetall(countsKey(BASE))).toEqual({ expired: '2' })
})

test('a redriven delivery does not expire: it was brought back on purpose', async () => {
  await writeSlice(redis, { retentionSeconds: 60 })
  const id = await writeLane(redis)
  const old = makeMessage(Date.now() - 61_000)
  const entry = { subscriptionId: id, delivery: deliveryId(old.messageId, 1), message: 0, itemId: 'item' }
  await lanes.parkRedriven(SHARD, { task: 'task', fence: 1, batch: 1, messages: [old], entries: [entry] })
  expect(claimsOf(await takeFrom(lanes))).toMatchObject([{ delivery: entry.delivery, state: null }])
})

test('with a dead-letter queue it is claimed as dead instead, and takes no send time', async () => {
  await writeSlice(redis, { retentionSeconds: 60, rate: 1 })
  const id = await writeLane(redis, { deadLetters: true })
  const [old, young] = [makeMessage(Date.now() - 61_000), makeMessage()]
  await parkAll(lanes, [id], [old], retried())
  await parkAll(lanes, [id], [young])
  const taken = [...claimsOf(await takeFrom(lanes))]
  await redis.zadd(dueKey(BASE), 0, id)
  await skew(redis, 1_000)
  taken.push(...claimsOf(await takeFrom(lanes)))
  expect(taken.map(({ delivery, state, sendAt }) => [delivery, state, sendAt === null])).toEqual([
    [young.id, null, false],
    [old.id, { kind: 'dead', cause: 'expired', attempts: 1, statusCode: 500, error: null }, true],
  ])
})

test('a long line of expired deliveries behind a slow throttle is cleared without waiting for it', async () => {
  await writeSlice(redis, { retentionSeconds: 60, rate: 1 })
  const id = await writeLane(redis)
  await parkAll(
    lanes,
    [id],
    Array.from({ length: 300 }, () => makeMessage(Date.now() - 61_000)),
  )
  let expired = 0
  for (let i = 0; i < 5; i++) expired += (await takeFrom(lanes)).expired.length
  expect(expired).toBe(300)
  expect(await lanes.figures([{ subscriptionId: id, shard: SHARD }])).toMatchObject([{ waiting: 0 }])
})

test('the lane of a deleted subscription is discarded in steps and leaves no key behind', async () => {
  const id = await writeLane(redis)
  const parked = messages(600)
  await parkAll(lanes, [id], parked)
  await parkAll(lanes, [id], parked.slice(0, 1))
  await parkAll(lanes, [id], messages(600), retried(60_000))
  await deleteLane(redis, id)
  expect((await takeFrom(lanes)).discarded).toBe(1_000)
  expect(await takeFrom(lanes)).toMatchObject({ discarded: 200, lanes: [], nextDueAt: null })
  expect(await keysLeft(redis)).toEqual([])
  expect(await redis.hgetall(countsKey(BASE))).toEqual({ 'discarded:unsubscribed': '1200' })
})

test('a delivery in flight when its subscription was deleted is discarded when its lease ends', async () => {
  const id = await writeLane(redis)
  await parkAll(lanes, [id], messages(1))
  await takeFrom(lanes)
  await deleteLane(redis, id)
  expect((await takeFrom(lanes)).nextDueAt).toBeGreaterThan(Date.now() + 10_000)
  await skew(redis, 30_000)
  expect((await takeFrom(lanes)).discarded).toBe(1)
  expect(await keysLeft(redis)).toEqual([])
})

test('a due entry without a lane is forgotten', async () => {
  await redis.zadd(dueKey(BASE), 0, 'lost')
  expect(await takeFrom(lanes)).toMatchObject({ lanes: [], nextDueAt: null })
})

test('a lane whose throttle was very slow goes on soon after it gets a higher one', async () => {
  const id = await writeLane(redis, { rate: 0.01 })
  await parkAll(
    lanes,
    [id],
    Array.from({ length: 5 }, () => makeMessage(Date.now() - 1_000)),
  )
  expect(claimsOf(await takeFrom(lanes)).filter((claim) => claim.subscriptionId === id)).toHaveLength(1)
  await changeLane(redis, id, 'r', '10')
  let claimed = 0
  for (const ms of [400, 800, 1_200]) {
    await skew(redis, ms)
    claimed += claimsOf(await takeFrom(lanes)).filter((claim) => claim.subscriptionId === id).length
  }
  await skew(redis, 0)
  expect(claimed).toBe(4)
})
