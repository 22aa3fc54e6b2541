/** Sealed messages on their way through a worker: jobs, lanes, dead letters and queues. */
import { parseMessageId } from '@fantail/contracts'
import { bodySealsOf } from '@fantail/delivery'
import { createLogger } from '@fantail/runtime'
import {
  FifoLog,
  messageBody,
  messageKey,
  Quarantine,
  Queues,
  readMessage,
  sealMessage,
  shardBase,
  shardOf,
} from '@fantail/store'
import { createMetrics } from '@fantail/telemetry'
import { waitFor } from '@fantail/test-kit'
import { createMasterKeyText, createVault, masterKeyBytes, parseMasterKey, WrappedKey } from '@fantail/vault'
import { beforeEach, expect, test } from 'vitest'
import {
  createFakeSender,
  createMessage,
  DLQ,
  type FakeSender,
  TOPIC,
  telemetryWith,
  useFixture,
} from '../fixtures/worker.fixture.ts'

const CANARY = 'canary-51c0'
const fixture = await useFixture()
const keyText = createMasterKeyText()
const key = parseMasterKey(keyText)
if (!key) throw new Error('a new key must be readable')
const vault = createVault([key])
const seals = bodySealsOf(vault)
/** With this policy a single failure dead-letters. */
const STRICT = {
  redrivePolicy: { deadLetterTargetArn: DLQ },
  deliveryPolicy: { healthyRetryPolicy: { numRetries: 0, minDelayTarget: 1, maxDelayTarget: 1 } },
} as const
let sender: FakeSender
beforeEach(() => {
  sender = createFakeSender()
})

async function publish(text = CANARY): Promise<string> {
  const sealed = sealMessage(seals, { ...createMessage(text, TOPIC), subject: text })
  await fixture.publisher.publish([sealed], { bytes: 300, fanOut: 1 })
  return sealed.messageId
}

/** Everything that Redis holds, as it would dump it. */
async function storedText(): Promise<string> {
  const keys = await fixture.redis.keysBuffer('*')
  const dumps = await Promise.all(keys.map((key) => fixture.redis.dumpBuffer(key)))
  return Buffer.concat(dumps.filter((dump) => dump !== null)).toString('latin1')
}

const bodiesSent = () => sender.sent.map(({ body }) => body)
const laneOf = async (id: string) =>
  (await fixture.lanes.figures([{ subscriptionId: id, shard: shardOf(TOPIC) }]))[0]
const quarantined = async () => (await new Quarantine(fixture.redis).list({ limit: 10 })).items

test('a first attempt, a retry, a dead letter and a redriven body carry the content, and Redis never shows it', async () => {
  await fixture.queues.put(DLQ, {})
  const { id } = await fixture.subscribe('a', STRICT)
  await fixture.subscriptions.update(id, () => ({ status: 'paused' }))
  sender.answer = () => 500
  await fixture.startWorker(sender, { vault })
  await publish()
  await waitFor(async () => (await laneOf(id))?.waiting === 1)
  expect(await storedText()).not.toContain(CANARY)
  await fixture.subscriptions.update(id, () => ({ status: 'active' }))
  const opened = new Queues(fixture.redis, { seals })
  const letters = async () => (await opened.peek(DLQ, { limit: 1 })).items
  const [letter] = await waitFor(async () => {
    const items = await letters()
    return items.length > 0 ? items : undefined
  })
  expect(bodiesSent()).toEqual([CANARY])
  expect(letter).toMatchObject({ body: CANARY, sealed: 'open' })
  expect(letter?.deadLetter?.message).toMatchObject({ message: CANARY, subject: CANARY })
  const [locked] = (await fixture.queues.peek(DLQ, { limit: 1 })).items
  expect(locked).toMatchObject({ body: '', attributes: {}, sealed: 'locked' })
  expect(await storedText()).not.toContain(CANARY)
})

test('a queue that subscribes to it stores it sealed, and filters see its content', async () => {
  const queue = 'arn:aws:sqs:us-east-1:000000000000:copies'
  await fixture.queues.put(queue, {})
  const toQueue = { protocol: 'sqs', endpoint: queue, filterPolicyScope: 'MessageBody' } as const
  await fixture.subscribe('q', { ...toQueue, filterPolicy: { canary: [{ prefix: CANARY.slice(0, 6) }] } })
  await fixture.startWorker(sender, { vault })
  const text = JSON.stringify({ canary: CANARY })
  await publish(JSON.stringify({ canary: 'other' }))
  await publish(text)
  const opened = new Queues(fixture.redis, { seals })
  const [received] = await waitFor(async () => {
    const messages = await opened.receive(queue, { maxMessages: 10 })
    return messages.length > 0 ? messages : undefined
  })
  expect(received?.body).toBe(text)
  expect(await storedText()).not.toContain(CANARY)
})

test('while the key is missing the job waits, and other messages of the job are delivered', async () => {
  await fixture.subscribe('a')
  const keyless = await fixture.startWorker(sender)
  const sealed = sealMessage(seals, createMessage(CANARY, TOPIC))
  const other = createMessage('open', TOPIC)
  await fixture.publisher.publish([sealed, other], { bytes: 300, fanOut: 1 })
  const delayed = () => fixture.redis.zcard('ft:{dispatch-0}:dispatch-0:delayed')
  // Each message is a part of its own, and either of them may start first.
  await waitFor(async () => (await delayed()) === 1, { what: 'the part with the sealed message to wait' })
  await waitFor(() => bodiesSent().length === 1, { what: 'the other part to be delivered' })
  await keyless.stop()
  expect(bodiesSent()).toEqual(['open'])
  expect(await quarantined()).toEqual([])
  // The wait of a minute is over.
  const key = 'ft:{dispatch-0}:dispatch-0:delayed'
  for (const job of await fixture.redis.zrange(key, '0', '-1')) await fixture.redis.zadd(key, 0, job)
  await fixture.startWorker(sender, { vault })
  await waitFor(() => bodiesSent().includes(CANARY))
  expect(bodiesSent()).toEqual(['open', CANARY])
})

test('while a key service is away a message waits in its lane, others are delivered, and no restart is needed', async () => {
  const { id } = await fixture.subscribe('a', STRICT)
  await fixture.subscriptions.update(id, () => ({ status: 'paused' }))
  const parking = await fixture.startWorker(sender, { vault })
  await publish()
  await fixture.publisher.publish([createMessage('open', TOPIC)], { bytes: 300, fanOut: 1 })
  await waitFor(async () => (await laneOf(id))?.waiting === 2)
  await parking.stop()
  await fixture.subscriptions.update(id, () => ({ status: 'active' }))
  const metrics = createMetrics()
  const wrapped = new WrappedKey(vault.keyId, { service: 'vault', name: 'transit/fantail' }, 'v1:')
  const telemetry = telemetryWith(metrics)
  await fixture.startWorker(sender, { telemetry, vault: createVault([wrapped]) })
  await waitFor(() => sender.sent.length === 1, { what: 'the open message' })
  const fresh = `${shardBase(shardOf(TOPIC))}fresh:${id}`
  const dueAt = async () => (await fixture.redis.zrange(fresh, '0', '0', 'WITHSCORES'))[1]
  await waitFor(async () => Number(await dueAt()) > Date.now() + 30_000, { what: 'the wait' })
  expect(await laneOf(id)).toMatchObject({ waiting: 1, isBlocked: false, lacksKey: true })
  expect(await quarantined()).toEqual([])
  const credential = `FANTAIL_MASTER_KEY ${vault.keyId}`
  expect(metrics.attemptsMisconfigured.of({ credential }).value).toBeGreaterThan(0)
  wrapped.unlock(masterKeyBytes(keyText) ?? Buffer.alloc(0))
  // The wait of a minute is over.
  for (const delivery of await fixture.redis.zrangeBuffer(fresh, '0', '-1'))
    await fixture.redis.zadd(fresh, 0, delivery)
  await fixture.subscriptions.update(id, () => ({ status: 'paused' }))
  await fixture.subscriptions.update(id, () => ({ status: 'active' }))
  await waitFor(() => sender.sent.length === 2, { what: 'the delivery' })
  expect(bodiesSent()).toEqual(['open', CANARY])
})

test('while the key is missing a group of a FIFO topic waits in its order, and other groups go on', async () => {
  const arn = `${TOPIC}.fifo`
  await fixture.topics.put(arn, {})
  await fixture.subscribe('a', { topicArn: arn })
  const texts = ['one', 'two', 'open']
  const messageOf = (text: string, groupId: string) => {
    const message = { ...createMessage(text, arn), groupId, deduplicationId: `${groupId} ${text}` }
    return text === 'open' ? message : sealMessage(seals, message)
  }
  await new FifoLog(fixture.redis).publish(arn, [
    ...texts.map((text) => messageOf(text, 'g')),
    messageOf('open', 'h'),
  ])
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const log = createLogger({ service: 'test', level: 'warn', destination })
  const keyless = await fixture.startWorker(sender, { log })
  const dueIn = async () => Number(await fixture.redis.zscore(due, member)) - Date.now()
  const due = `${shardBase(shardOf(arn))}due`
  const member = `isolated:${(await fixture.topics.get(arn))?.uid}:g`
  await waitFor(async () => (await dueIn()) > 30_000, { what: 'the group to wait' })
  await waitFor(() => sender.sent.length === 1, { what: 'the other group' })
  await keyless.stop()
  expect([bodiesSent(), await quarantined()]).toEqual([['open'], []])
  expect(lines.filter((line) => line.includes('message.locked'))).toHaveLength(1)
  // The wait of a minute is over.
  await fixture.redis.zadd(due, 0, member)
  await fixture.startWorker(sender, { vault })
  await waitFor(() => sender.sent.length === 1 + texts.length, { what: 'the deliveries' })
  expect(bodiesSent()).toEqual(['open', ...texts])
})

test('a body that was changed, or put in the place of another, is quarantined and not delivered', async () => {
  const { id } = await fixture.subscribe('a')
  await fixture.subscriptions.update(id, () => ({ status: 'paused' }))
  const parking = await fixture.startWorker(sender, { vault })
  const ids = [await publish('one'), await publish('two'), await publish('three')]
  await waitFor(async () => (await laneOf(id))?.waiting === 3)
  await parking.stop()
  const [first, second] = ids.map((one) =>
    messageKey(shardBase(shardOf(TOPIC)), parseMessageId(one) ?? Buffer.alloc(0)),
  ) as [Buffer, Buffer]
  const texts = [await fixture.redis.hget(first, 'b'), await fixture.redis.hget(second, 'b')]
  await fixture.redis.hset(first, 'b', texts[1] ?? '')
  await fixture.redis.hset(second, 'b', resealed(texts[1] ?? '', texts[0] ?? ''))
  await fixture.subscriptions.update(id, () => ({ status: 'active' }))
  await fixture.startWorker(sender, { vault })
  await waitFor(async () => (await quarantined()).length === 2, { what: 'two bodies in the quarantine' })
  await waitFor(() => sender.sent.length === 1)
  expect(bodiesSent()).toEqual(['three'])
})

test('a sealed message of another topic in a lane is quarantined and not delivered', async () => {
  const { id } = await fixture.subscribe('a')
  await fixture.startWorker(sender, { vault })
  const other = sealMessage(seals, createMessage(CANARY, `${TOPIC}-of-others`))
  const message = parseMessageId(other.messageId) ?? Buffer.alloc(0)
  const entry = { subscriptionId: id, delivery: message, message: 0, park: { as: 'fresh' as const } }
  await fixture.lanes.park(shardOf(TOPIC), {
    messages: [{ id: message, body: messageBody(other) }],
    jobs: [{ jobName: '', fence: 0, fields: [], entries: [entry] }],
  })
  await waitFor(async () => (await quarantined()).length === 1, { what: 'the entry' })
  expect(bodiesSent()).toEqual([])
})

/** The body with the sealed text of another one, and with a checksum that fits. */
function resealed(body: string, other: string): string {
  return messageBody({ ...readMessage(body), sealed: readMessage(other).sealed })
}
