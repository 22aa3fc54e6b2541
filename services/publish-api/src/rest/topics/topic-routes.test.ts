import { randomUUID } from 'node:crypto'
import { ReplicaAcks, TopicQueues } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

const ARN = 'arn:aws:sns:us-east-1:000000000000:orders'
const POLICY = {
  healthyRetryPolicy: { minDelayTarget: 5, maxDelayTarget: 60, numRetries: 10 },
  throttlePolicy: { maxReceivesPerSecond: 7 },
}
let api: TestApi

beforeAll(async () => {
  api = await startTestApi()
})

afterAll(() => api.stop())

test('PUT creates a topic with defaults, then sets only what it is given', async () => {
  const created = await api.call('PUT', '/v1/topics/orders')
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({
    name: 'orders',
    arn: ARN,
    displayName: '',
    deliveryPolicy: null,
    effectiveDeliveryPolicy: {
      healthyRetryPolicy: { numRetries: 3, backoffFunction: 'linear' },
      throttlePolicy: null,
      requestPolicy: { headerContentType: null },
    },
    retentionSeconds: 345_600,
    signing: 'none',
    subscriptions: { active: 0, pending: 0, paused: 0 },
  })
  const set = await api.call('PUT', `/v1/topics/${ARN}`, {
    body: { displayName: 'Orders', deliveryPolicy: POLICY },
  })
  expect(set.status).toBe(200)
  const patched = await api.call('PATCH', '/v1/topics/orders', { body: { retentionSeconds: 60 } })
  expect(patched.body).toMatchObject({ displayName: 'Orders', deliveryPolicy: POLICY, retentionSeconds: 60 })
  expect(patched.body.effectiveDeliveryPolicy).toMatchObject({
    healthyRetryPolicy: { minDelayTarget: 5, maxDelayTarget: 60, numRetries: 10, numNoDelayRetries: 0 },
    throttlePolicy: { maxReceivesPerSecond: 7 },
  })
})

test('null resets a member', async () => {
  const everything = {
    displayName: 'x',
    deliveryPolicy: POLICY,
    disableSubscriptionOverrides: true,
    retentionSeconds: 60,
  }
  await api.call('PUT', '/v1/topics/reset', { body: everything })
  const nothing = {
    displayName: null,
    deliveryPolicy: null,
    disableSubscriptionOverrides: null,
    retentionSeconds: null,
  }
  expect((await api.call('PATCH', '/v1/topics/reset', { body: nothing })).body).toMatchObject({
    displayName: '',
    deliveryPolicy: null,
    disableSubscriptionOverrides: false,
    retentionSeconds: 345_600,
  })
})

test('tags and attributes of AWS are set, shown to both APIs, and checked', async () => {
  const Policy = JSON.stringify({ Statement: [{ Effect: 'Allow', Principal: '*', Action: 'SNS:Publish' }] })
  const set = { tags: { team: 'a' }, attributes: { Policy, TracingConfig: 'Active', KmsMasterKeyId: '' } }
  const { body } = await api.call('PUT', '/v1/topics/tagged', { body: set })
  expect(body).toMatchObject({ tags: set.tags, attributes: { Policy, TracingConfig: 'Active' } })
  expect(body.attributes).not.toHaveProperty('KmsMasterKeyId')
  const reset = await api.call('PATCH', '/v1/topics/tagged', { body: { tags: null, attributes: null } })
  expect(reset.body).toMatchObject({ tags: {}, attributes: {}, fifoThroughputScope: null })

  const wrong = {
    attributes: { Policy: '{}', Other: 'x' },
    tags: { 'aws:a': 'b' },
    fifoThroughputScope: 'Topic',
  }
  const refusals = await Promise.all(
    Object.entries(wrong).map(async ([name, value]) => {
      const { status, body } = await api.call('PATCH', '/v1/topics/tagged', { body: { [name]: value } })
      return [status, ...body.error.details.map(({ path }: { path: string }) => path)]
    }),
  )
  expect(refusals).toEqual([
    [400, 'attributes.Policy', 'attributes.Other'],
    [400, 'tags.aws:a'],
    [400, 'fifoThroughputScope'],
  ])
  const scoped = await api.call('PUT', '/v1/topics/scoped.fifo', {
    body: { fifoThroughputScope: 'MessageGroup' },
  })
  expect(scoped.body.fifoThroughputScope).toBe('MessageGroup')
})

test('a topic shows its archive and what that has, and is not deleted before its archive is', async () => {
  const archive = { days: 30, whenFull: 'dropOldest' }
  await api.call('PUT', '/v1/topics/archived', { body: { archive } })
  const { body } = await api.call('GET', '/v1/topics/archived')
  expect(body).toMatchObject({ archive, archived: { messages: 0, bytes: 0, dropped: 0 } })
  expect(await api.call('DELETE', '/v1/topics/archived')).toMatchObject({
    status: 409,
    body: { error: { code: 'wrong_state' } },
  })
  expect((await api.call('PATCH', '/v1/topics/archived', { body: { archive: null } })).body.archive).toBe(
    null,
  )
  expect((await api.call('DELETE', '/v1/topics/archived')).status).toBe(204)
})

test('a policy replaces the whole one before it', async () => {
  await api.call('PUT', '/v1/topics/whole', { body: { deliveryPolicy: POLICY } })
  const requestPolicy = { headerContentType: 'application/json' }
  const { body } = await api.call('PATCH', '/v1/topics/whole', {
    body: { deliveryPolicy: { requestPolicy } },
  })
  expect(body.deliveryPolicy).toEqual({ requestPolicy })
})

test('every problem of a policy is listed beside those of other members', async () => {
  const deliveryPolicy = {
    healthyRetryPolicy: { minDelayTarget: 0, numRetries: 101 },
    throttlePolicy: { maxReceivesPerSecond: 1.5 },
    extra: 1,
  }
  const { status, body } = await api.call('PUT', '/v1/topics/bad', {
    body: { deliveryPolicy, retentionSeconds: 1, colour: 'red' },
  })
  expect(status).toBe(400)
  expect(body.error.details.map(({ path }: { path: string }) => path).sort()).toEqual([
    'colour',
    'deliveryPolicy.extra',
    'deliveryPolicy.healthyRetryPolicy.minDelayTarget',
    'deliveryPolicy.healthyRetryPolicy.numRetries',
    'deliveryPolicy.throttlePolicy.maxReceivesPerSecond',
    'retentionSeconds',
  ])
})

test('the queue that a topic made goes with it if it is empty, and stays with its letters if it is not', async () => {
  const own = async (topic: string) => {
    const topicArn = `arn:aws:sns:us-east-1:000000000000:${topic}`
    const queueArn = `arn:aws:sqs:us-east-1:000000000000:${topic}-dead-letters`
    await api.call('PUT', `/v1/topics/${topic}`)
    const letter = { id: randomUUID(), body: 'x', attributes: {} }
    const topicQueues = new TopicQueues({ acks: new ReplicaAcks(api.redis) })
    await topicQueues.send({ topicArn, queueArn, letter, bytesMax: 1e9, now: Date.now() })
    const { body } = await api.call('GET', `/v1/queues/${topic}-dead-letters`)
    expect(body).toMatchObject({ deadLettersOf: topicArn, deadLetterSources: [topicArn] })
  }
  await own('with-letters')
  await own('emptied')
  await api.call('POST', '/v1/queues/emptied-dead-letters/purge')
  for (const topic of ['with-letters', 'emptied']) await api.call('DELETE', `/v1/topics/${topic}`)
  const statusOf = async (queue: string) => (await api.call('GET', `/v1/queues/${queue}`)).status
  expect([await statusOf('with-letters-dead-letters'), await statusOf('emptied-dead-letters')]).toEqual([
    200, 404,
  ])
})

test('until its first letter, the queue that a topic makes is refused with what makes it', async () => {
  for (const topic of ['quiet', 'quiet.fifo']) await api.call('PUT', `/v1/topics/${topic}`)
  const refusalOf = async (path: string) => (await api.call('GET', `/v1/queues/${path}`)).body.error.message
  const refusal = 'no such queue; the first dead letter of topic quiet makes it'
  for (const rest of ['', '/messages', '/dead-letters'])
    expect(await refusalOf(`quiet-dead-letters${rest}`)).toBe(refusal)
  expect(await refusalOf('quiet-dead-letters.fifo')).toBe(
    'no such queue; the first dead letter of topic quiet.fifo makes it',
  )
  for (const queue of ['nobody-dead-letters', 'quiet', 'quiet-dead-letters-0a0a0a0a'])
    expect(await refusalOf(queue)).toBe('no such queue')
})

test('lists come in pages of names with a prefix', async () => {
  for (const name of ['page-1', 'page-2', 'page-3']) await api.call('PUT', `/v1/topics/${name}`)
  const first = await api.call('GET', '/v1/topics?prefix=page-&limit=2')
  const second = await api.call('GET', `/v1/topics?prefix=page-&limit=2&cursor=${first.body.nextCursor}`)
  const names = [...first.body.topics, ...second.body.topics].map(({ name }: { name: string }) => name)
  expect(names).toEqual(['page-1', 'page-2', 'page-3'])
  expect(second.body.nextCursor).toBeNull()
})

test('DELETE answers 204 twice, and the topic is gone', async () => {
  await api.call('PUT', '/v1/topics/brief')
  expect((await api.call('DELETE', '/v1/topics/brief')).status).toBe(204)
  expect((await api.call('DELETE', '/v1/topics/brief')).status).toBe(204)
  expect((await api.call('GET', '/v1/topics/brief')).status).toBe(404)
  expect((await api.call('PATCH', '/v1/topics/brief', { body: {} })).status).toBe(404)
})

const paths = ({ body }: { body: { error: { details: { path: string }[] } } }) =>
  body.error.details.map(({ path }) => path)

test('a name that ends in .fifo makes a FIFO topic; its kind cannot be changed', async () => {
  const put = (name: string, body: object = {}) => api.call('PUT', `/v1/topics/${name}`, { body })
  const created = await put('orders.fifo', { fifo: true, contentBasedDeduplication: true })
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({ fifo: true, contentBasedDeduplication: true })
  const reset = await put('orders.fifo', { contentBasedDeduplication: null })
  expect(reset.body.contentBasedDeduplication).toBe(false)
  expect((await put('orders.fifo', { fifo: false })).body.error.code).toBe('conflict')
  const plain = await put('plain')
  expect(plain.body.fifo).toBe(false)
  const changed = await api.call('PATCH', '/v1/topics/plain', { body: { fifo: true } })
  expect([changed.status, changed.body.error.code, paths(changed)]).toEqual([409, 'conflict', ['fifo']])
  const refused = await put('plain', { contentBasedDeduplication: true })
  expect([refused.status, paths(refused)]).toEqual([400, ['contentBasedDeduplication']])
  const misnamed = await put('new', { fifo: true })
  expect([misnamed.status, paths(misnamed)]).toEqual([400, ['fifo']])
  expect((await api.call('GET', '/v1/topics/new')).status).toBe(404)
})

test('signatures are asked for, and given up', async () => {
  const set = async (signing: string | null) =>
    (await api.call('PUT', '/v1/topics/signed', { body: { signing } })).body.signing
  expect([await set('sns'), await set(null)]).toEqual(['sns', 'none'])
})

test('a policy can be looked at before it is set, with what a topic adds', async () => {
  const backoffFunction = 'exponential'
  const healthyRetryPolicy = {
    minDelayTarget: 1,
    maxDelayTarget: 8,
    numRetries: 6,
    numNoDelayRetries: 1,
    numMinDelayRetries: 1,
    numMaxDelayRetries: 1,
    backoffFunction,
  }
  const own = await api.call('POST', '/v1/delivery-policies/preview', {
    body: { deliveryPolicy: { healthyRetryPolicy } },
  })
  expect(own.body.retries.map(({ phase }: { phase: string }) => phase)).toEqual([
    'immediate',
    'preBackoff',
    'backoff',
    'backoff',
    'backoff',
    'postBackoff',
  ])
  expect(own.body).toMatchObject({ jitter: 0.1, totalSeconds: own.body.retries.at(-1).atSeconds })
  await api.call('PUT', '/v1/topics/preview', { body: { deliveryPolicy: { healthyRetryPolicy } } })
  const inherited = await api.call('POST', '/v1/delivery-policies/preview', {
    body: { deliveryPolicy: {}, topic: 'preview' },
  })
  expect(inherited.body).toEqual(own.body)
})
