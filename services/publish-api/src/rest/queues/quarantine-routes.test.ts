import { createMessageId, type Message } from '@fantail/contracts'
import {
  deliveryId,
  IsolatedMessages,
  jobText,
  messageBody,
  placeOfSubscription,
  Quarantine,
  shardOf,
} from '@fantail/store'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

const ARN = 'arn:aws:sns:us-east-1:000000000000:orders'
let api: TestApi
let quarantine: Quarantine
beforeAll(async () => {
  api = await startTestApi()
})
beforeEach(async () => {
  await api.redis.flushall()
  quarantine = new Quarantine(api.redis)
  await api.call('PUT', '/v1/topics/orders')
})
afterAll(() => api.stop())

function createMessage(text: string, set: Partial<Message> = {}): Message {
  const publishedAt = Date.now()
  return { messageId: createMessageId(publishedAt), topicArn: ARN, publishedAt, message: text, ...set }
}

const add = (id: string, raw: string | Buffer, set = {}) =>
  quarantine.add({ id, reason: 'jobUnreadable', detail: 'no JSON', raw, ...set })
const listed = async () =>
  (await api.call('GET', '/v1/quarantine')).body.entries.map(({ id }: { id: string }) => id)

test('entries are listed page by page and exported with their bytes', async () => {
  await add('a', Buffer.from([255, 0]))
  await add('b', '{"v":1', { messageId: createMessageId(1_000), topicArn: ARN })
  const first = (await api.call('GET', '/v1/quarantine?limit=1')).body
  expect(first.entries).toMatchObject([{ id: 'a', reason: 'jobUnreadable', rawBytes: 2, topicArn: null }])
  const next = (await api.call('GET', `/v1/quarantine?limit=1&cursor=${first.nextCursor}`)).body
  expect(next.entries).toMatchObject([{ id: 'b', topicArn: ARN }])
  const [binary, text] = await Promise.all(
    ['a', 'b'].map(async (id) => (await api.call('GET', `/v1/quarantine/${id}`)).body),
  )
  expect(Buffer.from(binary.raw, 'base64')).toEqual(Buffer.from([255, 0]))
  expect([binary.text, text.text]).toEqual([null, '{"v":1'])
})

test('an entry that is put back is dispatched under its own id, and leaves', async () => {
  const [one, two] = [createMessage('one'), createMessage('two')]
  await add('message', messageBody(one))
  await add('job', jobText([two]))
  const answers = await Promise.all(
    ['message', 'job'].map((id) => api.call('POST', `/v1/quarantine/${id}/put-back`)),
  )
  expect(answers.map(({ body }) => body)).toEqual(Array(2).fill({ messages: 1, deliveries: 0 }))
  const ids = (await api.published()).map(({ messageId }) => messageId)
  expect(ids.toSorted()).toEqual([one.messageId, two.messageId].toSorted())
  expect(await listed()).toEqual([])
})

test('one delivery goes back to its lane alone', async () => {
  const { body } = await api.call('POST', '/v1/topics/orders/subscriptions', {
    body: { endpoint: 'https://example.com/' },
  })
  const message = createMessage('again')
  const subscriptionId: string = body.id
  const id = `delivery.${message.messageId}.0.${subscriptionId}`
  await add(id, messageBody(message), { messageId: message.messageId, subscriptionId })
  expect((await api.call('POST', `/v1/quarantine/${id}/put-back`)).body).toEqual({
    messages: 0,
    deliveries: 1,
  })
  const [state] = await api.lanes.deliveryStates(shardOf(ARN), [
    { subscriptionId, delivery: deliveryId(message.messageId) },
  ])
  expect(state).toMatchObject({ where: 'waiting' })
  expect(await api.published()).toEqual([])
})

test.each([
  ['nothing', '', 'nothing is left of it'],
  ['torn', '{"v":1,"m":[', 'this release cannot decode it'],
  ['strange', '{"v":1,"m":[42]}', 'it holds something that is not a message'],
  ['homeless', messageBody(createMessage('x', { topicArn: `${ARN}-gone` })), `${ARN}-gone is gone`],
  [
    'changed',
    messageBody(createMessage('x')).replace('"x"', '"y"'),
    'a message in it was changed after it was stored',
  ],
])('an entry with %s cannot be put back, and stays', async (id, raw, why) => {
  await add(id, raw)
  const { status, body } = await api.call('POST', `/v1/quarantine/${id}/put-back`)
  expect([status, body.error.code, body.error.message]).toEqual([
    409,
    'wrong_state',
    `cannot be put back: ${why}`,
  ])
  expect(await listed()).toEqual([id])
})

test('a deleted entry counts as discarded', async () => {
  await add('a', '{')
  expect((await api.call('DELETE', '/v1/quarantine/a')).status).toBe(204)
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/put-back'],
  ] as const)
    expect((await api.call(method, `/v1/quarantine/a${path}`)).status).toBe(404)
  expect(await api.deps.counts.read()).toEqual({ 'discarded:quarantineDeleted': 1 })
})

test('a deleted entry is explained, about one delivery and about messages as a whole', async () => {
  const [one, two, homeless] = [createMessage('one'), createMessage('two'), createMessage('homeless')]
  await add('job', `{"v":1,"m":[{"messageId":"${one.messageId}","topicArn":"${ARN}"`)
  await add('homeless', `{"messageId":"${homeless.messageId}"`)
  const { body } = await api.call('POST', '/v1/topics/orders/subscriptions', {
    body: { endpoint: 'https://example.com/' },
  })
  const subscriptionId: string = body.id
  const about = { messageId: two.messageId, subscriptionId, topicArn: ARN }
  await add(`delivery.${two.messageId}.3.${subscriptionId}`, '{', about)
  await reportDispatched(two, subscriptionId)
  for (const { id } of (await api.call('GET', '/v1/quarantine')).body.entries)
    expect((await api.call('DELETE', `/v1/quarantine/${id}`)).status).toBe(204)
  const deliveriesOf = async ({ messageId }: Message) =>
    (await api.call('GET', `/v1/messages/${messageId}/deliveries`)).body.deliveries
  const cause = 'quarantineDeleted'
  const ended = { state: 'discarded', reason: cause, cause, lastError: 'no JSON' }
  expect(await deliveriesOf(one)).toMatchObject([{ ...ended, subscriptionId: null }])
  expect(await deliveriesOf(homeless)).toMatchObject([{ ...ended, subscriptionId: null }])
  expect(await deliveriesOf(two)).toMatchObject([{ ...ended, subscriptionId, redrives: 3 }])
  const counts = (await api.call('GET', `/v1/messages/${one.messageId}`)).body.counts
  expect(counts).toMatchObject({ discarded: 1, quarantined: 0 })
})

/** Writes the log entry of dispatch for a message that is parked for one subscription. */
async function reportDispatched({ messageId }: Message, subscriptionId: string): Promise<void> {
  const subscription = await api.deps.subscriptions.get(subscriptionId)
  const place = placeOfSubscription(subscriptionId)
  if (!subscription || !place) throw new Error('it was created')
  const { shard, sliceId } = place
  const nothing = { delivered: Buffer.alloc(0), filtered: Buffer.alloc(0), otherCodes: [], failures: [] }
  const parked = Buffer.of(1 << subscription.bit)
  const entry = { messageId, topicArn: ARN, sizeBytes: 3, slice: { shard, sliceId }, parked, ...nothing }
  await api.outcomes.append({ dispatch: [entry], lanes: [] })
}

test('a message in quarantine is explained, also where its job cannot be decoded', async () => {
  const { messageId } = createMessage('x')
  await add('job', `{"v":1,"m":[{"messageId":"${messageId}","topicArn":"${ARN}","mess`)
  const { deliveries } = (await api.call('GET', `/v1/messages/${messageId}/deliveries`)).body
  expect(deliveries).toMatchObject([{ subscriptionId: null, state: 'quarantined', reason: 'jobUnreadable' }])
  const { body } = await api.call('GET', `/v1/messages/${messageId}`)
  expect(body).toMatchObject({ topicArn: ARN, counts: { quarantined: 1, waiting: 0 } })
})

test('a message that is isolated waits, with its cause', async () => {
  const { messageId } = createMessage('x')
  const nextAttemptAt = Date.now() + 4_000
  const note = { topicArn: ARN, sizeBytes: 1, failedStarts: 4, nextAttemptAt }
  await new IsolatedMessages(api.redis).note(messageId, note, 4_000)
  const { deliveries } = (await api.call('GET', `/v1/messages/${messageId}/deliveries`)).body
  const at = new Date(nextAttemptAt).toISOString()
  expect(deliveries).toMatchObject([
    { state: 'waiting', cause: 'isolated', reason: null, nextAttemptAt: at, attempts: 0 },
  ])
})
