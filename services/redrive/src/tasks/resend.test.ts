/** Resends of kept messages. */
import { createMessageId, FantailError, type Message, parseMessageId, topicArn } from '@fantail/contracts'
import { bodySealsOf } from '@fantail/delivery'
import { deliveryId, jobText, type LaneEntry, type LaneOutcome, messageBody } from '@fantail/store'
import { crashing } from '@fantail/test-kit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { drainLanes, type Fixture, startFixture, storesOn, subscribe } from '../redrive.fixture.ts'
import { FilterMatches } from './filter-matches.ts'
import { runTask } from './run-task.ts'

const TOPIC = topicArn('orders')
const never = new AbortController().signal
let fixture: Fixture
let subscription: { id: string; arn: string }

beforeAll(async () => {
  fixture = await startFixture()
})
beforeEach(() => begin())
afterAll(() => fixture.stop())

async function begin(): Promise<void> {
  await fixture.reset()
  await fixture.topics.patch(TOPIC, { keepMessages: { seconds: 3_600, bytes: 10_485_760 } })
  const id = await subscribe(fixture)
  subscription = { id, arn: `${TOPIC}:${id}` }
}

/** Puts messages into the topic's ring. Returns their ids. */
async function keep(count: number, set: (n: number) => Partial<Message> = () => ({})): Promise<string[]> {
  const uid = (await fixture.topics.get(TOPIC))?.uid ?? ''
  const made = Array.from({ length: count }, (_, n): Message => {
    const publishedAt = Date.now()
    const messageId = createMessageId(publishedAt)
    return { messageId, topicArn: TOPIC, publishedAt, message: `text ${n}`, ...set(n) }
  })
  await fixture.kept.keep(
    made.map((message) => {
      const id = parseMessageId(message.messageId) ?? Buffer.alloc(0)
      return { arn: TOPIC, uid, id, body: messageBody(message) }
    }),
  )
  return made.map(({ messageId }) => messageId)
}

/** Puts a job into the ring whole, as workers do. Returns the ids of its messages. */
async function keepJob(count: number): Promise<string[]> {
  const uid = (await fixture.topics.get(TOPIC))?.uid ?? ''
  const publishedAt = Date.now()
  const made = Array.from({ length: count }, (_, n): Message => {
    return { messageId: createMessageId(publishedAt), topicArn: TOPIC, publishedAt, message: `of job ${n}` }
  })
  const messages = made.map((message) => {
    const id = parseMessageId(message.messageId) ?? Buffer.alloc(0)
    return { arn: TOPIC, uid, id, body: messageBody(message) }
  })
  const record = `ft:{job}:${made[0]?.messageId}`
  await fixture.redis.hset(record, {
    timestamp: publishedAt,
    ats: 1,
    data: jobText(made),
  })
  const job = { arn: TOPIC, uid, record, name: record, addedAt: publishedAt, copies: true, messages }
  expect(await fixture.kept.keepJobs([job])).toEqual([])
  return made.map(({ messageId }) => messageId)
}

const create = (since = 0) =>
  fixture.redrives.createResend({ subscriptionArn: subscription.arn, since, maxMessagesPerSecond: null })

/** The messages that the subscription got, in order. */
async function received(): Promise<string[]> {
  await drainLanes(fixture)
  return fixture.delivered.map((text) => text.split(' ')[1] ?? '')
}

test('a subscription gets every kept message since a time once more, as deliveries of one new generation', async () => {
  const ids = await keep(250)
  const task = await create()
  expect(task).toMatchObject({ status: 'running', matched: 250, source: subscription.arn })
  await keep(5)
  expect(await runTask(fixture, task.id, never)).toBe('completed')
  expect(await fixture.redrives.get(task.id)).toMatchObject({ moved: 250, skipped: 0 })
  expect((await received()).sort()).toEqual(ids.sort())
  expect(new Set(fixture.delivered.map((text) => Number(text.split(' ')[2])))).toEqual(
    new Set([task.startedAt * 64]),
  )
  expect(await create(Date.now() + 60_000)).toMatchObject({ matched: 0 })
})

test('a resend whose order was changed sends nothing', async () => {
  await keep(2)
  const { id } = await create(Date.now() - 60_000)
  const [key = ''] = await fixture.redis.keys(`*redrive:${id}`)
  const stored = (await fixture.redis.hget(key, 'filter')) ?? ''
  await fixture.redis.hset(key, 'filter', stored.replace(/\d/, '0'))
  await expect(runTask(fixture, id, never)).rejects.toThrow('unreadable JSON')
  expect(await received()).toEqual([])
  expect(await fixture.redrives.cancel(id)).toMatchObject({ status: 'canceled' })
})

test('the filter of the subscription and the bounds of the task decide what is sent', async () => {
  const attributesOf = (n: number) => ({
    attributes: {
      size: { type: 'Number', value: String(n) },
      eventType: { type: 'String', value: n === 7 ? 'order.lost' : 'order.paid' },
    },
  })
  const ids = await keep(10, (n) => ({ ...attributesOf(n), publishedAt: 1_000 * n }))
  await fixture.subscriptions.update(subscription.id, () => ({
    filterPolicy: { size: [{ numeric: ['>', 4] }] },
    eventTypes: ['order.paid'],
  }))
  const bounds = { since: 3_000, until: 7_000 }
  const task = await fixture.redrives.createResend({
    subscriptionArn: subscription.arn,
    maxMessagesPerSecond: null,
    ...bounds,
  })
  await runTask(fixture, task.id, never)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ moved: 2, skipped: 8, matched: 10 })
  expect((await received()).sort()).toEqual(ids.slice(5, 7).sort())
})

test('sealed messages are resent as they are, and wait for the key only if a filter asks for their content', async () => {
  const ids = await keep(2, () => ({ message: '', sealed: 'c2VhbGVk' }))
  await runTask(fixture, (await create()).id, never)
  expect((await received()).sort()).toEqual(ids.sort())
  await fixture.subscriptions.update(subscription.id, () => ({ filterPolicy: { size: ['large'] } }))
  const { id } = await create()
  await expect(runTask(fixture, id, never)).rejects.toMatchObject({ code: 'key_unavailable' })
  expect(await fixture.redrives.get(id)).toMatchObject({ status: 'running', moved: 0, skipped: 0 })
})

test('a task of failed deliveries leaves out what was delivered, waits again, or is not in the log', async () => {
  const ids = await keep(7)
  const [dead, delivered, redriven, resent, expired, other] = ids as [string, ...string[]] as string[]
  const end = (messageId = '', outcome: LaneOutcome = 'deadLettered', set: object = {}): LaneEntry => ({
    ...{ messageId, outcome, subscriptionId: subscription.id, generation: 0, reason: 'retriesExhausted' },
    ...{ attempts: 4, statusCode: 503, error: null, ...set },
  })
  const lanes = [
    ...[end(dead), end(delivered, 'delivered'), end(redriven), end(resent), end(expired, 'expired')],
    ...[
      end(redriven, 'delivered', { generation: 1 }),
      end(other, 'deadLettered', { subscriptionId: 'other' }),
    ],
  ]
  const again = { messageId: resent ?? '', subscriptionId: subscription.id, generation: 64 * 70_000 }
  await fixture.outcomes.append({ dispatch: [], lanes, resent: [again] })
  const task = await fixture.redrives.createResend({
    subscriptionArn: subscription.arn,
    maxMessagesPerSecond: null,
    since: 0,
    failedOnly: true,
  })
  await runTask(fixture, task.id, never)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ moved: 2, skipped: 5, matched: 7 })
  expect((await received()).sort()).toEqual([dead, expired].sort())
})

test('a dead letter that was redriven and waits again is not resent', async () => {
  const [messageId = ''] = await keep(1)
  const facts = { generation: 0, reason: 'permanent', attempts: 1, statusCode: 404, error: null }
  const dead = { ...facts, messageId, subscriptionId: subscription.id, outcome: 'deadLettered' as const }
  await fixture.outcomes.append({ dispatch: [], lanes: [dead] })
  const place = await fixture.subscriptions.locate(subscription.id)
  const delivery = deliveryId(messageId, 1)
  await fixture.lanes.parkRedriven(place?.shard ?? -1, {
    ...{ task: 'earlier', fence: 1, batch: 1 },
    messages: [{ id: delivery.subarray(0, 16), body: '{}' }],
    entries: [{ subscriptionId: subscription.id, delivery, itemId: messageId, message: 0 }],
  })
  const bounds = { subscriptionArn: subscription.arn, since: 0, failedOnly: true }
  const task = await fixture.redrives.createResend({ ...bounds, maxMessagesPerSecond: null })
  await runTask(fixture, task.id, never)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ moved: 0, skipped: 1 })
})

test('a task ends with its subscription or with the setting, and one is active at a time', async () => {
  await keep(3)
  const first = await create()
  await expect(create()).rejects.toMatchObject({ code: 'redrive_active' })
  await fixture.subscriptions.delete(subscription.id)
  await runTask(fixture, first.id, never)
  expect(await fixture.redrives.get(first.id)).toMatchObject({
    status: 'failed',
    error: 'the subscription is gone',
  })
  const second = await create()
  await fixture.topics.patch(TOPIC, { keepMessages: null })
  await runTask(fixture, second.id, never)
  expect(await fixture.redrives.get(second.id)).toMatchObject({
    status: 'failed',
    error: 'the topic keeps no messages any more',
  })
  await expect(create()).rejects.toMatchObject({ code: 'wrong_state' })
})

test('a paused task sends nothing, a canceled one ends, and both are found by their source', async () => {
  await keep(3)
  const { id } = await create()
  await fixture.redrives.pause(id)
  expect([await runTask(fixture, id, never), await received()]).toEqual(['nothing', []])
  expect(await fixture.redrives.resume(id)).toMatchObject({ status: 'running' })
  expect(await fixture.redrives.runnable()).toEqual([id])
  expect(await fixture.redrives.cancel(id)).toMatchObject({ status: 'canceled' })
  const listed = await fixture.redrives.list({ source: subscription.arn, limit: 10 })
  expect(listed.items.map((task) => task.id)).toEqual([id])
})

test('a task waits while publishing is refused because memory is full', async () => {
  const ids = await keep(3)
  const { id } = await create()
  const stopping = new AbortController()
  let asked = 0
  const admit = () => {
    asked += 1
    if (asked === 2) stopping.abort()
    throw new FantailError('storage_full', 'full')
  }
  expect(await runTask({ ...fixture, storageGuard: { admit } }, id, stopping.signal)).toBe('stopped')
  expect([asked, await received()]).toEqual([2, []])
  await runTask(fixture, id, never)
  expect((await received()).sort()).toEqual(ids.sort())
})

test('a batch that is opened again looks for no message, and loses none', async () => {
  const ids = [...(await keepJob(3)), ...(await keep(2)), ...(await keepJob(2))]
  const { id } = await create()
  const fence = (await fixture.batches.open(id)) ?? 0
  const run = { id, fence, source: subscription.arn, startedAt: Date.now(), filter: {} }
  const first = await fixture.resends.choose(run)
  const [published = ''] = await fixture.redis.keys('*:kept:published:*')
  await fixture.redis.del(published)
  expect(await fixture.resends.choose(run)).toEqual(first)
  expect(first).toMatchObject({ kind: 'batch', batch: { items: ids.map((each) => ({ id: each })) } })
  await runTask(fixture, id, never)
  expect((await received()).sort()).toEqual(ids.sort())
})

test('a task passes jobs whose records are gone, also one at a time', async () => {
  const ids = [await keepJob(2), await keepJob(2), await keepJob(2), await keep(1)]
  const jobs = await fixture.redis.keys('*:kept:job:*')
  const gone = jobs.filter((key) => !key.endsWith(ids[1]?.[0] ?? ''))
  expect(await fixture.redis.del(...gone)).toBe(2)
  const task = await fixture.redrives.createResend({
    subscriptionArn: subscription.arn,
    since: 0,
    maxMessagesPerSecond: 5,
  })
  expect(await runTask(fixture, task.id, never)).toBe('completed')
  expect(await fixture.redrives.get(task.id)).toMatchObject({ status: 'completed', moved: 3, skipped: 0 })
  expect((await received()).sort()).toEqual([...(ids[1] ?? []), ...(ids[3] ?? [])].sort())
})

test('a run that dies at any script and is run again sends each message once', async () => {
  let steps = 0
  const counting = crashing(fixture.redis, () => {
    steps += 1
    return false
  })
  await scene((id) => runTask(storesOn(counting), id, never))
  expect(steps).toBeGreaterThanOrEqual(6)
  for (let step = 1; step <= steps; step++) {
    for (const after of [false, true]) {
      await begin()
      await scene(async (id) => {
        let n = 0
        const dying = storesOn(crashing(fixture.redis, () => ++n === step, after))
        await expect(runTask(dying, id, never)).rejects.toThrow('crashed')
        // Everything that was sent so far arrives, so a repeated batch finds nothing in the lane.
        await drainLanes(fixture)
        await runTask(fixture, id, never)
      })
    }
  }
})

/** Two batches, of which the first ends within a job. */
async function scene(run: (id: string) => Promise<unknown>): Promise<void> {
  const ids = [...(await keepJob(70)), ...(await keep(10)), ...(await keepJob(30))]
  const task = await create()
  expect(task.matched).toBe(110)
  await run(task.id)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ status: 'completed', moved: 110, skipped: 0 })
  expect((await received()).sort()).toEqual(ids.sort())
}

test('a sealed message that was changed passes a filter, so that its lane can put it into the quarantine', async () => {
  const filterPolicy = { size: ['large'] }
  await fixture.subscriptions.update(subscription.id, () => ({ filterPolicy }))
  const record = await fixture.subscriptions.get(subscription.id)
  const messageId = createMessageId(Date.now())
  const changed = { messageId, topicArn: TOPIC, publishedAt: 1, message: '', sealed: 'changed' }
  const filters = new FilterMatches({ ...bodySealsOf(undefined), open: () => undefined })
  expect(record && (await filters.ask(record, changed))).toBe(true)
})
