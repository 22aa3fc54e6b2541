/**
 * Random histories of a slice whose bits pass from subscription to subscription. Each row, found message and event must
 * name the subscription that was there when the message was matched.
 */
import { createMessageId, type SubscriptionRecord } from '@fantail/contracts'
import { RANDOM_TIMEOUT_MS } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SliceFinder } from '../events/slice-finder.ts'
import { departedKey } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { Lanes } from '../lanes/lanes.ts'
import { placeOfSubscription } from '../records/subscriptions-id.ts'
import { newSubscription, topicName } from '../subscriptions/subscriptions.fixture.ts'
import { Subscriptions } from '../subscriptions/subscriptions.ts'
import { type SliceMoment, Snapshots } from '../topics/snapshots.ts'
import { Topics } from '../topics/topics.ts'
import type { DispatchEntry } from './dispatch-entry.ts'
import type { LaneEntry } from './outcome-entries.ts'
import { OutcomeLog } from './outcome-log.ts'
import { OutcomeSearch } from './search/outcome-search.ts'

const { redis } = await useRedis()
const topics = new Topics(redis)
const subscriptions = new Subscriptions(redis)
const snapshots = new Snapshots(redis)
const log = new OutcomeLog(redis, snapshots, new Lanes(redis), { queues: 1, entriesMax: 100_000 })
const search = new OutcomeSearch(redis, (id) => subscriptions.topicOf(id))

const STATES = ['delivered', 'deadLettered', 'filtered'] as const
type State = (typeof STATES)[number]

let names = 0

/** A topic with one slice, and what is expected of its messages. */
async function begin() {
  const arn = topicName(`history-${names++}`)
  await topics.put(arn, {})
  const subscribe = async (): Promise<SubscriptionRecord> =>
    (await subscriptions.create(newSubscription(arn, names, { name: `s${names++}` }))).subscription
  const anchor = await subscribe()
  const place = placeOfSubscription(anchor.id)
  if (!place) throw new Error('no place')
  return { arn, subscribe, slice: { sliceId: place.sliceId, shard: place.shard } }
}

/** A topic whose home is the shard. */
async function beginIn(shard: number) {
  while (shardOf(topicName(`history-${names}`)) !== shard) names++
  return begin()
}

function bitmapOf(bits: number[]): Buffer {
  const bytes = Buffer.alloc(8)
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7))
  return bytes
}

/** Logs what one start of a job did with all present subscriptions. Returns the state of each. */
async function dispatch(arn: string, slice: SliceMoment, messageId: string, choose: (bit: number) => State) {
  const data = await snapshots.slice(slice)
  if (!data) throw new Error('no slice')
  const states = new Map(data.subscriptions.map((record) => [record, choose(record.bit)]))
  const bitsOf = (state: State) => bitmapOf([...states].flatMap(([r, own]) => (own === state ? [r.bit] : [])))
  const entry: DispatchEntry = {
    messageId,
    topicArn: arn,
    sizeBytes: 1,
    slice: { ...slice, departures: data.departures ?? 0 },
    delivered: bitsOf('delivered'),
    otherCodes: [],
    parked: bitsOf('deadLettered'),
    filtered: bitsOf('filtered'),
    failures: [],
  }
  const dead = [...states].filter(([, state]) => state === 'deadLettered')
  await log.append({ dispatch: [entry], lanes: dead.map(([{ id }]) => deadEnd(messageId, id)) })
  return { entry, states }
}

const deadEnd = (messageId: string, subscriptionId: string): LaneEntry => ({
  messageId,
  subscriptionId,
  generation: 0,
  outcome: 'deadLettered',
  reason: 'permanent',
  attempts: 1,
  statusCode: 404,
  error: null,
})

const RANK: Record<State, number> = { delivered: 2, deadLettered: 1, filtered: 0 }

type Step =
  | { do: 'subscribe' }
  | { do: 'leave'; pick: number }
  | { do: 'publish'; seed: number; again: boolean }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('subscribe' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('leave' as const), pick: fc.nat({ max: 9 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('publish' as const),
      seed: fc.nat({ max: 26 }),
      again: fc.boolean(),
    }),
  },
)

async function checkHistory(steps: Step[]): Promise<void> {
  const { arn, subscribe, slice } = await begin()
  const present: SubscriptionRecord[] = []
  const told = new Map<string, Map<string, State>>()
  const entries: { entry: DispatchEntry; byBit: Map<number, string> }[] = []
  let messageId = ''
  for (const one of steps) {
    if (one.do === 'subscribe' && present.length < 4) present.push(await subscribe())
    if (one.do === 'leave' && present.length > 0) {
      const [left] = present.splice(one.pick % present.length, 1)
      await subscriptions.delete(left?.id ?? '')
    }
    if (one.do !== 'publish') continue
    if (!one.again || messageId === '') messageId = createMessageId(Date.now())
    const choose = (bit: number) => STATES[Math.floor(one.seed / 3 ** (bit % 3)) % 3] ?? 'delivered'
    const { entry, states } = await dispatch(arn, slice, messageId, choose)
    entries.push({ entry, byBit: new Map([...states].map(([{ bit, id }]) => [bit, id])) })
    const rows = told.get(messageId) ?? new Map<string, State>()
    for (const [{ id }, state] of states)
      if (RANK[state] >= RANK[rows.get(id) ?? 'filtered']) rows.set(id, state)
    told.set(messageId, rows)
  }
  const check = async () => {
    await checkRows(told)
    const all = new Set([...told.values()].flatMap((rows) => [...rows.keys()]))
    for (const id of all) await checkFound(arn, id, told)
    const finder = new SliceFinder(snapshots)
    for (const { entry, byBit } of entries) {
      const found = await finder.byBits(entry.slice ?? slice, [...byBit.keys()])
      expect(found.map(({ subscriptionId }) => subscriptionId)).toEqual([...byBit.values()])
    }
  }
  await check()
  await topics.delete(arn)
  await check()
}

async function checkRows(told: Map<string, Map<string, State>>): Promise<void> {
  for (const [id, expected] of told) {
    const rows = (await log.deliveries(id)) ?? []
    expect(new Map(rows.map(({ subscriptionId, state }) => [subscriptionId, state]))).toEqual(expected)
    expect(rows.every(({ subscriptionName }) => subscriptionName !== null)).toBe(true)
  }
}

/** The search for a subscription, perhaps a deleted one, finds the messages that were matched with it, and no other. */
async function checkFound(topicArn: string, id: string, told: Map<string, Map<string, State>>) {
  const subscription = await subscriptions.bitOf(id)
  if (!subscription) throw new Error(`the bit of ${id} is not known`)
  const { messages } = await search.find({ topicArn, subscription, limit: 1_000, isVisible: () => true })
  const expected = [...told].flatMap(([messageId, rows]) => (rows.has(id) ? [messageId] : []))
  expect(new Set(messages.map(({ messageId }) => messageId))).toEqual(new Set(expected))
}

test('every delivery belongs to the subscription that it was made for', {
  timeout: RANDOM_TIMEOUT_MS,
}, async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), checkHistory), {
    numRuns: 20,
  })
})

test('after many departures the oldest names are forgotten, and their ends are not', async () => {
  const { arn, subscribe, slice } = await begin()
  const [dead, delivered] = [await subscribe(), await subscribe()]
  const choose = (bit: number): State => (bit === dead.bit ? 'deadLettered' : 'delivered')
  const { entry } = await dispatch(arn, slice, createMessageId(Date.now()), choose)
  for (const { id } of [dead, delivered]) await subscriptions.delete(id)
  const shown = async () => {
    const rows = (await log.deliveries(entry.messageId)) ?? []
    return rows.map(({ subscriptionId, state, attempts }) => [subscriptionId, state, attempts]).slice(1)
  }
  expect(await shown()).toEqual([
    [delivered.id, 'delivered', 1],
    [dead.id, 'deadLettered', 1],
  ])
  const many = await Promise.all(Array.from({ length: 499 }, subscribe))
  await Promise.all(many.map(({ id }) => subscriptions.delete(id)))
  await subscriptions.delete((await subscribe()).id)
  expect((await snapshots.former(slice)).length).toBe(500)
  // An entry of a lane has the id of its subscription, a first attempt only the bit.
  expect(await shown()).toEqual([
    [null, 'delivered', 1],
    [dead.id, 'deadLettered', 1],
  ])
})

test('a shard forgets the subscriptions of deleted topics, the oldest first, when it has too many', async () => {
  const { arn, subscribe, slice } = await begin()
  const { id } = await subscribe()
  await topics.delete(arn)
  expect(await subscriptions.bitOf(id)).toMatchObject({ id, topicArn: arn })
  // Stands for topics that were deleted later.
  const base = shardBase(slice.shard)
  const before = await redis.zscore(`${base}departed:slices`, slice.sliceId)
  await redis.zadd(`${base}departed:slices`, Number(before) + 2_499, 'later.0')
  const next = await beginIn(slice.shard)
  await topics.delete(next.arn)
  expect(await redis.zrange(`${base}departed:slices`, '0', '-1')).toEqual(['later.0', next.slice.sliceId])
  expect(await redis.exists(departedKey(base, slice.sliceId))).toBe(0)
  expect(await subscriptions.bitOf(id)).toBeNull()
})

test('deliveries that waited when their subscription left were discarded, and purged ones stay purged', async () => {
  const { arn, subscribe, slice } = await begin()
  const record = await subscribe()
  const choose = (bit: number): State => (bit === record.bit ? 'deadLettered' : 'filtered')
  const parked = async () => {
    const messageId = createMessageId(Date.now())
    const { entry } = await dispatch(arn, slice, createMessageId(Date.now()), choose)
    await log.append({ dispatch: [{ ...entry, messageId }], lanes: [] })
    return messageId
  }
  const before = await parked()
  await new Lanes(redis).purge(slice.shard, record.id)
  const [seconds, micros] = await redis.time()
  const purgedAt = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)
  const after = createMessageId(purgedAt + 1_000)
  const { entry } = await dispatch(arn, slice, createMessageId(Date.now()), choose)
  await log.append({ dispatch: [{ ...entry, messageId: after }], lanes: [] })
  await subscriptions.delete(record.id)
  for (const [messageId, reason] of [
    [before, 'purged'],
    [after, 'unsubscribed'],
  ] as const) {
    const rows = (await log.deliveries(messageId)) ?? []
    const row = rows.find(({ subscriptionId }) => subscriptionId === record.id)
    expect(row).toMatchObject({ state: 'discarded', reason, subscriptionName: record.name, endpoint: null })
  }
})
