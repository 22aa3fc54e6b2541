import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi, waitingIn } from '../fixtures/test-api.fixture.ts'

const TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders'
let api: TestApi

beforeAll(async () => {
  api = await startTestApi()
  await api.call('PUT', '/v1/topics/orders')
})

afterAll(() => api.stop())

const follow = (query: Record<string, string>) => api.call('GET', `/?${new URLSearchParams(query)}`)

async function subscribe(endpoint: string, confirmation = 'none') {
  const { body } = await api.call('POST', '/v1/topics/orders/subscriptions', {
    body: { endpoint, confirmation },
  })
  return body as { id: string; arn: string }
}

test('a browser without an Action is sent to the console, a client gets an error', async () => {
  const visit = (path: string, accept: string) => api.call('GET', path, { headers: { accept } })
  const page = 'text/html,application/xhtml+xml,*/*;q=0.8'
  for (let i = 0; i < 2; i++) {
    const { status, headers } = await visit('/', page)
    expect([status, headers.get('location')]).toEqual([303, '/console/'])
  }
  expect((await visit('/', '*/*')).text).toContain('<Code>MissingAction</Code>')
  expect((await visit('/?Action=Nonsense', page)).text).toContain('<Code>InvalidAction</Code>')
})

test('the confirm link makes a pending subscription active, as often as it is followed', async () => {
  const { id, arn } = await subscribe('https://example.com/a', 'handshake')
  const [message] = await waitingIn(api, id)
  for (let i = 0; i < 2; i++) {
    const { status, text, headers } = await follow({
      Action: 'ConfirmSubscription',
      TopicArn: TOPIC,
      Token: message?.token ?? '',
    })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toContain('text/xml')
    expect(text).toContain(`<ConfirmSubscriptionResult><SubscriptionArn>${arn}</SubscriptionArn>`)
  }
  expect((await api.call('GET', `/v1/subscriptions/${id}`)).body.status).toBe('active')
})

test('a HEAD performs no operation', async () => {
  const { id, arn } = await subscribe('https://example.com/head')
  await api.call('PUT', '/v1/queues/jobs')
  await api.call('POST', '/v1/queues/jobs/messages', { body: { body: 'x' } })
  const requests: Record<string, string>[] = [
    { Action: 'Unsubscribe', SubscriptionArn: arn },
    { Action: 'CreateTopic', Name: 'headed' },
    { Action: 'ReceiveMessage', Version: '2012-11-05', QueueUrl: 'http://localhost/000000000000/jobs' },
  ]
  for (const query of requests)
    expect((await api.call('HEAD', `/?${new URLSearchParams(query)}`)).status).toBe(400)
  expect((await api.call('GET', `/v1/subscriptions/${id}`)).status).toBe(200)
  expect((await api.call('GET', '/v1/topics/headed')).status).toBe(404)
  expect((await api.call('GET', '/v1/queues/jobs')).body.counts).toMatchObject({ visible: 1, inFlight: 0 })
})

test('the unsubscribe link takes a subscription out, asks whether that was meant, and can be undone', async () => {
  const { id, arn } = await subscribe('https://example.com/b')
  await api.call('POST', `/v1/subscriptions/${id}/pause`)
  const { status, text } = await follow({ Action: 'Unsubscribe', SubscriptionArn: arn })
  expect(status).toBe(200)
  expect(text).toMatch(/^<UnsubscribeResponse xmlns="[^"]+"><ResponseMetadata><RequestId>[^<]+/)
  expect((await api.call('GET', `/v1/subscriptions/${id}`)).status).toBe(404)
  expect((await api.call('POST', `/v1/subscriptions/${id}/resume`)).status).toBe(404)
  expect(
    (await api.call('GET', '/v1/subscriptions?endpoint=https://example.com/b')).body.subscriptions,
  ).toEqual([])
  const record = await api.deps.subscriptions.get(id)
  const undo = { Action: 'ConfirmSubscription', TopicArn: TOPIC, Token: record?.token ?? '' }
  expect((await follow(undo)).text).toContain(arn)
  expect((await api.call('GET', `/v1/subscriptions/${id}`)).body.status).toBe('paused')
})

test('the question goes through the lane of an active subscription, after everything else was discarded', async () => {
  const { id, arn } = await subscribe('https://example.com/c')
  await follow({ Action: 'Unsubscribe', SubscriptionArn: arn })
  const messages = await waitingIn(api, id)
  expect(messages).toMatchObject([
    { kind: 'UnsubscribeConfirmation', token: expect.stringMatching(/^[0-9a-f]{288}$/) },
  ])
  await follow({ Action: 'Unsubscribe', SubscriptionArn: arn })
  expect(await waitingIn(api, id)).toEqual([])
})

test('an unsubscribed endpoint can be subscribed again', async () => {
  const { arn, id } = await subscribe('https://example.com/d')
  await follow({ Action: 'Unsubscribe', SubscriptionArn: arn })
  const again = await api.call('POST', '/v1/topics/orders/subscriptions', {
    body: { endpoint: 'https://example.com/d' },
  })
  expect([again.status, again.body.status]).toEqual([201, 'active'])
  expect(again.body.id).not.toBe(id)
})

test('pending subscriptions and queues are gone at once', async () => {
  const pending = await subscribe('https://example.com/e', 'handshake')
  const queue = await subscribe('arn:aws:sqs:us-east-1:000000000000:q')
  for (const { arn, id } of [pending, queue]) {
    expect((await follow({ Action: 'Unsubscribe', SubscriptionArn: arn })).status).toBe(200)
    expect(await api.deps.subscriptions.get(id)).toBeNull()
  }
})

const ID = '000b1478-1b20-8eb5-9000-0abada1c0c5f'

test.each([
  [
    { Action: 'ConfirmSubscription', TopicArn: TOPIC, Token: 'abc123' },
    'InvalidParameter',
    'Invalid parameter: Token',
  ],
  [
    { Action: 'ConfirmSubscription', TopicArn: TOPIC, Token: 'randomtoken' },
    'InvalidParameter',
    'Invalid parameter: Token',
  ],
  [
    { Action: 'ConfirmSubscription', TopicArn: TOPIC },
    'InvalidParameter',
    'Invalid parameter: Token Reason: no value for required parameter',
  ],
  [
    { Action: 'ConfirmSubscription', TopicArn: 'orders', Token: 'ab' },
    'InvalidParameter',
    'Invalid parameter: Topic',
  ],
  [
    { Action: 'ConfirmSubscription', TopicArn: TOPIC.replace('us-east-1', 'eu-west-1'), Token: 'ab' },
    'InvalidParameter',
    'Invalid parameter: Topic',
  ],
  [
    { Action: 'Unsubscribe' },
    'InvalidParameter',
    'Invalid parameter: SubscriptionArn Reason: no value for required parameter',
  ],
  [
    { Action: 'Unsubscribe', SubscriptionArn: 'pending confirmation' },
    'InvalidParameter',
    'Invalid parameter: SubscriptionArn Reason: An ARN must have at least 6 elements, not 1',
  ],
  [
    { Action: 'Unsubscribe', SubscriptionArn: TOPIC },
    'InvalidParameter',
    'Invalid parameter: SubscriptionId',
  ],
  [{ Action: '<Publish&' }, 'InvalidAction', 'The action &lt;Publish&amp; is not valid for this endpoint.'],
  [{}, 'MissingAction', 'The request must contain the parameter Action.'],
])('%j is refused as SNS does', async (query, code, message) => {
  const { status, text } = await follow(query as Record<string, string>)
  expect(status).toBe(400)
  expect(text).toContain(
    `<Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error>`,
  )
})

test('unsubscribing what does not exist, or not under that topic, is fine and changes nothing', async () => {
  expect((await follow({ Action: 'Unsubscribe', SubscriptionArn: `${TOPIC}:${ID}` })).status).toBe(200)
  const { arn, id } = await subscribe('https://example.com/f')
  expect(
    (await follow({ Action: 'Unsubscribe', SubscriptionArn: arn.replace(':orders:', ':other:') })).status,
  ).toBe(200)
  expect((await api.call('GET', `/v1/subscriptions/${id}`)).status).toBe(200)
})
