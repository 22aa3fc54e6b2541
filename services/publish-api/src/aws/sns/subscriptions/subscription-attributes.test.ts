/** A subscription's attributes with the SDK's client. */
import {
  GetSubscriptionAttributesCommand,
  GetTopicAttributesCommand,
  SetSubscriptionAttributesCommand,
  SubscribeCommand,
} from '@aws-sdk/client-sns'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCOUNT, queueArn, refusalOf, type SnsApi, startSnsApi, topicArn } from '../sns.fixture.ts'

const TOPIC = topicArn('orders')
const FIFO = topicArn('orders.fifo')
let sns: SnsApi
let endpoints = 0

beforeAll(async () => {
  sns = await startSnsApi()
  await sns.api.deps.topics.put(TOPIC, {
    deliveryPolicy: { requestPolicy: { headerContentType: 'application/json' } },
  })
  await sns.api.deps.topics.put(FIFO, {})
})

afterAll(() => sns.stop())

interface Endpoint {
  TopicArn?: string
  Protocol?: string
  Endpoint?: string
}

const hook = () => ({ Endpoint: `https://example.com/${endpoints++}` })

async function subscribe(
  Attributes: Record<string, string> = {},
  endpoint: Endpoint = hook(),
): Promise<string> {
  const given = { TopicArn: TOPIC, Protocol: 'https', ReturnSubscriptionArn: true, Attributes, ...endpoint }
  return (await sns.client.send(new SubscribeCommand(given))).SubscriptionArn ?? ''
}

async function get(SubscriptionArn: string): Promise<Record<string, string>> {
  const answer = await sns.client.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }))
  return answer.Attributes ?? {}
}

const set = (SubscriptionArn: string, AttributeName: string, AttributeValue?: string) =>
  sns.client.send(new SetSubscriptionAttributesCommand({ SubscriptionArn, AttributeName, AttributeValue }))

/** Checks a refusal of an attribute. Subscribe's text has a prefix that SetSubscriptionAttributes does not have. */
async function expectRefused(name: string, value: string, text: string, endpoint: () => Endpoint = hook) {
  const [onSubscribe, onSet] = [
    await refusalOf(subscribe({ [name]: value }, endpoint())),
    await refusalOf(set(await subscribe({}, endpoint()), name, value)),
  ]
  expect(onSubscribe.message).toBe(`Invalid parameter: Attributes Reason: ${text}`)
  expect(onSet.message).toBe(`Invalid parameter: ${text}`)
  for (const { name: code, status } of [onSubscribe, onSet]) {
    expect([code, status]).toEqual(['InvalidParameterException', 400])
  }
}

const RETRIES = { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 0 }
const LEFTOVERS = { sicklyRetryPolicy: null, guaranteed: false }

test('a pending webhook shows its attributes and the policy in force, and no policy of its own', async () => {
  const endpoint = 'https://user:secret@example.com/hook'
  const arn = await subscribe({}, { Endpoint: endpoint })
  expect(await get(arn)).toEqual({
    SubscriptionArn: arn,
    TopicArn: TOPIC,
    Protocol: 'https',
    Endpoint: endpoint.replace('secret', '****'),
    Owner: ACCOUNT,
    SubscriptionPrincipal: `arn:aws:iam::${ACCOUNT}:root`,
    PendingConfirmation: 'true',
    ConfirmationWasAuthenticated: 'false',
    RawMessageDelivery: 'false',
    EffectiveDeliveryPolicy: expect.any(String),
  })
})

test('[23] a queue shows no delivery policy; its owner’s subscription counts as authenticated', async () => {
  const arn = await subscribe({}, { Protocol: 'sqs', Endpoint: queueArn('work') })
  expect(await get(arn)).toEqual({
    SubscriptionArn: arn,
    TopicArn: TOPIC,
    Protocol: 'sqs',
    Endpoint: queueArn('work'),
    Owner: ACCOUNT,
    SubscriptionPrincipal: `arn:aws:iam::${ACCOUNT}:root`,
    PendingConfirmation: 'false',
    ConfirmationWasAuthenticated: 'true',
    RawMessageDelivery: 'false',
  })
})

test('[19][21] the policies are written as recorded from AWS, to the letter', async () => {
  const policy = { healthyRetryPolicy: RETRIES, throttlePolicy: { maxReceivesPerSecond: 1_000 } }
  const shown = await get(await subscribe({ DeliveryPolicy: JSON.stringify(policy) }))
  expect(shown.DeliveryPolicy).toBe(
    '{"healthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":1,"numRetries":0,"numMaxDelayRetries":0,"numNoDelayRetries":0,"numMinDelayRetries":0,"backoffFunction":"linear"},"sicklyRetryPolicy":null,"throttlePolicy":{"maxReceivesPerSecond":1000},"requestPolicy":null,"guaranteed":false}',
  )
  expect(shown.EffectiveDeliveryPolicy).toBe(
    shown.DeliveryPolicy?.replace(
      '"requestPolicy":null',
      '"requestPolicy":{"headerContentType":"application/json"}',
    ),
  )
})

test('[20] a subscription with only a request policy retries as the system does', async () => {
  const requestPolicy = { headerContentType: 'text/plain' }
  const shown = await get(await subscribe({ DeliveryPolicy: JSON.stringify({ requestPolicy }) }))
  expect(JSON.parse(shown.DeliveryPolicy ?? '')).toEqual({
    healthyRetryPolicy: null,
    throttlePolicy: null,
    requestPolicy,
    ...LEFTOVERS,
  })
  expect(JSON.parse(shown.EffectiveDeliveryPolicy ?? '')).toEqual({
    healthyRetryPolicy: {
      minDelayTarget: 20,
      maxDelayTarget: 20,
      numRetries: 3,
      numMaxDelayRetries: 0,
      numNoDelayRetries: 0,
      numMinDelayRetries: 0,
      backoffFunction: 'linear',
    },
    throttlePolicy: null,
    requestPolicy,
    ...LEFTOVERS,
  })
})

test('[22] overrides that the topic disables are shown, and not in force', async () => {
  const strict = topicArn('strict')
  await sns.api.deps.topics.put(strict, { disableSubscriptionOverrides: true })
  const DeliveryPolicy = JSON.stringify({ healthyRetryPolicy: RETRIES })
  const shown = await get(await subscribe({ DeliveryPolicy }, { TopicArn: strict, ...hook() }))
  expect(JSON.parse(shown.DeliveryPolicy ?? '').healthyRetryPolicy.numRetries).toBe(0)
  expect(JSON.parse(shown.EffectiveDeliveryPolicy ?? '').healthyRetryPolicy.numRetries).toBe(3)
})

test('[5][6][7] a policy replaces the one before, with null groups left out; an empty text deletes it', async () => {
  const arn = await subscribe({ DeliveryPolicy: '{"requestPolicy":{"headerContentType":"text/plain"}}' })
  const replacement = { healthyRetryPolicy: RETRIES, requestPolicy: null, ...LEFTOVERS }
  await set(arn, 'DeliveryPolicy', JSON.stringify(replacement))
  expect(JSON.parse((await get(arn)).DeliveryPolicy ?? '')).toMatchObject({
    healthyRetryPolicy: RETRIES,
    requestPolicy: null,
  })
  await set(arn, 'DeliveryPolicy', '')
  expect(await get(arn)).not.toHaveProperty('DeliveryPolicy')
})

const retries = (change: object) => JSON.stringify({ healthyRetryPolicy: { ...RETRIES, ...change } })
const ATLEAST =
  'must be greater than or equal to total of numMinDelayRetries, numNoDelayRetries and numMaxDelayRetries'

test.each<[what: string, policy: string, text: string]>([
  ['[8]', retries({ numRetries: 101 }), 'healthyRetryPolicy.numRetries must be less than or equal to 100'],
  [
    '[9]',
    retries({ minDelayTarget: 0 }),
    'healthyRetryPolicy.minDelayTarget must be greater than or equal to 1',
  ],
  [
    '[10]',
    '{"healthyRetryPolicy":{"maxDelayTarget":1,"numRetries":1}}',
    'healthyRetryPolicy.minDelayTarget must be specified',
  ],
  [
    '[11]',
    retries({ minDelayTarget: 2 }),
    'healthyRetryPolicy.maxDelayTarget must be greater than or equal to minDelayTarget',
  ],
  [
    '[12]',
    retries({ maxDelayTarget: 3_601 }),
    'healthyRetryPolicy.maxDelayTarget must be less than or equal to 3600',
  ],
  ['[13]', retries({ numRetries: 1, numNoDelayRetries: 2 }), `healthyRetryPolicy.numRetries ${ATLEAST}`],
  [
    '[14]',
    retries({ minDelayTarget: 61, maxDelayTarget: 61, numRetries: 60 }),
    'healthyRetryPolicy must delay retries by less than or equal to 3600 seconds in total, not 3660; FANTAIL_MAX_RETRY_SECONDS sets this limit',
  ],
  ['a topic’s shape', '{"http":{}}', 'Unexpected JSON member: http'],
  [
    '[16]',
    retries({ backoffFunction: 'cubic' }),
    'healthyRetryPolicy.backoffFunction must be one of linear, arithmetic, geometric, exponential',
  ],
  [
    '[17]',
    '{"throttlePolicy":{"maxReceivesPerSecond":0}}',
    'throttlePolicy.maxReceivesPerSecond must be greater than or equal to 1',
  ],
  [
    '[18]',
    '{"requestPolicy":{"headerContentType":"text/csv"}}',
    'requestPolicy.headerContentType must be one of application/json, text/plain, with or without a charset',
  ],
  ['no object', '[]', 'must be a JSON object'],
])('%s a delivery policy of %s is refused', async (_number, policy, text) => {
  await expectRefused('DeliveryPolicy', policy, `DeliveryPolicy: ${text}`)
})

test('a delivery policy is JSON, and for webhooks only', async () => {
  const { message } = await refusalOf(subscribe({ DeliveryPolicy: '{' }))
  expect(message).toContain('Invalid parameter: Attributes Reason: DeliveryPolicy: failed to parse JSON. ')
  await expectRefused(
    'DeliveryPolicy',
    '{}',
    'DeliveryPolicy: Delivery protocol [sqs] does not support delivery policies.',
    () => ({ Protocol: 'sqs', Endpoint: queueArn(`q${endpoints++}`) }),
  )
})

test('[18] raw subscriptions may name other content types, and keep to it while they do', async () => {
  const DeliveryPolicy = '{"requestPolicy":{"headerContentType":"text/csv"}}'
  const arn = await subscribe({ RawMessageDelivery: 'true', DeliveryPolicy })
  expect((await refusalOf(set(arn, 'RawMessageDelivery', 'false'))).message).toBe(
    'Invalid parameter: DeliveryPolicy: requestPolicy.headerContentType must be one of application/json, text/plain, with or without a charset',
  )
  await set(arn, 'DeliveryPolicy', '')
  await set(arn, 'RawMessageDelivery', 'false')
  expect((await get(arn)).RawMessageDelivery).toBe('false')
})

test('[141] raw delivery is true or false, in any letters, also while pending', async () => {
  const arn = await subscribe({ RawMessageDelivery: 'TRUE' })
  expect((await get(arn)).RawMessageDelivery).toBe('true')
  await set(arn, 'RawMessageDelivery', 'False')
  expect((await get(arn)).RawMessageDelivery).toBe('false')
  const text = 'RawMessageDelivery: Invalid value [x]. Must be true or false.'
  await expectRefused('RawMessageDelivery', 'x', text)
})

test('[143] an attribute that there is not is refused, as one that cannot be set', async () => {
  for (const name of ['Colour', 'Owner', 'EffectiveDeliveryPolicy']) {
    await expectRefused(name, 'x', 'AttributeName')
  }
})

test('[160] a redrive policy is shown while it is set, and known to its queue', async () => {
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queueArn('letters') })
  await sns.api.call('PUT', '/v1/queues/letters')
  const arn = await subscribe({ RedrivePolicy })
  const sources = async () => (await sns.api.call('GET', '/v1/queues/letters')).body.deadLetterSources
  expect([(await get(arn)).RedrivePolicy, await sources()]).toEqual([RedrivePolicy, [arn]])
  await set(arn, 'RedrivePolicy', '')
  expect(await get(arn)).not.toHaveProperty('RedrivePolicy')
  expect(await sources()).toEqual([])
})

test('[149] a redrive policy names a queue by its ARN', async () => {
  const text = 'RedrivePolicy: deadLetterTargetArn is an invalid arn'
  for (const target of ['letters', TOPIC, 5, undefined]) {
    await expectRefused('RedrivePolicy', JSON.stringify({ deadLetterTargetArn: target }), text)
  }
  await expectRefused('RedrivePolicy', '"x"', text)
  const { message } = await refusalOf(subscribe({ RedrivePolicy: 'x' }))
  expect(message).toContain('Invalid parameter: Attributes Reason: RedrivePolicy: failed to parse JSON. ')
})

test('[316] a redrive policy has no other member', async () => {
  const policy = { deadLetterTargetArn: queueArn('letters'), maxReceiveCount: 3 }
  const text = 'RedrivePolicy: invalid JSON. Attribute maxReceiveCount is unknown.'
  await expectRefused('RedrivePolicy', JSON.stringify(policy), text)
})

test('[158] dead letters of a FIFO queue on a FIFO topic need a FIFO queue, those of others may not have one', async () => {
  const to = (queue: string) => JSON.stringify({ deadLetterTargetArn: queueArn(queue) })
  const fifo = () => ({ TopicArn: FIFO, Protocol: 'sqs', Endpoint: queueArn(`q${endpoints++}.fifo`) })
  const text = 'RedrivePolicy: must use a FIFO queue as DLQ for a FIFO Subscription to a FIFO Topic.'
  await expectRefused('RedrivePolicy', to('letters'), text, fifo)
  expect((await get(await subscribe({ RedrivePolicy: to('l.fifo') }, fifo()))).RedrivePolicy).toBe(
    to('l.fifo'),
  )
  await expectRefused(
    'RedrivePolicy',
    to('l.fifo'),
    'RedrivePolicy: must use a standard queue as DLQ for a subscription to a standard topic.',
  )
})

test('settings of the native API are shown in SNS’s form, and stay while other attributes are set', async () => {
  const { api } = sns
  await api.call('PUT', '/v1/topics/native', {
    body: { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 0.4 } } },
  })
  const healthyRetryPolicy = { preset: 'patient', retryOn: ['5xx', 404] }
  const deliveryPolicy = { healthyRetryPolicy, throttlePolicy: { maxReceivesPerSecond: 0.2 } }
  const body = { ...{ endpoint: hook().Endpoint }, deliveryPolicy }
  const { arn, id } = (await api.call('POST', '/v1/topics/native/subscriptions', { body })).body
  const shown = await get(arn)
  const { healthyRetryPolicy: retry, throttlePolicy } = JSON.parse(shown.DeliveryPolicy ?? '')
  expect(throttlePolicy).toEqual({ maxReceivesPerSecond: 1 })
  expect(Object.keys(retry)).not.toContain('retryOn')
  expect(retry).toMatchObject({ minDelayTarget: 5, maxDelayTarget: 3_600, numRetries: 40 })
  expect(shown.RedrivePolicy).toBeUndefined()

  await set(arn, 'RawMessageDelivery', 'true')
  const { effectiveDeliveryPolicy } = (await api.call('GET', `/v1/subscriptions/${id}`)).body
  expect(effectiveDeliveryPolicy).toMatchObject({
    healthyRetryPolicy: { numRetries: 40, retryOn: ['5xx', 404] },
    throttlePolicy: { maxReceivesPerSecond: 0.2 },
  })
  const ofTopic = await sns.client.send(
    new GetTopicAttributesCommand({ TopicArn: arn.slice(0, arn.lastIndexOf(':')) }),
  )
  const { http } = JSON.parse(ofTopic.Attributes?.DeliveryPolicy ?? '')
  expect(http.defaultThrottlePolicy).toEqual({ maxReceivesPerSecond: 1 })

  const text = 'DeliveryPolicy: '
  const refused = (policy: object) => refusalOf(set(arn, 'DeliveryPolicy', JSON.stringify(policy)))
  expect((await refused({ healthyRetryPolicy })).message).toContain(`${text}Unexpected JSON member: preset`)
  expect((await refused({ throttlePolicy: { maxReceivesPerSecond: 0.2 } })).message).toContain(
    'must be an integer',
  )
})

test('a redrive policy that is taken away discards, also of a subscription that the native API made', async () => {
  const { api } = sns
  const body = { endpoint: hook().Endpoint }
  const { arn, id } = (await api.call('POST', '/v1/topics/orders/subscriptions', { body })).body
  await set(arn, 'RedrivePolicy', '')
  expect((await api.call('GET', `/v1/subscriptions/${id}`)).body).toMatchObject({
    redrivePolicy: null,
    onFailure: 'after 4 attempts in 1 min discarded; at once if refused permanently',
  })
})

test('a role is kept and shown', async () => {
  const SubscriptionRoleArn = 'arn:aws:iam::000000000000:role/r'
  const arn = await subscribe({ SubscriptionRoleArn })
  expect((await get(arn)).SubscriptionRoleArn).toBe(SubscriptionRoleArn)
  await set(arn, 'SubscriptionRoleArn', '')
  expect(await get(arn)).not.toHaveProperty('SubscriptionRoleArn')
})

test('a subscription that is not there', async () => {
  const missing = `${TOPIC}:000b1478-1b20-8eb5-9000-0abada1c0c5f`
  const refused = { name: 'NotFoundException', status: 404, message: 'Subscription does not exist' }
  expect(await refusalOf(get(missing))).toEqual(refused)
  expect(await refusalOf(set(missing, 'RawMessageDelivery', 'true'))).toEqual(refused)
  const arn = await subscribe()
  expect(await refusalOf(get(arn.replace(':orders:', ':other:')))).toEqual(refused)
  expect((await refusalOf(get(PENDING))).message).toBe(
    'Invalid parameter: SubscriptionArn Reason: An ARN must have at least 6 elements, not 1',
  )
})

const PENDING = 'PendingConfirmation'
