/** Subscriptions and push consumers of functions, over both APIs: accepted and refused requests, and the answers. */
import { SubscribeCommand } from '@aws-sdk/client-sns'
import { createAttempters } from '@fantail/delivery'
import { MailState, MobilePushState } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusalOf, type SnsApi, startSnsApi, topicArn } from '../aws/sns/sns.fixture.ts'

let sns: SnsApi

beforeAll(async () => {
  sns = await startSnsApi()
  const { deps } = sns.api
  const tools = {
    sender: { send: () => undefined, openAhead: () => undefined, dial: () => ({ cancel: () => undefined }) },
    vault: undefined,
  }
  const queues = { appends: { append: () => Promise.reject(new Error('unused')) }, itemIdOf: () => '' }
  const protocolSettings = { functions: { hello: 'http://127.0.0.1:9000' } }
  const mail = new MailState(sns.api.redis, { clock: Date.now, onProblem: () => undefined })
  const mobilePush = new MobilePushState(sns.api.redis, {
    onDisabled: () => undefined,
    publishUpdated: async () => undefined,
  })
  const { lambda } = createAttempters({
    ...tools,
    ...queues,
    mail,
    sms: deps.sms,
    mobilePush,
    clock: Date.now,
    userAgent: undefined,
    protocolSettings,
  })
  deps.attempters = { ...deps.attempters, lambda }
  for (const name of ['orders', 'orders.fifo']) await sns.api.call('PUT', `/v1/topics/${name}`)
  await sns.api.call('PUT', '/v1/queues/jobs')
})
afterAll(() => sns.stop())

const functionArn = (name: string) => `arn:aws:lambda:us-east-1:000000000000:function:${name}`
const natively = (endpoint: string, more: object = {}, topic = 'orders') =>
  sns.api.call('POST', `/v1/topics/${topic}/subscriptions`, { body: { endpoint, ...more } })
const problemsOf = async (...given: Parameters<typeof natively>) =>
  (await natively(...given)).body.error.details
const wireRefusal = async (Endpoint: string, Attributes = {}, topic = 'orders') => {
  const input = { TopicArn: topicArn(topic), Protocol: 'lambda', Endpoint, Attributes }
  return (await refusalOf(sns.client.send(new SubscribeCommand(input)))).message
}

test('a function is subscribed by its ARN, with a version or alias too, or by its name with its protocol', async () => {
  const made = [
    await natively(functionArn('hello')),
    await natively('hello:live', { protocol: 'lambda' }),
    await natively(functionArn('hello:$LATEST')),
  ]
  expect(made.map(({ status, body }) => [status, body.protocol, body.endpoint, body.status])).toEqual([
    [201, 'lambda', functionArn('hello'), 'active'],
    [201, 'lambda', functionArn('hello:live'), 'active'],
    [201, 'lambda', functionArn('hello:$LATEST'), 'active'],
  ])
})

test('a function that no setting names is refused over either API', async () => {
  const message = 'must be a function that FANTAIL_FUNCTIONS or FANTAIL_AWS_TARGETS names'
  expect(await problemsOf(functionArn('other'))).toEqual([{ path: 'endpoint', message }])
  expect(await wireRefusal(functionArn('other'))).toBe(`Invalid parameter: Endpoint Reason: ${message}`)
})

test('a text that is no ARN of a function is refused in SNS’s words', async () => {
  for (const endpoint of ['hello', 'arn:aws:lambda:us-east-1:000000000000:layer:x', 'https://example.com/'])
    expect(await wireRefusal(endpoint)).toBe('Invalid parameter: Lambda endpoint ARN')
})

test('[302][303][305] a FIFO topic, a delivery policy and raw delivery are refused', async () => {
  const arn = functionArn('hello:refused')
  expect(await wireRefusal(arn, {}, 'orders.fifo')).toBe('Invalid parameter: Invalid protocol type: lambda')
  expect(await wireRefusal(arn, { RawMessageDelivery: 'true' })).toBe(
    'Invalid parameter: Attributes Reason: Delivery protocol [lambda] does not support raw message delivery.',
  )
  expect(await wireRefusal(arn, { DeliveryPolicy: '{"healthyRetryPolicy":{}}' })).toMatch(
    /Delivery protocol \[lambda\] does not support delivery policies/,
  )
  expect(await problemsOf(arn, { rawMessageDelivery: true })).toMatchObject([{ path: 'rawMessageDelivery' }])
  expect((await natively(arn, {}, 'orders.fifo')).status).toBe(400)
})

const put = (body: object) => sns.api.call('PUT', '/v1/queues/jobs/consumers/worker', { body })

test('a push consumer takes a function that the settings name, and no outbound settings with it', async () => {
  const { status, body } = await put({ url: functionArn('hello') })
  expect([status, body.url, body.outbound]).toEqual([201, functionArn('hello'), null])
  const outbound = { headers: { 'x-key': 'secret' } }
  const refused = [await put({ url: functionArn('other') }), await put({ outbound })]
  expect(refused.map(({ body }) => body.error.details)).toEqual([
    [{ path: 'url', message: 'must be a function that FANTAIL_FUNCTIONS or FANTAIL_AWS_TARGETS names' }],
    [{ path: 'outbound', message: 'must be null if the url is the ARN of a function' }],
  ])
  expect((await put({ url: 'https://example.com/jobs', outbound })).status).toBe(200)
  expect((await put({ url: functionArn('hello') })).status).toBe(400)
  expect((await put({ url: functionArn('hello'), outbound: null })).status).toBe(200)
})
