/** An endpoint that can never be reached is refused when a request names it, not at every delivery. */
import { SubscribeCommand } from '@aws-sdk/client-sns'
import { createAddressGuard } from '@fantail/delivery'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusalOf, type SnsApi, startSnsApi, topicArn } from '../aws/sns/sns.fixture.ts'

let sns: SnsApi

beforeAll(async () => {
  sns = await startSnsApi()
  const lists = { allow: ['10.1.0.0/16'], deny: ['*.evil.example'] }
  sns.api.deps.addressGuard = createAddressGuard({ allowPrivate: false, ...lists })
  await sns.api.call('PUT', '/v1/topics/orders')
  await sns.api.call('PUT', '/v1/queues/jobs')
})
afterAll(() => sns.stop())

const subscribe = (endpoint: string, more: object = {}) =>
  sns.api.call('POST', '/v1/topics/orders/subscriptions', { body: { endpoint, ...more } })
const count = async () => (await sns.api.call('GET', '/v1/subscriptions')).body.subscriptions.length

const REFUSED = [
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://[::1]:8080/',
  'http://[::ffff:169.254.169.254]/',
  'http://169.254.169.254/latest/meta-data/',
  'http://localhost:4100/',
  'http://x.localhost/',
  'http://10.2.0.1/',
  'https://a.evil.example/',
]

test.each(REFUSED)('%s cannot be subscribed, over either API', async (endpoint) => {
  const before = await count()
  const native = await subscribe(endpoint)
  expect([native.status, native.body.error.code]).toEqual([400, 'validation_failed'])
  expect(native.body.error.details).toMatchObject([
    { path: 'endpoint', message: expect.stringContaining('refused') },
  ])
  const protocol = endpoint.slice(0, endpoint.indexOf(':'))
  const input = { TopicArn: topicArn('orders'), Protocol: protocol, Endpoint: endpoint }
  expect(await refusalOf(sns.client.send(new SubscribeCommand(input)))).toEqual({
    name: 'InvalidParameterException',
    status: 400,
    message: 'Invalid parameter: Unreachable Endpoint',
  })
  const body = { url: endpoint }
  const consumer = await sns.api.call('PUT', '/v1/queues/jobs/consumers/hook', { body })
  expect([consumer.status, consumer.body.error.details[0].path]).toEqual([400, 'url'])
  expect(await count()).toBe(before)
})

test('a refusal has nothing of the credentials', async () => {
  const { text, status } = await subscribe('http://user:s3cret@127.0.0.1/')
  expect([status, text.includes('s3cret')]).toEqual([400, false])
})

test('allowed addresses and unknown names are accepted', async () => {
  for (const endpoint of [
    'http://10.1.2.3/',
    'http://receiver:8080/',
    'https://hooks.internal/',
    'https://example.com/',
  ])
    expect((await subscribe(endpoint)).status).toBe(201)
  expect((await subscribe('jobs', { protocol: 'sqs' })).status).toBe(201)
})

test('a proxy is judged by its own address, and the endpoint by what a proxy may be asked for', async () => {
  const through = async (endpoint: string, proxy: string) => {
    const { status, body } = await subscribe(endpoint, { outbound: { proxy } })
    return [status, body.error?.details[0].path]
  }
  expect(await through('https://example.com/1', 'http://127.0.0.1:3128')).toEqual([400, 'outbound.proxy'])
  expect(await through('http://127.0.0.1/', 'http://10.1.0.1:3128')).toEqual([400, 'endpoint'])
  expect(await through('http://receiver/', 'http://10.1.0.1:3128')).toEqual([400, 'endpoint'])
  expect(await through('https://example.com/1', 'http://10.1.0.1:3128')).toEqual([201, undefined])
})

test('a change of the way or of a consumer’s URL is judged like a new one', async () => {
  const { id } = (await subscribe('https://example.com/2')).body
  const patch = (outbound: unknown) =>
    sns.api.call('PATCH', `/v1/subscriptions/${id}`, { body: { outbound } })
  expect((await patch({ proxy: 'http://user:word@[::1]:3128' })).status).toBe(400)
  expect((await sns.api.call('GET', `/v1/subscriptions/${id}`)).body.outbound).toBeNull()
  expect((await patch({ proxy: 'http://10.1.0.1:3128' })).status).toBe(200)
  const hook = (body: object) => sns.api.call('PATCH', '/v1/queues/jobs/consumers/hook', { body })
  await sns.api.call('PUT', '/v1/queues/jobs/consumers/hook', { body: { url: 'https://example.com/' } })
  expect((await hook({ url: 'http://169.254.169.254/' })).status).toBe(400)
  expect((await hook({ outbound: { proxy: 'http://localhost:1' } })).status).toBe(400)
  const { body } = await sns.api.call('GET', '/v1/queues/jobs/consumers/hook')
  expect([body.url, body.outbound]).toEqual(['https://example.com/', null])
})
