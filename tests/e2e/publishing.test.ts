/** The messages that a publisher can send, and their form at a subscriber. */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { notification, publish, subscribe } from '../harness/receivers/webhooks.ts'
import type { ErrorBody } from '../harness/services/rest-client.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack()
const receiver = useReceiver()
const hook = (path: string) => `${receiver().url}${path}`

test('a message arrives in the SNS envelope with the SNS headers', async () => {
  const { arn, topicArn } = await subscribe(stack(), 'envelope', { endpoint: hook('/envelope') })
  const { messageId } = await stack().client.post<{ messageId: string }>('/v1/topics/envelope/messages', {
    message: 'hello "you"',
    subject: 'greeting',
    attributes: { n: 3, kinds: ['a', 'b'], word: 'x' },
  })
  const [request] = await receiver().waitForRequests(1, '/envelope')
  if (!request) throw new Error('no request')
  expect(request.method).toBe('POST')
  expect(request.headers).toMatchObject({
    'x-amz-sns-message-type': 'Notification',
    'x-amz-sns-message-id': messageId,
    'x-amz-sns-topic-arn': topicArn,
    'x-amz-sns-subscription-arn': arn,
    'content-type': 'application/json',
    'user-agent': 'Amazon Simple Notification Service Agent',
  })
  expect(notification(request)).toEqual({
    Type: 'Notification',
    MessageId: messageId,
    TopicArn: topicArn,
    Subject: 'greeting',
    Message: 'hello "you"',
    Timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    UnsubscribeURL: expect.stringContaining(
      `${stack().api.url}/?Action=Unsubscribe&SubscriptionArn=${arn}&Token=`,
    ),
    MessageAttributes: {
      n: { Type: 'Number', Value: '3' },
      kinds: { Type: 'String.Array', Value: '["a","b"]' },
      word: { Type: 'String', Value: 'x' },
    },
  })
})

test('raw delivery is the message and nothing else, with the content type of its policy', async () => {
  await subscribe(stack(), 'bare', {
    endpoint: hook('/bare'),
    rawMessageDelivery: true,
    deliveryPolicy: { requestPolicy: { headerContentType: 'application/json' } },
  })
  await publish(stack(), 'bare', { order: 17 })
  const [request] = await receiver().waitForRequests(1, '/bare')
  expect(request?.text).toBe('{"order":17}')
  expect(request?.headers).toMatchObject({
    'x-amz-sns-rawdelivery': 'true',
    'content-type': 'application/json',
  })
})

test('?raw=true publishes any body that a webhook sender posts', async () => {
  await subscribe(stack(), 'relay', { endpoint: hook('/relay') })
  const { status } = await stack().client.call(
    'POST',
    '/v1/topics/relay/messages?raw=true&subject=from%20afar',
    {
      rawBody: '<order id="1"/>',
      headers: { 'content-type': 'application/xml' },
    },
  )
  expect(status).toBe(202)
  const [request] = await receiver().waitForRequests(1, '/relay')
  expect(request && notification(request)).toMatchObject({ Message: '<order id="1"/>', Subject: 'from afar' })
})

test('structure json gives each protocol its own text', async () => {
  const { client } = stack()
  await client.put('/v1/queues/texts')
  await subscribe(stack(), 'texts', { endpoint: hook('/texts'), rawMessageDelivery: true })
  const endpoint = 'arn:aws:sqs:us-east-1:000000000000:texts'
  await client.post('/v1/topics/texts/subscriptions', { endpoint, rawMessageDelivery: true })
  const message = { default: 'for all', http: 'for webhooks' }
  await client.post('/v1/topics/texts/messages', { message, structure: 'json' })
  const [request] = await receiver().waitForRequests(1, '/texts')
  expect(request?.text).toBe('for webhooks')
  const received = await client.post<{ messages: { body: string }[] }>('/v1/queues/texts/receive', {
    waitSeconds: 10,
  })
  expect(received.messages.map(({ body }) => body)).toEqual(['for all'])
})

test('a batch is accepted whole and in order, or refused whole', async () => {
  const { client } = stack()
  await subscribe(stack(), 'batch', { endpoint: hook('/batch'), rawMessageDelivery: true })
  const path = '/v1/topics/batch/messages'
  const bad = { messages: [{ message: 'never' }, { message: 'never', subject: 'x'.repeat(101) }] }
  const refused = await client.call<ErrorBody>('POST', path, { body: bad })
  expect([refused.status, refused.body.error.code]).toEqual([400, 'validation_failed'])
  expect(refused.body.error.details).toMatchObject([{ path: 'messages[1].subject' }])
  const messages = Array.from({ length: 100 }, (_, n) => ({ message: `m${n}` }))
  const { results } = await client.post<{ results: { messageId: string }[] }>(path, { messages })
  const arrived = await receiver().waitForRequests(100, '/batch')
  const textOf = new Map(arrived.map(({ messageId, text }) => [messageId, text]))
  expect(results.map(({ messageId }) => textOf.get(messageId))).toEqual(
    messages.map(({ message }) => message),
  )
  expect(arrived.filter(({ text }) => text === 'never')).toEqual([])
})

test('an Idempotency-Key makes one message of repeated requests, also of those made at once', async () => {
  const { client } = stack()
  await subscribe(stack(), 'once', { endpoint: hook('/once'), rawMessageDelivery: true })
  const send = (message: string) =>
    client.call<{ messageId: string } & ErrorBody>('POST', '/v1/topics/once/messages', {
      body: { message },
      headers: { 'idempotency-key': 'order-17' },
    })
  const answers = await Promise.all([send('charge'), send('charge'), send('charge')])
  const again = await send('charge')
  expect(new Set([...answers, again].map(({ body }) => body.messageId)).size).toBe(1)
  expect(again.headers['idempotent-replayed']).toBe('true')
  const other = await send('something else')
  expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_mismatch'])
  await publish(stack(), 'once', 'last')
  // A standard topic has no order, so the last message may arrive before the first.
  for (const message of ['last', 'charge'])
    await receiver().waitForRequests(1, ({ text }) => text === message)
  expect(
    receiver()
      .requestsTo('/once')
      .map(({ text }) => text)
      .sort(),
  ).toEqual(['charge', 'last'])
})

test('an invalid publish is refused with its reason', async () => {
  const { client } = stack()
  await client.put('/v1/topics/strict')
  const refusal = async (path: string, body: unknown) => {
    const { status, body: answer } = await client.call<ErrorBody>('POST', `/v1/topics/${path}/messages`, {
      body,
    })
    return [status, answer.error.code]
  }
  expect(await refusal('absent', { message: 'x' })).toEqual([404, 'not_found'])
  expect(await refusal('strict', { message: '' })).toEqual([400, 'validation_failed'])
  expect(await refusal('strict', { message: 'x', unknown: 1 })).toEqual([400, 'validation_failed'])
  expect(await refusal('strict', { message: 'x', groupId: 'a b' })).toEqual([400, 'validation_failed'])
  expect(await refusal('strict', { message: 'x', deduplicationId: 'd' })).toEqual([400, 'validation_failed'])
  expect(await refusal('strict', { message: 'x'.repeat(262_145) })).toEqual([413, 'too_large'])
})

test('queues are subscribers like webhooks, in the envelope or raw with their attributes', async () => {
  const { client } = stack()
  const arn = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`
  for (const name of ['plain', 'raw']) await client.put(`/v1/queues/${name}`)
  await subscribe(stack(), 'to-queues', { endpoint: arn('plain') })
  await client.post('/v1/topics/to-queues/subscriptions', { endpoint: arn('raw'), rawMessageDelivery: true })
  await client.post('/v1/topics/to-queues/messages', { message: 'queued', attributes: { size: 2 } })
  const receive = async (name: string) => {
    type Received = { messages: { body: string; attributes: Record<string, unknown> }[] }
    const { messages } = await client.post<Received>(`/v1/queues/${name}/receive`, { waitSeconds: 10 })
    return messages[0]
  }
  expect(JSON.parse((await receive('plain'))?.body ?? '')).toMatchObject({
    Type: 'Notification',
    Message: 'queued',
  })
  expect(await receive('raw')).toMatchObject({
    body: 'queued',
    attributes: { size: { type: 'Number', value: '2' } },
  })
})

test('a topic deleted with messages waiting discards and counts them', async () => {
  const { client } = stack()
  const { id } = await subscribe(stack(), 'doomed', { endpoint: hook('/doomed') })
  await client.post(`/v1/subscriptions/${id}/pause`)
  for (const text of ['one', 'two']) await publish(stack(), 'doomed', text)
  await waitFor(
    async () =>
      (await client.get<{ lane: { waiting: number } }>(`/v1/subscriptions/${id}`)).lane.waiting === 2,
  )
  await client.delete('/v1/topics/doomed')
  await client.delete('/v1/topics/doomed')
  expect((await client.call('GET', `/v1/subscriptions/${id}`)).status).toBe(404)
  expect((await client.call('GET', '/v1/topics/doomed')).status).toBe(404)
  await waitFor(async () => (await stack().connection.keys('ft:*:msg:*')).length === 0)
  expect(receiver().requestsTo('/doomed')).toEqual([])
})
