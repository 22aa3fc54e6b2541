import type { DeliveryPolicy } from '@fantail/contracts'
import { createLogger } from '@fantail/runtime'
import {
  idempotencyKey,
  Quarantine,
  queueKey,
  SHARD_COUNT,
  shardBase,
  shardOf,
  topicKey,
} from '@fantail/store'
import { freshKey, skewKey, startFairTimer, waitFor } from '@fantail/test-kit'
import { beforeEach, expect, test } from 'vitest'
import { QUEUED_MAX } from './dispatch/unit-admission.ts'
import {
  createFakeSender,
  createMessage,
  DLQ,
  type FakeSender,
  TOPIC,
  urlOf,
  useFixture,
} from './fixtures/worker.fixture.ts'

const fixture = await useFixture()
const quarantined = async () => (await new Quarantine(fixture.redis).list({ limit: 10 })).items
let sender: FakeSender
beforeEach(() => {
  sender = createFakeSender()
})

const retries = (set: Partial<NonNullable<DeliveryPolicy['healthyRetryPolicy']>>): DeliveryPolicy => ({
  healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 3, ...set },
})
const sentTo = (name: string) => sender.sent.filter((sent) => sent.url === urlOf(name))

/** Names of all keys that belong to deliveries. Topics, subscriptions, counts and the log are left out. */
async function leftovers(): Promise<string[]> {
  const keys = await fixture.redis.keys('ft:*')
  const kinds = /:(msg|fresh|retry|lease|state|ck):/
  return keys.filter((key) => kinds.test(key))
}

test('a message reaches every subscription and leaves nothing behind', async () => {
  await fixture.subscribe('a')
  await fixture.subscribe('b')
  await fixture.startWorker(sender)
  await fixture.publish('hello')
  await waitFor(() => sender.sent.length === 2)
  expect(sender.sent.map((sent) => [sent.url, sent.body]).sort()).toEqual([
    [urlOf('a'), 'hello'],
    [urlOf('b'), 'hello'],
  ])
  expect(await leftovers()).toEqual([])
})

test('many messages to many subscriptions: each exactly once', async () => {
  for (let i = 0; i < 10; i++) await fixture.subscribe(`s${i}`)
  await fixture.startWorker(sender)
  const ids = (
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        fixture.publishAll(Array.from({ length: 20 }, (_, j) => `${i}.${j}`)),
      ),
    )
  ).flat()
  await waitFor(() => sender.sent.length >= 4_000)
  await waitFor(async () => (await leftovers()).length === 0)
  expect(new Set(sender.sent.map((sent) => `${sent.url} ${sent.messageId}`)).size).toBe(4_000)
  expect(new Set(sender.sent.map((sent) => sent.messageId))).toEqual(new Set(ids))
})

test('retries after a 503 and is delivered', async () => {
  await fixture.subscribe('flaky', { deliveryPolicy: retries({ numNoDelayRetries: 2 }) })
  sender.answer = (_, n) => (n < 3 ? 503 : 200)
  await fixture.startWorker(sender)
  await fixture.publish('again')
  await waitFor(() => sender.sent.length === 3)
  await waitFor(async () => (await leftovers()).length === 0)
  expect(new Set(sender.sent.map((sent) => sent.messageId)).size).toBe(1)
})

test('[31] delays between retries follow the policy, counted from the end of the attempt', async () => {
  await fixture.subscribe('flaky', { deliveryPolicy: retries({ numRetries: 1 }) })
  sender.answer = () => 503
  await fixture.startWorker(sender)
  await fixture.publish('later')
  await waitFor(() => sender.sent.length === 2)
  const [first, second] = sender.sent
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990)
})

test('a permanent failure goes to the dead-letter queue after one attempt', async () => {
  await fixture.queues.put(DLQ, {})
  const subscription = await fixture.subscribe('gone', { redrivePolicy: { deadLetterTargetArn: DLQ } })
  sender.answer = () => 404
  await fixture.startWorker(sender)
  const messageId = await fixture.publish('dead')
  const letter = await waitFor(async () => (await fixture.queues.receive(DLQ, { maxMessages: 1 }))[0])
  expect(letter).toMatchObject({
    body: 'dead',
    deadLetter: {
      reason: 'permanent',
      statusCode: 404,
      attempts: 1,
      subscriptionArn: subscription.arn,
      messageId,
    },
  })
  expect(sender.sent).toHaveLength(1)
  await waitFor(async () => (await leftovers()).length === 0)
})

test('retries that are used up end in the dead-letter queue', async () => {
  await fixture.queues.put(DLQ, {})
  const deliveryPolicy = retries({ numRetries: 2, numNoDelayRetries: 2 })
  await fixture.subscribe('down', { deliveryPolicy, redrivePolicy: { deadLetterTargetArn: DLQ } })
  sender.answer = () => 500
  await fixture.startWorker(sender)
  await fixture.publish('exhausted')
  const letter = await waitFor(async () => (await fixture.queues.receive(DLQ, { maxMessages: 1 }))[0])
  expect(letter.deadLetter).toMatchObject({ reason: 'retriesExhausted', attempts: 3, statusCode: 500 })
  expect(sender.sent).toHaveLength(3)
})

test('a worker whose own clock is a minute behind is no later for it', async () => {
  for (let shard = 0; shard < SHARD_COUNT; shard++) await fixture.redis.set(skewKey(shardBase(shard)), 60_000)
  await fixture.subscribe('throttled', { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 10 } } })
  await fixture.startWorker(sender)
  await fixture.publish('by lane')
  await waitFor(() => sender.sent.length === 1, { timeoutMs: 5_000 })
})

test('a shard in which nothing is due any more is not looked at again and again', async () => {
  await fixture.subscribe('flaky', { deliveryPolicy: retries({ numNoDelayRetries: 1 }) })
  sender.answer = (_, n) => (n === 1 ? 503 : 200)
  await fixture.startWorker(sender)
  await fixture.publish('once')
  await waitFor(() => sender.sent.length === 2)
  await waitFor(async () => {
    const { due, unproven } = await fixture.lanes.busyShards()
    return due.size + unproven.size === 0
  })
})

test('[52][156] without a dead-letter queue it is discarded and counted, and the subscription stays as it was', async () => {
  const subscription = await fixture.subscribe('gone')
  sender.answer = () => 400
  await fixture.startWorker(sender)
  await fixture.publish('nowhere')
  await waitFor(async () => (await fixture.counts.read())['discarded:permanent'] === 1)
  await waitFor(async () => (await leftovers()).length === 0)
  expect(await fixture.subscriptions.get(subscription.id)).toEqual(subscription)
})

test('a letter that a dead-letter queue could not take is there soon after it can', async () => {
  const queue = queueKey(DLQ)
  await fixture.queues.put(DLQ, {})
  await fixture.redis.rename(queue, `${queue}:away`)
  await fixture.redis.set(queue, 'no queue')
  await fixture.subscribe('gone', { redrivePolicy: { deadLetterTargetArn: DLQ } })
  sender.answer = () => 400
  const lines: string[] = []
  const log = createLogger({
    service: 'test',
    level: 'debug',
    destination: { write: (line: string) => void lines.push(line) },
  })
  await fixture.startWorker(sender, { log })
  await fixture.publish('kept')
  const told = (what: string) => lines.filter((line) => line.includes(what)).length
  await waitFor(() => told('dead_letter.postponed') > 1, { what: 'a second try' })
  expect(told('dead_letters.down')).toBe(1)
  await fixture.redis.rename(`${queue}:away`, queue)
  const letter = await waitFor(async () => (await fixture.queues.receive(DLQ, { maxMessages: 1 }))[0])
  expect(letter).toMatchObject({ body: 'kept', deadLetter: { reason: 'permanent', attempts: 1 } })
  expect(sender.sent).toHaveLength(1)
  await waitFor(async () => (await leftovers()).length === 0)
})

test('[157] a missing dead-letter queue is counted as such', async () => {
  await fixture.subscribe('gone', { redrivePolicy: { deadLetterTargetArn: DLQ } })
  sender.answer = () => 400
  await fixture.startWorker(sender)
  await fixture.publish('nowhere')
  await waitFor(async () => (await fixture.counts.read())['discarded:deadLetterQueueMissing'] === 1)
})

test('a queue subscription gets the message as a queue message', async () => {
  const queue = 'arn:aws:sqs:us-east-1:000000000000:work'
  await fixture.queues.put(queue, {})
  await fixture.subscribe('unused', { protocol: 'sqs', endpoint: queue })
  await fixture.startWorker(sender)
  await fixture.publish('to a queue')
  const received = await waitFor(async () => (await fixture.queues.receive(queue, { maxMessages: 1 }))[0])
  expect(received.body).toBe('to a queue')
  expect(sender.sent).toEqual([])
})

test('[53] a hung endpoint keeps at most its allowance and does not hold up its neighbour', async () => {
  await fixture.subscribe('hung')
  await fixture.subscribe('good')
  sender.answer = (url) => (url === urlOf('hung') ? 'hang' : 200)
  await fixture.startWorker(sender)
  for (let round = 0; round < 5; round++)
    await fixture.publishAll(Array.from({ length: 40 }, (_, i) => `${round}.${i}`))
  await waitFor(() => sentTo('good').length === 200)
  expect(sender.inFlightMax.get(urlOf('hung'))).toBeLessThanOrEqual(32)
})

test('a lane goes on when the attempts that fill the worker turn out to hang', async () => {
  await fixture.topics.put(`${TOPIC}-2`, {})
  await fixture.subscribe('trusted')
  await fixture.subscribe('lane', {
    topicArn: `${TOPIC}-2`,
    deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 10 } },
  })
  await fixture.startWorker(sender, { attemptsMax: 8 })
  await fixture.publish('proves the lane', { topicArn: `${TOPIC}-2` })
  await fixture.publishAll(Array.from({ length: 40 }, (_, i) => `${i}`))
  await waitFor(() => sender.sent.length === 41)
  sender.answer = (url) => (url === urlOf('trusted') ? 'hang' : 200)
  await fixture.publishAll(Array.from({ length: 8 }, (_, i) => `${i}`))
  await waitFor(() => sender.inFlight.get(urlOf('trusted')) === 8)
  await fixture.publish('throttled', { topicArn: `${TOPIC}-2` })
  await waitFor(() => sentTo('lane').length === 2)
  expect(sender.inFlight.get(urlOf('trusted'))).toBe(8)
})

test('a detached attempt that succeeds late is settled, not repeated', async () => {
  await fixture.subscribe('slow')
  let answer: (status: number) => void = () => undefined
  sender.answer = () => new Promise<number>((resolve) => (answer = resolve))
  await fixture.startWorker(sender)
  await fixture.publish('slow one')
  await waitFor(async () => (await leftovers()).some((key) => key.includes(':lease:')))
  answer(200)
  await waitFor(async () => (await leftovers()).length === 0)
  expect(sender.sent).toHaveLength(1)
})

test('a paused subscription waits and goes on when resumed', async () => {
  const { id } = await fixture.subscribe('paused')
  await fixture.subscriptions.update(id, () => ({ status: 'paused' }))
  await fixture.subscribe('other')
  await fixture.startWorker(sender)
  await fixture.publish('while paused')
  await waitFor(() => sentTo('other').length === 1)
  await waitFor(async () => (await leftovers()).some((key) => key.includes(':fresh:')))
  expect(sentTo('paused')).toEqual([])
  await fixture.subscriptions.update(id, () => ({ status: 'active' }))
  await waitFor(() => sentTo('paused').length === 1)
})

test('a pause acts on a message that waits behind a full queue', async () => {
  const other = `${TOPIC}-2`
  await fixture.topics.put(other, {})
  await fixture.subscribe('busy')
  const { id } = await fixture.subscribe('paused', { topicArn: other })
  const { promise: released, resolve: release } = Promise.withResolvers<number>()
  // The endpoint answers after 100 ms, so the queue moves and is not parked. It is full for seconds. No delivery waits
  // any longer once the pause is stored.
  const answered = () => new Promise<number>((resolve) => setTimeout(resolve, 100, 200))
  const worker = await fixture.startWorker(sender)
  await fixture.publish('proves the endpoint: a crowd of an unproven one is parked')
  await waitFor(() => sender.sent.length === 1 && sender.inFlight.get(urlOf('busy')) === 0)
  sender.answer = () => Promise.race([answered(), released])
  const crowd = Array.from({ length: QUEUED_MAX + 1_000 }, (_, i) => createMessage(`${i}`, TOPIC))
  await fixture.publisher.publish([...crowd, createMessage('last', other)], { bytes: 300_000, fanOut: 1 })
  await waitFor(() => worker.figures().queued >= QUEUED_MAX)
  await fixture.subscriptions.update(id, () => ({ status: 'paused' }))
  // An attempt that starts before this moment may still use the state before the pause.
  const actsFrom = performance.now() + 100
  await waitFor(() => performance.now() > actsFrom)
  expect(sentTo('paused')).toEqual([])
  release(200)
  await waitFor(async () => (await leftovers()).some((key) => key.includes(`:fresh:${id}`)))
  expect(sentTo('paused')).toEqual([])
})

test('an unsubscribed endpoint gets nothing more and what waited is counted', async () => {
  const { id } = await fixture.subscribe('leaving')
  await fixture.subscriptions.update(id, () => ({ status: 'paused' }))
  await fixture.startWorker(sender)
  await fixture.publishAll(['1', '2', '3'])
  await waitFor(async () => (await leftovers()).some((key) => key.includes(':fresh:')))
  await fixture.subscriptions.delete(id)
  await waitFor(async () => (await fixture.counts.read())['discarded:unsubscribed'] === 3)
  await waitFor(async () => (await leftovers()).length === 0)
  expect(sender.sent).toEqual([])
})

test('a delivery in flight when its endpoint unsubscribes by its link is not tried again', async () => {
  const { id } = await fixture.subscribe('a', { deliveryPolicy: retries({ numNoDelayRetries: 3 }) })
  const { promise: answer, resolve } = Promise.withResolvers<number>()
  sender.answer = () => answer
  await fixture.startWorker(sender)
  await fixture.publish('hello')
  await waitFor(() => sender.sent.length === 1)
  await fixture.subscriptions.update(id, () => ({ unsubscribed: true }))
  resolve(503)
  await waitFor(async () => (await fixture.counts.read())['discarded:unsubscribed'] === 1)
  expect(sender.sent).toHaveLength(1)
})

test('[54] a throttled subscription is paced and everything arrives', async () => {
  await fixture.subscribe('paced', { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 50 } } })
  await fixture.startWorker(sender)
  await fixture.publishAll(Array.from({ length: 100 }, (_, i) => `${i}`))
  await waitFor(() => sender.sent.length === 100)
  const times = sender.sent.map((sent) => sent.at)
  for (const from of times) {
    expect(times.filter((at) => at >= from && at < from + 1_000).length).toBeLessThanOrEqual(56)
  }
})

test('each message group keeps its own rate, and holds up no other group', async () => {
  const slowEveryMs = 20_000
  const groupThrottle = { maxReceivesPerSecond: 20, overrides: { slow: 1_000 / slowEveryMs } }
  await fixture.subscribe('paced', { groupThrottle })
  await fixture.startWorker(sender)
  const startedAt = performance.now()
  for (let i = 0; i < 30; i++) await fixture.publish(`slow ${i}`, { groupId: 'slow' })
  for (let i = 0; i < 30; i++) await fixture.publish(`a ${i}`, { groupId: 'a' })
  for (let i = 0; i < 30; i++) await fixture.publish(`none ${i}`)
  const sentOf = (group: string) => sender.sent.filter(({ body }) => body.startsWith(`${group} `))
  const timeoutMs = 25_000
  await waitFor(() => sentOf('a').length === 30 && sentOf('none').length === 30, { timeoutMs })
  // A worker that gets no processor again and again at a send time loses it, and waits for the next one.
  await waitFor(() => sentOf('slow').length > 0, { timeoutMs })
  const slowMax = 1 + Math.floor((performance.now() - startedAt) / slowEveryMs)
  const times = sentOf('a').map((sent) => sent.at)
  for (const from of times) {
    expect(times.filter((at) => at >= from && at < from + 1_000).length).toBeLessThanOrEqual(23)
  }
  expect(sentOf('slow').length).toBeLessThanOrEqual(slowMax)
})

test('a throttled lane keeps its rate while first attempts fill the worker', async () => {
  const other = `${TOPIC}-2`
  await fixture.topics.put(other, {})
  for (let i = 0; i < 4; i++) await fixture.subscribe(`busy${i}`)
  const deliveryPolicy = { throttlePolicy: { maxReceivesPerSecond: 20 } }
  const { id } = await fixture.subscribe('lane', { topicArn: other, deliveryPolicy })
  await fixture.subscriptions.update(id, () => ({ status: 'paused' }))
  sender.answer = (url) =>
    url === urlOf('lane') ? 200 : new Promise((resolve) => setTimeout(resolve, 50, 200))
  const worker = await fixture.startWorker(sender, { attemptsMax: 16 })
  for (let i = 0; i < 60; i++) await fixture.publish(`${i}`, { topicArn: other })
  await waitFor(async () => (await fixture.redis.zcard(freshKey(shardBase(shardOf(other)), id))) === 60)
  let published = 0
  const keepFull = async () => {
    if (sender.sent.length < 4 * published - 2_000) return
    published += 1_000
    await fixture.publishAll(Array.from({ length: 1_000 }, (_, i) => `${i}`))
  }
  await keepFull()
  await waitFor(() => worker.figures().queued > 1_000)
  await fixture.subscriptions.update(id, () => ({ status: 'active' }))
  await waitFor(() => sentTo('lane').length > 0)
  const elapsed = startFairTimer()
  const fortieth = async () => {
    await keepFull()
    return sentTo('lane').length >= 40
  }
  await waitFor(fortieth)
  const tookMs = elapsed()
  expect(worker.figures().queued).toBeGreaterThan(0)
  // At this rate 40 take two seconds.
  expect(tookMs).toBeLessThan(2_500)
}, 120_000)

test('a message of a deleted topic is counted, one without a match is in the log', async () => {
  await fixture.startWorker(sender)
  const unmatched = await fixture.publish('nobody')
  await waitFor(async () => (await fixture.outcomes.message(unmatched)) !== null)
  await fixture.publish('no topic', { topicArn: 'arn:aws:sns:us-east-1:000000000000:missing' })
  await waitFor(async () => (await fixture.counts.read())['discarded:topicDeleted'] === 1)
})

test('the outcome log shows the end of each delivery', async () => {
  await fixture.queues.put(DLQ, {})
  const names = ['ok', 'dead', 'waiting']
  const ids = new Map<string, string>()
  for (const name of names) {
    const redrivePolicy = name === 'dead' ? { deadLetterTargetArn: DLQ } : null
    ids.set((await fixture.subscribe(name, { redrivePolicy })).id, name)
  }
  sender.answer = (url) => (url === urlOf('ok') ? 200 : url === urlOf('dead') ? 404 : 503)
  await fixture.startWorker(sender)
  const messageId = await fixture.publish('story')
  await waitFor(async () => (await fixture.outcomes.message(messageId))?.counts.deadLettered === 1)
  const deliveries = (await fixture.outcomes.deliveries(messageId)) ?? []
  const told = Object.fromEntries(deliveries.map((row) => [ids.get(row.subscriptionId ?? ''), row]))
  expect(told.ok).toMatchObject({ state: 'delivered', attempts: 1 })
  expect(told.dead).toMatchObject({
    state: 'deadLettered',
    attempts: 1,
    lastStatusCode: 404,
    reason: 'permanent',
  })
  expect(told.waiting).toMatchObject({ state: 'waiting', attempts: 1, lastStatusCode: 503 })
  expect(told.waiting?.nextAttemptAt).toBeGreaterThan(Date.now())
  expect((await fixture.outcomes.message(messageId))?.counts).toMatchObject({
    delivered: 1,
    deadLettered: 1,
    waiting: 1,
  })
})

test('a message whose body was lost is quarantined and its neighbours go on', async () => {
  const { id } = await fixture.subscribe('lane')
  await fixture.subscriptions.update(id, () => ({ status: 'paused' }))
  await fixture.startWorker(sender)
  await fixture.publishAll(['lost', 'kept'])
  const keys = await waitFor(async () => {
    const found = await fixture.redis.keysBuffer('ft:*msg:*')
    return found.length === 2 ? found : undefined
  })
  for (const key of keys) {
    if (String(await fixture.redis.hget(key, 'b')).includes('lost')) await fixture.redis.del(key)
  }
  await fixture.subscriptions.update(id, () => ({ status: 'active' }))
  await waitFor(() => sender.sent.length === 1)
  expect(sender.sent[0]?.body).toBe('kept')
  await waitFor(async () => (await fixture.counts.read()).quarantined === 1)
  expect(await quarantined()).toMatchObject([{ reason: 'bodyMissing', subscriptionId: id }])
})

test('a slice that cannot be read keeps no lane of its shard from going on', async () => {
  const shard = shardOf(TOPIC)
  const other = Array.from({ length: 1_000 }, (_, i) => `${TOPIC}-${i}`).find((arn) => shardOf(arn) === shard)
  await fixture.topics.put(other ?? '', {})
  const subscribed = [
    await fixture.subscribe('broken'),
    await fixture.subscribe('sound', { topicArn: other }),
  ]
  for (const { id } of subscribed) await fixture.subscriptions.update(id, () => ({ status: 'paused' }))
  const first = await fixture.startWorker(sender)
  await fixture.publish('broken')
  await fixture.publish('sound', { topicArn: other })
  await waitFor(async () => (await leftovers()).filter((key) => key.includes(':fresh:')).length === 2)
  await first.stop()
  for (const { id } of subscribed) await fixture.subscriptions.update(id, () => ({ status: 'active' }))
  for (const key of await fixture.redis.keys(`${shardBase(shard)}slice:*`))
    if ((await fixture.redis.hget(key, 'arn')) === TOPIC) await fixture.redis.hset(key, 'topic', '{')
  await fixture.startWorker(sender)
  await waitFor(() => sentTo('sound').length === 1, { timeoutMs: 3_000 })
})

test('a change of the policy acts on what already waits', async () => {
  const { id } = await fixture.subscribe('policy', { deliveryPolicy: retries({ numRetries: 0 }) })
  await fixture.subscriptions.update(id, () => ({ status: 'paused' }))
  sender.answer = (_, n) => (n === 1 ? 500 : 200)
  await fixture.startWorker(sender)
  await fixture.publish('policy')
  await waitFor(async () => (await leftovers()).some((key) => key.includes(':fresh:')))
  await fixture.subscriptions.update(id, () => ({
    status: 'active',
    deliveryPolicy: retries({ numNoDelayRetries: 3 }),
  }))
  await waitFor(() => sender.sent.length === 2)
})

test('a worker that stops returns what waits for its send time', async () => {
  await fixture.subscribe('paced', { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 10 } } })
  const first = await fixture.startWorker(sender)
  await fixture.publishAll(Array.from({ length: 20 }, (_, i) => `${i}`))
  await waitFor(() => sender.sent.length >= 3)
  await first.stop()
  await fixture.startWorker(sender)
  await waitFor(() => new Set(sender.sent.map((sent) => sent.messageId)).size === 20)
  expect(sender.sent).toHaveLength(20)
})

test('idempotency: the first claimed of two messages under one key is delivered', async () => {
  await fixture.subscribe('a')
  const key = `${shardBase(0)}idem:test`
  const messages = ['winner', 'loser'].map((text, i) => ({
    ...{
      messageId: `0192${i}000-0000-7000-8000-000000000000`,
      topicArn: TOPIC,
      publishedAt: Date.now(),
      message: text,
    },
    idempotency: { key, value: text },
  }))
  await fixture.redis.set(key, 'winner')
  await fixture.startWorker(sender)
  await fixture.publisher.publish(messages, { bytes: 600, fanOut: 1 })
  await fixture.publish('last')
  await waitFor(() => sender.sent.some((sent) => sent.body === 'last'))
  expect(sender.sent.map((sent) => sent.body).sort()).not.toContain('loser')
})

test('idempotency: a message for an earlier topic of the name claims its key under the topic there is now', async () => {
  await fixture.subscribe('a')
  const uid = (await fixture.redis.hget(topicKey(TOPIC), 'uid')) ?? ''
  const message = {
    messageId: '01920000-0000-7000-8000-000000000000',
    topicArn: TOPIC,
    topicUid: 'an earlier one',
    publishedAt: Date.now(),
    message: 'repeated since',
    idempotency: { key: idempotencyKey(TOPIC, 'an earlier one', 'k'), value: 'first' },
  }
  await fixture.redis.set(idempotencyKey(TOPIC, uid, 'k'), 'second')
  await fixture.startWorker(sender)
  await fixture.publisher.publish([message], { bytes: 300, fanOut: 1 })
  await fixture.publish('last')
  await waitFor(() => sender.sent.some((sent) => sent.body === 'last'))
  expect(sender.sent.map((sent) => sent.body)).toEqual(['last'])
})

test('a topic whose record cannot be read keeps no worker: its message is quarantined with its body', async () => {
  await fixture.subscribe('good')
  const other = 'arn:aws:sns:us-east-1:000000000000:broken'
  await fixture.topics.put(other, {})
  await fixture.redis.hset(topicKey(other), 'record', '{"arn":', 'slices', '[')
  await fixture.startWorker(sender)
  await fixture.publish('unlucky', { topicArn: other })
  const entry = await waitFor(async () => (await quarantined())[0])
  expect(entry).toMatchObject({ reason: 'topicUnreadable', topicArn: other })
  const raw = await new Quarantine(fixture.redis).raw(entry?.id ?? '')
  expect(JSON.parse(String(raw)).message).toBe('unlucky')
  await fixture.publish('neighbour')
  await waitFor(() => sentTo('good').length === 1)
})
