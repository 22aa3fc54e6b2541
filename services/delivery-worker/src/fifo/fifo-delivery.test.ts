import { createMessageId, type DeliveryPolicy, type Message } from '@fantail/contracts'
import {
  deliveryId,
  FifoLog,
  messageKey,
  Quarantine,
  RedriveBatches,
  Redrives,
  shardBase,
  shardOf,
  topicKey,
} from '@fantail/store'
import { createMetrics } from '@fantail/telemetry'
import { fifoKey, freshKey, logKey, skewKey, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  createFakeSender,
  createFixture,
  type FakeSender,
  type Fixture,
  telemetryWith,
  urlOf,
} from '../fixtures/worker.fixture.ts'

const TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders.fifo'
const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:work.fifo'
const DLQ = 'arn:aws:sqs:us-east-1:000000000000:dead.fifo'
const BASE = shardBase(shardOf(TOPIC))

let fixture: Fixture
let sender: FakeSender
let log: FifoLog
beforeAll(async () => {
  fixture = await createFixture()
  log = new FifoLog(fixture.redis)
})
beforeEach(async () => {
  await fixture.reset()
  await fixture.topics.put(TOPIC, {})
  sender = createFakeSender()
})
afterAll(() => fixture.stop())

const NO_DELAY: DeliveryPolicy = {
  healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 10, numNoDelayRetries: 10 },
}

function fifoMessage(text: string, groupId: string, set: Partial<Message> = {}): Message {
  const publishedAt = Date.now()
  const messageId = createMessageId(publishedAt)
  const deduplicationId = `id-${messageId}`
  return { messageId, topicArn: TOPIC, publishedAt, message: text, groupId, deduplicationId, ...set }
}

/** Texts are like `a1`. The letter is the group. */
function publish(...texts: string[]) {
  return log.publish(
    TOPIC,
    texts.map((text) => fifoMessage(text, text.slice(0, 1))),
  )
}

const subscribe = (name: string, set = {}) => fixture.subscribe(name, { topicArn: TOPIC, ...set })
const subscribeQueue = (endpoint: string, set = {}) =>
  fixture.subscribe('', { topicArn: TOPIC, protocol: 'sqs', endpoint, ...set })
const bodiesTo = (name: string) =>
  sender.sent.filter(({ url }) => url === urlOf(name)).map(({ body }) => body)
const ofGroup = (texts: string[], group: string) => texts.filter((text) => text.startsWith(group))

async function received(queueArn: string) {
  const messages = await fixture.queues.receive(queueArn, { maxMessages: 10 })
  const handles = messages.map(({ receiptHandle }) => receiptHandle ?? '')
  if (handles.length > 0) await fixture.queues.ack(queueArn, handles)
  return messages
}

async function receiveAll(queueArn: string, count: number) {
  const all: Awaited<ReturnType<typeof received>> = []
  await waitFor(async () => {
    all.push(...(await received(queueArn)))
    return all.length >= count
  })
  return all
}

async function leftovers(): Promise<string[]> {
  const keys = await fixture.redis.keys('ft:*')
  return keys.filter((key) => /:(msg|fresh|retry|lease|state|groups|behind|log):|:due$/.test(key))
}

test('[134] each group reaches a webhook in its order, and nothing is left behind', async () => {
  await subscribe('hook')
  await fixture.startWorker(sender)
  const texts = Array.from({ length: 60 }, (_, i) => `${'abc'[i % 3]}${i}`)
  for (let i = 0; i < texts.length; i += 10) await publish(...texts.slice(i, i + 10))
  await waitFor(() => bodiesTo('hook').length === 60)
  for (const group of 'abc') expect(ofGroup(bodiesTo('hook'), group)).toEqual(ofGroup(texts, group))
  await waitFor(async () => (await leftovers()).length === 0)
})

test('[73] the envelope has the sequence number after the id, and no signature', async () => {
  await fixture.topics.put(TOPIC, { signing: 'sns' })
  await subscribe('hook', { rawMessageDelivery: false })
  await fixture.startWorker(sender)
  const [receipt] = await publish('a1')
  await waitFor(() => sender.sent.length === 1)
  const envelope = JSON.parse(bodiesTo('hook')[0] ?? '')
  expect(Object.keys(envelope)).toEqual([
    'Type',
    'MessageId',
    'SequenceNumber',
    'TopicArn',
    'Message',
    'Timestamp',
    'UnsubscribeURL',
  ])
  expect(envelope).toMatchObject({
    MessageId: receipt?.messageId,
    SequenceNumber: receipt?.sequenceNumber,
    Message: 'a1',
  })
})

test('a failing head holds its own group only, and its group goes on in order after it', async () => {
  await subscribe('hook', { deliveryPolicy: NO_DELAY })
  sender.answer = () =>
    sender.sent.at(-1)?.body === 'a1' && bodiesTo('hook').filter((body) => body === 'a1').length < 4
      ? 503
      : 200
  await fixture.startWorker(sender)
  await publish('a1', 'a2', 'b1', 'a3', 'b2')
  await waitFor(() => sender.sent.length === 8)
  expect(bodiesTo('hook').filter((body, i, all) => all.indexOf(body) === i && body.startsWith('b'))).toEqual([
    'b1',
    'b2',
  ])
  const first = ofGroup(bodiesTo('hook'), 'a').filter((body, i, all) => all.indexOf(body) === i)
  expect(first).toEqual(['a1', 'a2', 'a3'])
})

test('deliveries behind a hanging attempt wait, count as waiting and can be looked up', async () => {
  const { id } = await subscribe('hook')
  const released = Promise.withResolvers<number>()
  sender.answer = (_, n) => (n === 1 ? released.promise : 200)
  await fixture.startWorker(sender)
  const receipts = await publish('a1', 'a2', 'a3')
  await waitFor(() => sender.sent.length === 1)
  const lane = { subscriptionId: id, shard: shardOf(TOPIC) }
  await waitFor(async () => (await fixture.lanes.figures([lane]))[0]?.waiting === 2)
  await waitFor(async () => (await fixture.outcomes.message(receipts[2]?.messageId ?? '')) !== null)
  const [delivery] = (await fixture.outcomes.deliveries(receipts[2]?.messageId ?? '')) ?? []
  expect(delivery).toMatchObject({ subscriptionId: id, state: 'waiting', nextAttemptAt: null })
  released.resolve(200)
  await waitFor(() => sender.sent.length === 3)
  await waitFor(async () => {
    const summary = await fixture.outcomes.message(receipts[2]?.messageId ?? '')
    return summary?.counts.delivered === 1
  })
})

test('[134] a FIFO queue gets group, deduplication id and order; followers go in one append', async () => {
  await fixture.queues.create(QUEUE, {})
  await subscribeQueue(QUEUE)
  const texts = Array.from({ length: 100 }, (_, i) => `${'ab'[i % 2]}${i}`)
  const messages = texts.map((text) => fifoMessage(text, text.slice(0, 1)))
  await log.publish(TOPIC, messages)
  await fixture.startWorker(sender)
  const got = await receiveAll(QUEUE, 100)
  for (const group of 'ab') {
    expect(
      ofGroup(
        got.map(({ body }) => body),
        group,
      ),
    ).toEqual(ofGroup(texts, group))
  }
  const byText = new Map(messages.map((message) => [message.message, message]))
  for (const { body, groupId, deduplicationId } of got)
    expect({ groupId, deduplicationId }).toEqual({
      groupId: byText.get(body)?.groupId,
      deduplicationId: byText.get(body)?.deduplicationId,
    })
  await waitFor(async () => (await leftovers()).length === 0)
})

test('a standard queue gets neither group nor deduplication id', async () => {
  const standard = 'arn:aws:sqs:us-east-1:000000000000:plain'
  await fixture.queues.create(standard, {})
  await subscribeQueue(standard)
  await fixture.startWorker(sender)
  await publish('a1')
  const [message] = await receiveAll(standard, 1)
  expect(message).toMatchObject({ body: 'a1' })
  expect([message?.groupId, message?.deduplicationId]).toEqual([undefined, undefined])
})

test('a message that its queue refuses ends the followers before it, and is dead-lettered in its turn', async () => {
  await fixture.queues.create(QUEUE, {})
  await fixture.queues.create(DLQ, {})
  await subscribeQueue(QUEUE, { redrivePolicy: { deadLetterTargetArn: DLQ } })
  const many = Object.fromEntries(
    Array.from({ length: 11 }, (_, i) => [`n${i}`, { type: 'String', value: 'x' }] as const),
  )
  await log.publish(TOPIC, [
    fifoMessage('a1', 'a'),
    fifoMessage('a2', 'a', { attributes: many }),
    fifoMessage('a3', 'a'),
  ])
  await fixture.startWorker(sender)
  expect((await receiveAll(QUEUE, 2)).map(({ body }) => body)).toEqual(['a1', 'a3'])
  expect((await receiveAll(DLQ, 1)).map(({ body }) => body)).toEqual(['a2'])
})

test('[155] dead letters keep group, deduplication id and order, and a redrive brings them back', async () => {
  await fixture.queues.create(DLQ, {})
  await subscribe('hook', { redrivePolicy: { deadLetterTargetArn: DLQ } })
  sender.answer = () => 404
  await fixture.startWorker(sender)
  const messages = ['a1', 'a2', 'a3'].map((text) => fifoMessage(text, 'a'))
  await log.publish(TOPIC, messages)
  await waitFor(async () => (await fixture.queues.get(DLQ)) !== null && sender.sent.length === 3)
  await waitFor(async () => (await fixture.queues.peek(DLQ, { limit: 10 })).items.length === 3)
  const { items } = await fixture.queues.peek(DLQ, { limit: 10 })
  expect(items.map(({ body, groupId, deduplicationId }) => [body, groupId, deduplicationId])).toEqual(
    messages.map(({ message, groupId, deduplicationId }) => [message, groupId, deduplicationId]),
  )
  sender.answer = () => 200
  await redrive(DLQ)
  await waitFor(() => sender.sent.length === 6)
  expect(bodiesTo('hook').slice(3)).toEqual(['a1', 'a2', 'a3'])
  await waitFor(async () => (await leftovers()).length === 0)
})

test('a dead letter that dies again within five minutes is kept again', async () => {
  await fixture.queues.create(DLQ, {})
  await subscribe('hook', { redrivePolicy: { deadLetterTargetArn: DLQ } })
  sender.answer = () => 404
  await fixture.startWorker(sender)
  await publish('a1')
  await waitFor(async () => (await fixture.queues.peek(DLQ, { limit: 10 })).items.length === 1)
  await redrive(DLQ)
  await waitFor(async () => {
    const { items } = await fixture.queues.peek(DLQ, { limit: 10 })
    return items.length === 1 && items[0]?.deadLetter?.generation === 1
  })
})

async function redrive(source: string) {
  const { subscriptions, lanes, redis } = fixture
  const batches = new RedriveBatches({ redis, lanes, subscriptions })
  const { id } = await new Redrives(redis).create({
    source,
    destination: null,
    filter: {},
    maxMessagesPerSecond: null,
  })
  const fence = (await batches.open(id)) ?? 0
  const run = { id, fence, destination: null, filter: {} }
  for (;;) {
    const choice = await batches.choose(run)
    if (choice.kind === 'stop') return
    if (choice.kind !== 'batch') continue
    const result = await batches.move(run, choice.batch)
    if (result.kind === 'moved') await batches.finish(run, choice.batch.number, result.moved)
  }
}

test('with a pause a group waits whole; after it the group goes on', async () => {
  const { id } = await subscribe('hook')
  await fixture.subscriptions.update(id, () => ({ status: 'paused' }))
  await subscribe('other')
  await fixture.startWorker(sender)
  await publish('a1', 'a2')
  await waitFor(() => bodiesTo('other').length === 2)
  expect(bodiesTo('hook')).toEqual([])
  expect(await fixture.redis.zcard(freshKey(BASE, id))).toBe(1)
  await fixture.subscriptions.update(id, () => ({ status: 'active' }))
  await waitFor(() => bodiesTo('hook').length === 2)
  expect(bodiesTo('hook')).toEqual(['a1', 'a2'])
})

test('expired deliveries of a paused group are dead-lettered, all and in order', async () => {
  await fixture.queues.create(DLQ, {})
  const { id } = await subscribe('hook', { redrivePolicy: { deadLetterTargetArn: DLQ } })
  await fixture.subscriptions.update(id, () => ({ status: 'paused' }))
  const first = await fixture.startWorker(sender)
  await publish('a1', 'a2', 'a3')
  const lane = { subscriptionId: id, shard: shardOf(TOPIC) }
  await waitFor(async () => (await fixture.lanes.figures([lane]))[0]?.waiting === 3)
  await first.stop()
  for (const base of [BASE, shardBase(0)]) await fixture.redis.set(skewKey(base), 5 * 86_400_000)
  await fixture.redis.del('ft:{leader}:retention-sweep')
  await fixture.startWorker(sender)
  await waitFor(async () => (await fixture.queues.peek(DLQ, { limit: 10 })).items.length === 3)
  const { items } = await fixture.queues.peek(DLQ, { limit: 10 })
  expect(items.map(({ body, deadLetter }) => [body, deadLetter?.reason])).toEqual([
    ['a1', 'expired'],
    ['a2', 'expired'],
    ['a3', 'expired'],
  ])
  expect(sender.sent).toEqual([])
})

test('a message for no subscription leaves the log and is found as such', async () => {
  await fixture.startWorker(sender)
  const [receipt] = await publish('a1')
  const { uid } = (await fixture.topics.get(TOPIC)) ?? { uid: '' }
  await waitFor(async () => (await fixture.redis.exists(logKey(BASE, uid))) === 0)
  await waitFor(async () => (await fixture.outcomes.message(receipt?.messageId ?? '')) !== null)
  expect(await fixture.outcomes.deliveries(receipt?.messageId ?? '')).toEqual([])
  expect(await leftovers()).toEqual([])
})

test('filters choose by message, and what they let through keeps its order', async () => {
  const { id } = await subscribe('some', { filterPolicy: { kind: ['odd'] } })
  await subscribe('all')
  await fixture.startWorker(sender)
  const kindOf = (i: number) => ({ kind: { type: 'String', value: i % 2 ? 'odd' : 'even' } })
  const messages = Array.from({ length: 10 }, (_, i) => fifoMessage(`a${i}`, 'a', { attributes: kindOf(i) }))
  await log.publish(TOPIC, messages)
  await waitFor(() => sender.sent.length === 15)
  expect(bodiesTo('some')).toEqual(['a1', 'a3', 'a5', 'a7', 'a9'])
  const first = messages[0]?.messageId ?? ''
  await waitFor(async () => (await fixture.outcomes.message(first))?.counts.delivered === 1)
  const outcomes = (await fixture.outcomes.deliveries(first)) ?? []
  expect(outcomes.find(({ subscriptionId }) => subscriptionId === id)?.state).toBe('filtered')
})

test('a single worker reads a topic and all deliver, and a stopped one leaves the log to the others', async () => {
  await subscribe('hook')
  const first = await fixture.startWorker(sender)
  await fixture.startWorker(sender)
  const texts = Array.from({ length: 300 }, (_, i) => `${'abcdefghij'[i % 10]}${i}`)
  for (let i = 0; i < 150; i += 10) await publish(...texts.slice(i, i + 10))
  const stopping = first.stop()
  for (let i = 150; i < 300; i += 10) await publish(...texts.slice(i, i + 10))
  await stopping
  await waitFor(() => new Set(bodiesTo('hook')).size === 300)
  for (const group of 'abcdefghij') expect(ofGroup(bodiesTo('hook'), group)).toEqual(ofGroup(texts, group))
})

test('unreadable messages are quarantined and block nothing', async () => {
  await subscribe('hook')
  const receipts = await publish('a1', 'a2', 'a3', 'a4')
  const [unreadable, missing] = receipts
    .slice(1)
    .map(({ messageId }) => messageKey(BASE, deliveryId(messageId)))
  await fixture.redis.hset(unreadable ?? '', 'b', '{"message":')
  await fixture.redis.del(missing ?? '')
  await fixture.startWorker(sender)
  await waitFor(() => sender.sent.length === 2)
  expect(bodiesTo('hook')).toEqual(['a1', 'a4'])
  const { items } = await new Quarantine(fixture.redis).list({ limit: 10 })
  expect(Object.fromEntries(items.map(({ messageId, reason }) => [messageId, reason]))).toEqual({
    [receipts[1]?.messageId ?? '']: 'bodyUnreadable',
    [receipts[2]?.messageId ?? '']: 'bodyMissing',
  })
  await waitFor(async () => (await leftovers()).length === 0)
})

test('a topic whose record cannot be read keeps its log until it can be', async () => {
  await subscribe('hook')
  await publish('a1')
  const record = await fixture.redis.hget(topicKey(TOPIC), 'record')
  await fixture.redis.hset(topicKey(TOPIC), 'record', '{"arn":')
  const metrics = createMetrics()
  const shown = async () => {
    await metrics.refresh()
    return Array.from(metrics.fifoLogMessages.series(), ({ labels, value }) => [labels.topic, value])
  }
  await fixture.startWorker(sender, { telemetry: telemetryWith(metrics) })
  const { uid, name } = JSON.parse(record ?? '')
  await waitFor(async () => (await fixture.redis.hget(fifoKey(BASE, uid), 'f')) !== null)
  expect(await fixture.redis.llen(logKey(BASE, uid))).toBe(1)
  expect(await shown()).toEqual([[name, 1]])
  await fixture.redis.hset(topicKey(TOPIC), 'record', record ?? '')
  await waitFor(() => sender.sent.length === 1)
  expect(await shown()).toEqual([])
})

test('a log that is read to its end costs an idle worker nothing', async () => {
  await subscribe('hook')
  await fixture.startWorker(sender)
  await publish('a1')
  await waitFor(() => sender.sent.length === 1)
  await waitFor(async () => (await leftovers()).length === 0)
  // Only due times and hints start takes. Without both, no take is made.
  await waitFor(async () => {
    const { due, unproven } = await fixture.lanes.busyShards()
    return due.size + unproven.size === 0
  })
})
