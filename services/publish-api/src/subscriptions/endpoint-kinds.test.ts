/**
 * The parts of an endpoint kind that subscribing uses: its settings, how it is confirmed, and which settings it
 * accepts. Two invented kinds replace http and https.
 */
import {
  GetSubscriptionAttributesCommand,
  SetSubscriptionAttributesCommand,
  SubscribeCommand,
  type SubscribeCommandInput,
} from '@aws-sdk/client-sns'
import { UnconfiguredAttempter } from '@fantail/delivery'
import { PROTOCOL_TRAITS } from '@fantail/policy'
import { deliveryId, placeOfSubscription, type SettleTo } from '@fantail/store'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { refusalOf, type SnsApi, startSnsApi, topicArn } from '../aws/sns/sns.fixture.ts'

const SETTING = 'FANTAIL_MADE_UP_URL'
const real = { ...PROTOCOL_TRAITS }
let sns: SnsApi
let endpoints = 0

beforeAll(async () => {
  const takes = { ...real.sqs.takes, rawDelivery: false, rate: true }
  const fixed = {
    ...real.sqs,
    isQueue: false,
    fifo: { topics: 'never', sendsFollowers: false },
    takes,
  } as const
  PROTOCOL_TRAITS.http = { ...fixed, endpoint: real.http.endpoint, confirmedBy: 'subscriber' }
  PROTOCOL_TRAITS.https = { ...fixed, endpoint: real.https.endpoint, confirmedBy: 'person' }
  sns = await startSnsApi()
  await sns.api.call('PUT', '/v1/topics/orders')
  await sns.api.call('PUT', '/v1/topics/orders.fifo')
})
const attempters = () => sns.api.deps.attempters
let working: ReturnType<typeof attempters>
beforeAll(() => {
  working = attempters()
})
afterEach(() => {
  sns.api.deps.attempters = working
})
afterAll(async () => {
  Object.assign(PROTOCOL_TRAITS, real)
  await sns.stop()
})

const endpointOf = (protocol: string) => `${protocol}://example.com/${endpoints++}`
const natively = (endpoint: string, more: object = {}, topic = 'orders') =>
  sns.api.call('POST', `/v1/topics/${topic}/subscriptions`, { body: { endpoint, ...more } })
const byWire = (Endpoint: string, more: Partial<SubscribeCommandInput> = {}) =>
  sns.client.send(
    new SubscribeCommand({
      TopicArn: topicArn('orders'),
      Protocol: Endpoint.slice(0, Endpoint.indexOf(':')),
      Endpoint,
      ReturnSubscriptionArn: true,
      ...more,
    }),
  )
const wireRefusal = async (endpoint: string, more?: Partial<SubscribeCommandInput>) =>
  (await refusalOf(byWire(endpoint, more))).message
const attributesOf = async (SubscriptionArn: string | undefined) =>
  (await sns.client.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }))).Attributes
const problemsOf = async (...given: Parameters<typeof natively>) =>
  (await natively(...given)).body.error.details

test('without its settings it is refused over either API, which names the setting', async () => {
  sns.api.deps.attempters = { ...working, https: new UnconfiguredAttempter(SETTING) }
  const endpoint = endpointOf('https')
  expect(await wireRefusal(endpoint)).toBe(
    'Invalid parameter: Protocol Reason: this service delivers to http, sqs and application endpoints and cannot deliver to https: ' +
      `${SETTING} is not set`,
  )
  expect(await problemsOf(endpoint)).toEqual([
    {
      path: 'endpoint',
      message: `cannot be delivered to: https endpoints need ${SETTING}, which is not set`,
    },
  ])
})

test('an endpoint that the kind’s settings do not allow is refused, also as the goal of a move', async () => {
  const { body } = await natively(endpointOf('http'))
  const only = Object.create(working.http, {
    refusalOf: { value: () => 'must be allowed by FANTAIL_MADE_UP' },
  })
  sns.api.deps.attempters = { ...working, http: only }
  const problem = { path: 'endpoint', message: 'must be allowed by FANTAIL_MADE_UP' }
  expect(await wireRefusal(endpointOf('http'))).toBe(
    'Invalid parameter: Endpoint Reason: must be allowed by FANTAIL_MADE_UP',
  )
  expect(await problemsOf(endpointOf('http'))).toEqual([problem])
  const moved = await sns.api.call('PATCH', `/v1/subscriptions/${body.id}`, {
    body: { endpoint: endpointOf('http') },
  })
  expect(moved.body.error.details).toEqual([problem])
})

test('a kind that subscribing confirms is active at once, authenticated, and shows no policy', async () => {
  const { SubscriptionArn } = await byWire(endpointOf('http'))
  const attributes = await attributesOf(SubscriptionArn)
  expect(attributes).toMatchObject({
    PendingConfirmation: 'false',
    ConfirmationWasAuthenticated: 'true',
    RawMessageDelivery: 'false',
  })
  expect(Object.keys(attributes ?? {}).filter((name) => name.includes('Policy'))).toEqual([])
  expect(await problemsOf(endpointOf('http'), { confirmation: 'handshake' })).toEqual([
    { path: 'confirmation', message: 'must be none if the endpoint is an http or https URL' },
  ])
})

test('a person is asked over either API, and no native caller waives that', async () => {
  const { SubscriptionArn } = await byWire(endpointOf('https'))
  expect(await attributesOf(SubscriptionArn)).toMatchObject({
    PendingConfirmation: 'true',
    ConfirmationWasAuthenticated: 'false',
  })
  const { body } = await natively(endpointOf('https'))
  expect(body).toMatchObject({ status: 'pending', confirmation: 'handshake' })
  expect(await problemsOf(endpointOf('https'), { confirmation: 'none' })).toEqual([
    { path: 'confirmation', message: 'must be handshake if the endpoint is an http or https URL' },
  ])
})

test('it refuses FIFO topics, policies and raw delivery; a throttle it takes natively', async () => {
  expect(await wireRefusal(endpointOf('http'), { TopicArn: topicArn('orders.fifo') })).toBe(
    'Invalid parameter: Invalid protocol type: http',
  )
  expect(await problemsOf(endpointOf('http'), {}, 'orders.fifo')).toEqual([
    { path: 'endpoint', message: 'must be of sqs, as the topic is a FIFO topic' },
  ])
  const { SubscriptionArn } = await byWire(endpointOf('http'))
  const set = (AttributeName: string, AttributeValue: string) =>
    refusalOf(
      sns.client.send(
        new SetSubscriptionAttributesCommand({ SubscriptionArn, AttributeName, AttributeValue }),
      ),
    )
  const policy = { healthyRetryPolicy: { numRetries: 1 } }
  expect((await set('DeliveryPolicy', JSON.stringify(policy))).message).toBe(
    'Invalid parameter: DeliveryPolicy: Delivery protocol [http] does not support delivery policies.',
  )
  expect((await set('RawMessageDelivery', 'true')).message).toBe(
    'Invalid parameter: Delivery protocol [http] does not support raw message delivery.',
  )
  expect(await problemsOf(endpointOf('http'), { rawMessageDelivery: true, deliveryPolicy: policy })).toEqual([
    { path: 'rawMessageDelivery', message: expect.stringMatching(/^is for sqs .*subscriptions only$/) },
    { path: 'deliveryPolicy.healthyRetryPolicy', message: expect.stringContaining('subscriptions only') },
  ])
  const throttlePolicy = { maxReceivesPerSecond: 3 }
  const { body } = await natively(endpointOf('http'), { deliveryPolicy: { throttlePolicy } })
  expect(body).toMatchObject({ effectiveDeliveryPolicy: { throttlePolicy }, lane: { rate: 3 } })
})

/** A lane with one delivery that was settled so. Returns a function that reads the subscription. */
async function laneWith(to: SettleTo) {
  const { body } = await natively(endpointOf('http'))
  const { shard } = placeOfSubscription(body.id) ?? { shard: -1 }
  const { lanes } = sns.api
  const id = deliveryId('01a1fbe2-80fa-72ab-bc08-d682f311b524')
  const entry = {
    subscriptionId: body.id,
    delivery: id,
    message: 0,
    park: { as: 'detached', leaseMs: 5_000 },
  } as const
  const { jobs } = await lanes.park(shard, {
    messages: [{ id, body: '{}' }],
    jobs: [{ jobName: '', fence: 0, fields: [], entries: [entry] }],
  })
  const lease = (jobs[0]?.stale === false && jobs[0].leases[0]) || ''
  expect(await lanes.settle(shard, [{ subscriptionId: body.id, delivery: id, lease, to }])).toMatchObject({
    accepted: [true],
  })
  const path = `/v1/subscriptions/${body.id}`
  return { path, read: async () => (await sns.api.call('GET', path)).body }
}

test('a blocked lane shows it, and starts again with another endpoint', async () => {
  const { path, read } = await laneWith({ op: 'block', delayMs: 60_000, credential: SETTING })
  expect((await read()).lane).toMatchObject({
    waiting: 1,
    waitsFor: 'misconfigured',
    circuit: null,
    nextProbeAt: expect.any(String),
  })
  await sns.api.call('PATCH', path, { body: { endpoint: endpointOf('http') } })
  expect((await read()).lane).toMatchObject({ waiting: 1, waitsFor: null, nextProbeAt: null })
})

test('a lane with a message whose key is missing is misconfigured, and goes on', async () => {
  const { read } = await laneWith({ op: 'awaitKey', delayMs: 60_000 })
  expect(await read()).toMatchObject({
    lane: { waiting: 1, waitsFor: 'misconfigured', nextProbeAt: null },
    verdict: {
      code: 'misconfigured',
      sentence: expect.stringContaining('lacks the key that opens some sealed messages; 1 delivery waits'),
    },
  })
})

test('a topic’s throttle does not change one whose policy is fixed', async () => {
  const deliveryPolicy = { throttlePolicy: { maxReceivesPerSecond: 4 } }
  await sns.api.call('PUT', '/v1/topics/slow', { body: { deliveryPolicy } })
  const rates = [endpointOf('http'), 'arn:aws:sqs:us-east-1:000000000000:jobs'].map(
    async (endpoint) => (await natively(endpoint, {}, 'slow')).body.lane.rate,
  )
  expect(await Promise.all(rates)).toEqual([null, null])
})
