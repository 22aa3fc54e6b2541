/** Queues as subscribers and as dead-letter queues: the form of their messages, and reasons for refusing one. */
import type { MessageAttribute, QueueMessage } from '@fantail/contracts'
import type { NewSubscription } from '@fantail/store'
import { queueKey } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { createFakeSender, DLQ, TOPIC, useFixture } from '../fixtures/worker.fixture.ts'

const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:work'
const fixture = await useFixture()

const toQueue = (set: Partial<NewSubscription> = {}) =>
  fixture.subscribe('queue', { protocol: 'sqs', endpoint: QUEUE, ...set })
const withDeadLetters = { redrivePolicy: { deadLetterTargetArn: DLQ } }

async function arrived(queue: string): Promise<QueueMessage> {
  return waitFor(async () => (await fixture.queues.receive(queue, { maxMessages: 1 }))[0])
}

const discarded = (cause: string, count = 1) =>
  waitFor(async () => (await fixture.counts.read())[`discarded:${cause}`] === count)

function attributesOf(count: number): Record<string, MessageAttribute> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`a${i}`, { type: 'String', value: 'x' }]),
  )
}

const deny = (Condition?: object) =>
  JSON.stringify({
    Statement: { Effect: 'Deny', Principal: '*', Action: 'sqs:SendMessage', Resource: '*', Condition },
  })

test('[135] raw: the bare text, every attribute with its type, the group and the trace', async () => {
  const attributes = {
    size: { type: 'Number.int', value: '3' },
    tags: { type: 'String.Array', value: '["a","b"]' },
    image: { type: 'Binary.png', value: 'aGk=' },
  }
  await fixture.queues.put(QUEUE, {})
  await toQueue()
  await fixture.startWorker(createFakeSender())
  await fixture.publish('bare', { attributes, groupId: 'customer-7', traceHeader: 'Root=1-2-3' })
  expect(await arrived(QUEUE)).toMatchObject({
    body: 'bare',
    attributes,
    groupId: 'customer-7',
    traceHeader: 'Root=1-2-3',
  })
})

test('ten attributes are taken raw; eleven are no retry but a dead letter, which keeps them all', async () => {
  await fixture.queues.put(QUEUE, {})
  await fixture.queues.put(DLQ, {})
  await toQueue(withDeadLetters)
  await fixture.startWorker(createFakeSender())
  await fixture.publish('ten', { attributes: attributesOf(10) })
  expect(Object.keys((await arrived(QUEUE)).attributes)).toHaveLength(10)
  await fixture.publish('eleven', { attributes: attributesOf(11) })
  const letter = await arrived(DLQ)
  expect(letter).toMatchObject({ body: 'eleven', attributes: attributesOf(11) })
  expect(letter.deadLetter).toMatchObject({ reason: 'permanent', attempts: 1, lastError: 'queue_refused' })
})

test('the envelope takes any number of attributes into a queue', async () => {
  await fixture.queues.put(QUEUE, {})
  await toQueue({ rawMessageDelivery: false })
  await fixture.startWorker(createFakeSender())
  await fixture.publish('wrapped', { attributes: attributesOf(11) })
  const { body, attributes } = await arrived(QUEUE)
  expect(Object.keys(JSON.parse(body).MessageAttributes)).toHaveLength(11)
  expect(attributes).toEqual({})
})

test('a policy that denies the topic is final; one that denies another changes nothing', async () => {
  await fixture.queues.put(QUEUE, {
    attributes: { Policy: deny({ ArnEquals: { 'aws:SourceArn': `${TOPIC}-2` } }) },
  })
  await fixture.queues.put(DLQ, {})
  await toQueue(withDeadLetters)
  await fixture.startWorker(createFakeSender())
  await fixture.publish('allowed')
  expect((await arrived(QUEUE)).body).toBe('allowed')
  await fixture.queues.patch(QUEUE, {
    attributes: { Policy: deny({ ArnEquals: { 'aws:SourceArn': TOPIC } }) },
  })
  // The old policy may be used for one more second.
  const letter = await waitFor(async () => {
    await fixture.publish('denied')
    return (await fixture.queues.receive(DLQ, { maxMessages: 1 }))[0]
  })
  expect(letter.deadLetter).toMatchObject({ reason: 'permanent', attempts: 1, lastError: 'queue_refused' })
})

test('a queue of another account takes confirmations and messages only if its policy allows the topic', async () => {
  const endpoint = 'arn:aws:sqs:us-east-1:222222222222:work'
  await fixture.queues.put(endpoint, {})
  await fixture.queues.put(DLQ, {})
  await fixture.subscribe('foreign', { protocol: 'sqs', endpoint, ...withDeadLetters })
  await fixture.startWorker(createFakeSender())
  await fixture.publish('confirm', { kind: 'SubscriptionConfirmation', token: 'ab' })
  await discarded('permanent')
  await fixture.publish('uninvited')
  expect((await arrived(DLQ)).deadLetter).toMatchObject({ attempts: 1, lastError: 'queue_refused' })
  expect(await fixture.queues.receive(endpoint, { maxMessages: 1 })).toEqual([])
  const Statement = { Effect: 'Allow', Principal: '*', Action: 'sqs:SendMessage', Resource: endpoint }
  await fixture.queues.patch(endpoint, { attributes: { Policy: JSON.stringify({ Statement }) } })
  // The old policy may be used for one more second.
  const body = await waitFor(async () => {
    await fixture.publish('invited')
    return (await fixture.queues.receive(endpoint, { maxMessages: 1 }))[0]?.body
  })
  expect(body).toBe('invited')
})

test('a message that is too large for the queue, or is not a text for SQS, fails permanently', async () => {
  await fixture.queues.put(QUEUE, { maximumMessageBytes: 1_024 })
  await toQueue()
  await fixture.startWorker(createFakeSender())
  await fixture.publish('x'.repeat(1_025))
  await fixture.publish('\u0007')
  await discarded('permanent', 2)
  await fixture.publish('x'.repeat(1_024))
  expect((await arrived(QUEUE)).body).toHaveLength(1_024)
})

test('a missing queue is final', async () => {
  await toQueue()
  await fixture.startWorker(createFakeSender())
  await fixture.publish('nowhere')
  await discarded('permanent')
})

test('[157] a dead-letter queue that denies the topic loses the message, which is counted', async () => {
  await fixture.queues.put(DLQ, { attributes: { Policy: deny() } })
  await toQueue(withDeadLetters)
  await fixture.startWorker(createFakeSender())
  await fixture.publish('nowhere')
  await discarded('deadLetterQueueDenied')
})

test.each([
  ['does not exist', 'alias/other'],
  ['is disabled', 'alias/old'],
  ['is for another account', 'alias/theirs'],
])('a dead-letter queue whose key %s refuses the message, which is counted', async (_, KmsMasterKeyId) => {
  const kmsKeys = new Map<string, 'disabled' | string[]>([
    ['alias/old', 'disabled'],
    ['alias/theirs', ['222222222222']],
  ])
  await fixture.queues.put(DLQ, { attributes: { KmsMasterKeyId } })
  await toQueue(withDeadLetters)
  await fixture.startWorker(createFakeSender(), { kmsKeys })
  await fixture.publish('nowhere')
  await discarded('deadLetterQueueDenied')
})

test('a dead-letter queue of another account takes only what its policy allows', async () => {
  const foreign = 'arn:aws:sqs:us-east-1:222222222222:dead'
  await fixture.queues.put(foreign, {})
  await toQueue({ redrivePolicy: { deadLetterTargetArn: foreign } })
  await fixture.startWorker(createFakeSender())
  await fixture.publish('nowhere')
  await discarded('deadLetterQueueDenied')
})

test('a queue that cannot be reached is tried by the fixed policy of queues, far past any webhook’s', async () => {
  // A key of another type replaces the queue. Every command on it fails, as with a broken Redis.
  await fixture.redis.set(queueKey(QUEUE), 'in the way')
  await toQueue({ rawMessageDelivery: false })
  await fixture.startWorker(createFakeSender())
  const messageId = await fixture.publish('late')
  const between = async () => {
    const row = (await fixture.outcomes.deliveries(messageId))?.[0]
    return row && row.attempts >= 5 && row.state === 'waiting' ? row : undefined
  }
  // Three retries at once, then one every second; a webhook’s second attempt would come after 20 seconds.
  expect(await waitFor(between)).toMatchObject({ lastError: 'storage' })
  await fixture.redis.del(queueKey(QUEUE))
  await fixture.queues.put(QUEUE, {})
  expect(JSON.parse((await arrived(QUEUE)).body).Message).toBe('late')
})
