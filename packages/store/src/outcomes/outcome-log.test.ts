/** Look-ups of deliveries that move between lane and log during the look-up. */
import { publishedAtOf, type SubscriptionRecord, type TopicRecord } from '@fantail/contracts'
import { beforeEach, expect, test } from 'vitest'
import { laneKey } from '../keys/keys.ts'
import {
  BASE,
  claimsOf,
  type LaneSettings,
  makeMessage,
  parkAll,
  SHARD,
  SLICE,
  takeFrom,
  writeLane,
} from '../lanes/lane.fixture.ts'
import { useLanes } from '../lanes/lanes.fixture.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { deliveryId } from '../lanes/records/generations.ts'
import type { RetryState } from '../lanes/records/lane-records.ts'
import { IsolatedMessages } from '../quarantine/isolated-messages.ts'
import { Quarantine } from '../quarantine/quarantine.ts'
import type { LaneEntry } from './outcome-entries.ts'
import { OutcomeLog } from './outcome-log.ts'
import type { UnsentSources } from './unsent-rows.ts'

const TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders'
const { redis, lanes } = await useLanes({ retentionSeconds: 60 })
let id: string

beforeEach(async () => {
  id = await writeLane(redis)
})

type Asked = Pick<Lanes, 'deliveryStates'>

/** A log for a topic with one subscription, and a message in the subscription's lane. */
async function parked(asked: Asked = lanes, unsent?: UnsentSources) {
  const subscription = { id, bit: 0, createdAt: 0, endpoint: 'https://example.com/' } as SubscriptionRecord
  const slice = { sliceId: SLICE, shard: SHARD }
  const snapshots = {
    slice: async () => ({ ...slice, revision: '', topic: {} as TopicRecord, subscriptions: [subscription] }),
    former: async () => [],
  }
  const log = new OutcomeLog(redis, snapshots, asked, {
    queues: 1,
    entriesMax: 100,
    ...(unsent && { unsent }),
  })
  const message = makeMessage()
  await parkAll(lanes, [id], [message])
  const none = Buffer.alloc(0)
  const told = {
    topicArn: TOPIC,
    sizeBytes: 1,
    slice,
    delivered: none,
    filtered: none,
    otherCodes: [],
    failures: [],
  }
  const { messageId } = message
  await log.append({ dispatch: [{ messageId, ...told, parked: Buffer.from([1]) }], lanes: [] })
  return { log, messageId }
}

async function settleOnly(): Promise<void> {
  const [claim] = claimsOf(await takeFrom(lanes))
  if (!claim) throw new Error('nothing was due')
  await lanes.settle(SHARD, [{ ...claim, to: { op: 'delivered' } }])
}

const delivered = (messageId: string): LaneEntry => ({
  messageId,
  subscriptionId: id,
  generation: 0,
  outcome: 'delivered',
  reason: null,
  attempts: 3,
  statusCode: 200,
  error: null,
})

test('a delivery is waiting, in flight, or as its entry says', async () => {
  const { log, messageId } = await parked()
  const state = async () => (await log.deliveries(messageId))?.[0]?.state
  expect(await state()).toBe('waiting')
  const [claim] = claimsOf(await takeFrom(lanes))
  expect(await state()).toBe('inFlight')
  if (claim) await lanes.settle(SHARD, [{ ...claim, to: { op: 'delivered' } }])
  await log.append({ dispatch: [], lanes: [delivered(messageId)] })
  expect(await log.deliveries(messageId)).toMatchObject([{ state: 'delivered', attempts: 3, reason: null }])
})

test('an ended delivery whose entry is on its way is shown by that entry', async () => {
  let looks = 0
  const { log, messageId } = await parked({
    async deliveryStates(shard, items) {
      const states = await lanes.deliveryStates(shard, items)
      looks += 1
      if (looks === 2) await log.append({ dispatch: [], lanes: [delivered(messageId)] })
      return states
    },
  })
  await settleOnly()
  expect(await log.deliveries(messageId)).toMatchObject([{ state: 'delivered', attempts: 3, reason: null }])
  expect(looks).toBe(3)
  expect((await log.message(messageId))?.counts).toMatchObject({ delivered: 1, waiting: 0, discarded: 0 })
})

test('purged deliveries are shown as purged, later ones are not', async () => {
  const { log, messageId } = await parked()
  expect(await lanes.purge(SHARD, id)).toBe(1)
  expect(await log.deliveries(messageId)).toMatchObject([{ state: 'discarded', reason: 'purged' }])
  const next = makeMessage(Date.now() + 1_000)
  const [where] = await lanes.deliveryStates(SHARD, [{ subscriptionId: id, delivery: next.id }])
  expect(where?.where).toBe('absent')
  expect(where?.purgedAt).toBeLessThanOrEqual(publishedAtOf(next.messageId))
})

test('an end without an entry is shown as unknown', async () => {
  const { log, messageId } = await parked()
  await settleOnly()
  expect(await log.deliveries(messageId)).toMatchObject([{ state: 'discarded', reason: 'unknown' }])
})

test.each(['after', 'before', 'without'])(
  'a dead letter that was removed because the queue was full is discarded, its entry %s that of the delivery',
  async (order) => {
    const { log, messageId } = await parked()
    await settleOnly()
    const dead: LaneEntry = {
      ...delivered(messageId),
      outcome: 'deadLettered',
      reason: 'permanent',
      statusCode: 410,
    }
    const gone: LaneEntry = { ...dead, outcome: 'discarded', reason: 'deadLetterQuota', attempts: 0 }
    const written = { after: [dead, gone], before: [gone, dead], without: [gone] }[order] ?? []
    for (const entry of written) await log.append({ dispatch: [], lanes: [entry] })
    expect(await log.deliveries(messageId)).toMatchObject([
      {
        state: 'discarded',
        reason: 'deadLetterQuota',
        cause: 'deadLetterQuota',
        attempts: order === 'without' ? 0 : 3,
        lastStatusCode: 410,
      },
    ])
    expect((await log.message(messageId))?.counts).toMatchObject({ deadLettered: 0, discarded: 1 })
    const again: LaneEntry = { ...dead, generation: 1, attempts: 2 }
    await log.append({ dispatch: [], lanes: [again] })
    expect(await log.deliveries(messageId)).toMatchObject([
      { state: 'deadLettered', redrives: 1, attempts: 2 },
    ])
  },
)

test('a quarantined delivery counts once, and has its endpoint', async () => {
  const quarantine = new Quarantine(redis)
  const { log, messageId } = await parked(lanes, { quarantine, isolated: new IsolatedMessages(redis) })
  const entry = { reason: 'bodyUnreadable', detail: 'torn', raw: '{', topicArn: TOPIC } as const
  await quarantine.add({ ...entry, id: 'delivery', messageId, subscriptionId: id })
  const [claim] = claimsOf(await takeFrom(lanes))
  if (claim) await lanes.settle(SHARD, [{ ...claim, to: { op: 'quarantined' } }])
  expect(await log.deliveries(messageId)).toMatchObject([
    { subscriptionId: id, state: 'quarantined', endpoint: 'https://example.com/', reason: 'bodyUnreadable' },
  ])
  expect((await log.message(messageId))?.counts).toMatchObject({ quarantined: 1, discarded: 0 })
})

test('a message is found where FANTAIL_QUEUES was another number when it was dispatched', async () => {
  const { messageId } = await parked()
  const snapshots = { slice: async () => null, former: async () => [] }
  for (const queues of [1, 2, 7, 64]) {
    const log = new OutcomeLog(redis, snapshots, lanes, { queues, entriesMax: 100 })
    expect(await log.message(messageId)).toMatchObject({ messageId, topicArn: TOPIC })
    expect(await log.message(makeMessage().messageId)).toBeNull()
  }
})

test('an ended delivery says when its end was stored; one that waits or has no entry does not', async () => {
  const { log, messageId } = await parked()
  const endedAt = async () => (await log.deliveries(messageId))?.map((row) => row.endedAt)
  expect(await endedAt()).toEqual([null])
  await settleOnly()
  expect(await endedAt()).toEqual([null])
  const [before] = await redis.time()
  await log.append({ dispatch: [], lanes: [delivered(messageId)] })
  const [after] = await redis.time()
  const [at] = (await endedAt()) ?? []
  expect(at).toBeGreaterThanOrEqual(Number(before) * 1_000)
  expect(at).toBeLessThan((Number(after) + 1) * 1_000)
})

test('a redriven delivery has one row, with its latest end, and counts once', async () => {
  const { log, messageId } = await parked()
  await settleOnly()
  const dead = { ...delivered(messageId), outcome: 'deadLettered', reason: 'permanent' } as const
  await log.append({ dispatch: [], lanes: [dead] })
  expect(await log.deliveries(messageId)).toMatchObject([{ state: 'deadLettered', redrives: 0 }])
  await log.append({ dispatch: [], lanes: [{ ...dead, generation: 1 }] })
  await log.append({ dispatch: [], lanes: [{ ...delivered(messageId), generation: 2 }] })
  const endpoint = 'https://example.com/'
  expect(await log.deliveries(messageId)).toEqual([
    expect.objectContaining({ subscriptionId: id, endpoint, state: 'delivered', reason: null, redrives: 2 }),
  ])
  expect((await log.message(messageId))?.counts).toMatchObject({ delivered: 1, deadLettered: 0 })
})

test('a redriven delivery that waits again is shown as waiting, with the reason of its death', async () => {
  const { log, messageId } = await parked()
  await settleOnly()
  const dead = {
    ...delivered(messageId),
    outcome: 'deadLettered',
    reason: 'permanent',
    statusCode: 404,
  } as const
  await log.append({ dispatch: [], lanes: [dead] })
  const entry = {
    subscriptionId: id,
    delivery: deliveryId(messageId, 1),
    message: 0,
    park: { as: 'fresh' },
  } as const
  const messages = [{ id: deliveryId(messageId), body: '{}' }]
  await lanes.park(SHARD, { messages, jobs: [{ jobName: '', fence: 0, fields: [], entries: [entry] }] })
  expect(await log.deliveries(messageId)).toMatchObject([
    { subscriptionId: id, state: 'waiting', attempts: 0, lastStatusCode: 404, reason: null, redrives: 1 },
  ])
  expect((await log.message(messageId))?.counts).toMatchObject({ waiting: 1, deadLettered: 0 })
})

test('a redriven delivery of a subscription that is gone meanwhile has one row, too', async () => {
  const { log, messageId } = await parked()
  await settleOnly()
  const other = { ...delivered(messageId), subscriptionId: 'gone' }
  const dead = { ...other, outcome: 'deadLettered', reason: 'permanent' } as const
  await log.append({ dispatch: [], lanes: [{ ...dead, generation: 1 }] })
  await log.append({ dispatch: [], lanes: [{ ...other, generation: 2 }] })
  const rows = (await log.deliveries(messageId))?.filter(({ subscriptionId }) => subscriptionId === 'gone')
  expect(rows).toMatchObject([{ endpoint: null, state: 'delivered', redrives: 2 }])
})

/** The row of the only delivery while its lane has these settings. */
async function rowWith(settings: LaneSettings, retry?: RetryState) {
  const { log, messageId } = await parked()
  if (retry) {
    const [claim] = claimsOf(await takeFrom(lanes))
    if (!claim) throw new Error('nothing was due')
    await lanes.settle(SHARD, [{ ...claim, to: { op: 'retry', delayMs: 20_000, state: retry } }])
  }
  await writeLane(redis, settings, id)
  const [row] = (await log.deliveries(messageId)) ?? []
  return row
}

const failed: RetryState = {
  kind: 'retry',
  attempts: 1,
  statusCode: 503,
  error: null,
  why: { cause: 'retryAfter', delayMs: 20_000 },
}

test('a delivery that waits says what its lane makes it wait for', async () => {
  expect(await rowWith({})).toMatchObject({ cause: 'capacity', delayMs: null, attemptsMax: 4 })
  expect(await rowWith({ paused: true })).toMatchObject({ cause: 'paused', nextAttemptAt: null })
  expect(await rowWith({ rate: 1 })).toMatchObject({ cause: 'throttle', delayMs: null })
  await redis.hdel(laneKey(BASE, id), 'a')
  expect(await rowWith({ proven: false })).toMatchObject({ cause: 'unprovenEndpoint' })
})

test('a delivery that waits for a retry says what was decided, in the lane and after it', async () => {
  const decided = { cause: 'retryAfter', delayMs: 20_000, attempts: 1, lastStatusCode: 503 }
  expect(await rowWith({}, failed)).toMatchObject(decided)
  // The retry is due later than the throttle's next send time.
  expect(await rowWith({ rate: 100 }, failed)).toMatchObject(decided)
  expect(await rowWith({ paused: true }, failed)).toMatchObject({ cause: 'paused', attempts: 1 })
})

test('under an open circuit a delivery waits for the next probe', async () => {
  await redis.hset(laneKey(BASE, id), 'mu', Date.now() + 60_000)
  const row = await rowWith({ mode: '- 1 60000' }, failed)
  expect(row).toMatchObject({ cause: 'circuitOpen' })
  expect(row?.nextAttemptAt).toBeGreaterThan(Date.now() + 50_000)
})

test('a retry that an operator asked for at once no longer says what was decided before', async () => {
  const { log, messageId } = await parked()
  const [claim] = claimsOf(await takeFrom(lanes))
  if (claim) await lanes.settle(SHARD, [{ ...claim, to: { op: 'retry', delayMs: 20_000, state: failed } }])
  expect(await lanes.retryNow(SHARD, id)).toBe(1)
  expect(await log.deliveries(messageId)).toMatchObject([
    { cause: 'retryNow', delayMs: null, attempts: 1, lastStatusCode: 503 },
  ])
})

test('an end says its cause, and what was redriven that it was', async () => {
  const { log, messageId } = await parked()
  await settleOnly()
  const row = async (entry: Partial<LaneEntry>) => {
    await log.append({ dispatch: [], lanes: [{ ...delivered(messageId), ...entry }] })
    return (await log.deliveries(messageId))?.[0]
  }
  const why = { cause: 'backoff', delayMs: 7_000 } as const
  expect(await row({ generation: 1, why })).toMatchObject({ cause: 'backoff', delayMs: 7_000 })
  expect(await row({ generation: 2, attempts: 1 })).toMatchObject({ cause: 'redrive', delayMs: null })
  const dead = { generation: 3, outcome: 'deadLettered', reason: 'retriesExhausted' } as const
  expect(await row(dead)).toMatchObject({ cause: 'retriesExhausted', delayMs: null })
})

test('a message that event types alone left out has another cause than one that a filter may have', async () => {
  const settings = [
    { eventTypes: ['a'] },
    { filterPolicy: { a: ['b'] } },
    { eventTypes: ['a'], filterPolicy: {} },
  ]
  const subscriptions = settings.map(
    (set, bit) =>
      ({ id: `${bit}`, bit, createdAt: 0, endpoint: 'x', ...set }) as unknown as SubscriptionRecord,
  )
  const slice = { sliceId: SLICE, shard: SHARD }
  const snapshots = {
    slice: async () => ({ ...slice, revision: '', topic: {} as TopicRecord, subscriptions }),
    former: async () => [],
  }
  const log = new OutcomeLog(redis, snapshots, lanes, { queues: 1, entriesMax: 100 })
  const { messageId } = makeMessage()
  const none = Buffer.alloc(0)
  const bits = { delivered: none, parked: none, filtered: Buffer.from([7]), otherCodes: [], failures: [] }
  await log.append({ dispatch: [{ messageId, topicArn: TOPIC, sizeBytes: 1, slice, ...bits }], lanes: [] })
  expect((await log.deliveries(messageId))?.map(({ cause }) => cause)).toEqual([
    'eventTypes',
    'filterPolicy',
    'filterPolicy',
  ])
})
