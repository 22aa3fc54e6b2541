import { randomUUID } from 'node:crypto'
import { createMessageId } from '@fantail/contracts'
import { type ClaimedLane, NUMBER, type TakeRequest, type TakeResult } from '@fantail/store'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AttemptSlots } from '../capacity/attempt-slots.ts'
import { ShardClocks } from '../clocks/shard-clocks.ts'
import { MessageContext } from '../messages/message-context.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import { LaneLoop } from './lane-loop.ts'

const TRIP_MS = 500
const SHARD = 7
const BODY = new MessageContext({
  messageId: createMessageId(1),
  topicArn: 'arn',
  publishedAt: 1,
  message: '',
})

// Time passes only if a test says so, however busy the machine is.
const FAKED = ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setImmediate'] as const
beforeEach(() => void vi.useFakeTimers({ toFake: [...FAKED] }))
afterEach(() => void vi.useRealTimers())
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** A loop whose takes are answered after a round trip. Their claims have been taken out before they are handed on. */
function createLoop(tripMs: number) {
  const clocks = new ShardClocks()
  clocks.report(SHARD, clocks.now(), performance.now() - tripMs)
  const asked: TakeRequest[] = []
  const lane: ClaimedLane = {
    subscriptionId: randomUUID(),
    sliceId: '',
    sliceRevision: '',
    proven: true,
    claims: [],
  }
  /** `look`: lanes that a take finds besides. */
  const redis = { lanes: [lane], look: (_: TakeRequest): ClaimedLane[] => [] }
  const slots = new AttemptSlots({ attemptsMax: 100 })
  const take = async (_: number, request: TakeRequest): Promise<TakeResult> => {
    asked.push(request)
    const lanes = [...redis.lanes, ...redis.look(request)]
    await new Promise((resolve) => setTimeout(resolve, tripMs))
    const nextDueAt = lanes.length > 0 ? clocks.now() : null
    const nothing = { nextUnprovenAt: null, expired: [], discarded: 0, logs: [], unreadable: [] }
    return { now: Math.floor(clocks.now()), nextDueAt, lanes, ...nothing }
  }
  const options = {
    lanes: { take },
    clocks,
    slots,
    bytes: { attemptsLeft: () => 100, load: () => ({ end: () => undefined }) },
    bodies: { get: async (_: number, deliveries: Buffer[]) => deliveries.map(() => BODY) },
    snapshots: { slice: async () => null },
    readers: { capacity: 0, read: () => undefined },
    batches: { limit: () => undefined, unprovenClaims: () => undefined },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    attemptTimeoutMs: 1_000,
  }
  const loop = new LaneLoop(options as unknown as ConstructorParameters<typeof LaneLoop>[0])
  return { loop, asked, redis, clocks, slots, lane }
}

test('while round trips are long, takes of a shard run side by side for as long as they find deliveries', async () => {
  const { loop, asked, redis, clocks } = createLoop(TRIP_MS)
  loop.dueAt(SHARD, clocks.now())
  await pass(TRIP_MS - 1)
  expect(asked.length).toBe(1)
  await pass(10 * TRIP_MS)
  expect(asked.length).toBeGreaterThanOrEqual(38)
  expect(asked.length).toBeLessThanOrEqual(42)
  expect(loop.takes.running).toBe(4)
  expect(asked.at(-1)).toMatchObject({ tripMs: TRIP_MS, othersMax: 1, bodyBytesMax: expect.any(Number) })
  redis.lanes = []
  await pass(3 * TRIP_MS)
  const { total } = loop.takes
  await pass(10 * TRIP_MS)
  expect(loop.takes).toEqual({ running: 0, total })
})

test('while round trips are long, unproven endpoints do not wait for a shard that is always taken from', async () => {
  const { loop, asked, redis, clocks } = createLoop(TRIP_MS)
  loop.dueAt(SHARD, clocks.now())
  await pass(2 * TRIP_MS)
  for (const shard of [SHARD, SHARD + 1, SHARD + 2]) loop.unprovenAt(shard, clocks.now())
  await pass(10)
  expect(asked.filter(({ unprovenMax = 0 }) => unprovenMax > 0).length).toBe(3)
  redis.lanes = []
  await Promise.all([loop.stop(), pass(3 * TRIP_MS)])
})

test('while round trips are long, a lane gets claims although takes with capacity for it did not reach it', async () => {
  const tripMs = TRIP_MS + 20
  const answersInMs = 400
  const { loop, redis, clocks, slots } = createLoop(tripMs)
  const id = randomUUID()
  slots.acquire(id, 32)
  slots.release(id, 32, answersInMs)
  const claims = [{ delivery: Buffer.alloc(16), lease: '1', sendAt: null, state: null }]
  const lane = { subscriptionId: id, sliceId: '', sliceRevision: '', proven: true, claims }
  let dueAt = Number.NEGATIVE_INFINITY
  // The same as the script: a lane that is full for this worker is due again a little later.
  redis.look = ({ limits, othersMax, tripMs: trip = 0 }) => {
    const now = Math.floor(clocks.now())
    if (dueAt > now) return []
    const isFull = (limits.get(id) ?? othersMax) === 0
    dueAt = isFull ? now + Math.floor(trip / NUMBER.DISTANT_TAKES) + 0.5 : Number.POSITIVE_INFINITY
    return isFull ? [] : [lane]
  }
  loop.dueAt(SHARD, clocks.now())
  await pass(3 * tripMs)
  for (let round = 0; round < 20; round++) {
    expect(dueAt, `after ${round} deliveries`).toBe(Number.POSITIVE_INFINITY)
    const waitMs = round * 37
    dueAt = clocks.now() + waitMs
    await pass(waitMs + answersInMs + 2 * tripMs)
  }
  redis.lanes = []
  await Promise.all([loop.stop(), pass(3 * tripMs)])
})

test('near Redis a shard has one take at a time, which brings no bodies along', async () => {
  const { loop, asked, clocks } = createLoop(1)
  loop.dueAt(SHARD, clocks.now())
  await pass(20)
  expect(loop.takes.running).toBeLessThanOrEqual(1)
  expect(asked.length).toBeGreaterThan(5)
  expect(asked.find(({ tripMs, bodyBytesMax }) => tripMs || bodyBytesMax)).toBeUndefined()
  await Promise.all([loop.stop(), pass(20)])
})

test('a lane in the line that was passed over is looked at again when a first attempt to its endpoint ends', async () => {
  const { loop, asked, redis, clocks, slots, lane } = createLoop(1)
  redis.lanes = []
  const subscription = { shard: SHARD, record: { id: lane.subscriptionId } } as CompiledSubscription
  const other = { shard: SHARD, record: { id: randomUUID() } } as CompiledSubscription
  for (const { record } of [subscription, other]) while (slots.acquire(record.id, 10));
  loop.unprovenAt(SHARD, clocks.now())
  await pass(20)
  expect(asked.map(({ limits }) => limits.get(lane.subscriptionId))).toEqual([0])
  slots.release(lane.subscriptionId, 10, undefined)
  loop.capacityFreed()
  await pass(500)
  expect(asked).toHaveLength(1)
  loop.capacityFreed(subscription)
  await pass(60)
  loop.capacityFreed(other)
  await pass(60)
  expect(asked).toHaveLength(2)
  loop.capacityFreed(subscription)
  await pass(500)
  expect(asked.map(({ limits }) => limits.get(lane.subscriptionId))).toEqual([0, 1])
  await Promise.all([loop.stop(), pass(20)])
})
