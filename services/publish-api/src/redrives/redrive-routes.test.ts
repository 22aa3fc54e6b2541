import type { DeadLetter, Message } from '@fantail/contracts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'

const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:'
const TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders'
let api: TestApi
let subscription: { id: string; arn: string }

beforeAll(async () => {
  api = await startTestApi()
  await api.call('PUT', '/v1/topics/orders')
  subscription = (
    await api.call('POST', '/v1/topics/orders/subscriptions', { body: { endpoint: 'https://example.com/' } })
  ).body
})

afterAll(() => api.stop())

/** Puts two dead letters of the subscription into the queue. */
async function letters(queue: string): Promise<void> {
  await api.call('PUT', `/v1/queues/${queue}`)
  const messageId = '01a1fbe2-80fa-72ab-bc08-d682f311b524'
  const message: Message = { messageId, topicArn: TOPIC, publishedAt: 1, message: 'x' }
  const common = { attempts: 1, subscriptionArn: subscription.arn, topicArn: TOPIC, messageId, generation: 0 }
  const times = { publishedAt: Date.now(), deadLetteredAt: Date.now(), message, lastError: null }
  const one: DeadLetter = { ...common, ...times, reason: 'permanent', statusCode: 400 }
  const two: DeadLetter = { ...common, ...times, reason: 'retriesExhausted', statusCode: 503 }
  await api.deps.queues.send(
    QUEUE + queue,
    [one, two].map((deadLetter) => ({ body: 'x', deadLetter })),
  )
}

const post = (path: string, body?: object) => api.call('POST', `/v1/redrives${path}`, body && { body })

test('a dry run counts and creates nothing', async () => {
  await letters('dry')
  const { status, body } = await post('', {
    source: 'dry',
    dryRun: true,
    filter: { subscription: subscription.id },
  })
  expect(status).toBe(200)
  expect(body).toEqual({
    matched: 2,
    withoutOrigin: 0,
    bySubscription: { [subscription.arn]: 2 },
    byStatusCode: { '400': 1, '503': 1 },
  })
  expect((await api.call('GET', '/v1/redrives?source=dry')).body.redrives).toEqual([])
})

test('a redrive takes the dead letters of one reason', async () => {
  await letters('by-reason')
  const request = { source: 'by-reason', filter: { reason: 'permanent' } }
  expect((await post('', { ...request, dryRun: true })).body).toMatchObject({
    matched: 1,
    byStatusCode: { '400': 1 },
  })
  const { status, body } = await post('', request)
  expect([status, body.matched]).toEqual([202, 1])
  expect((await post('', { source: 'by-reason', filter: { reason: 'other' } })).status).toBe(400)
})

test('a queue that nothing was dead-lettered to needs a destination, and says so', async () => {
  await api.call('PUT', '/v1/queues/ordinary')
  await api.call('PUT', '/v1/queues/other')
  await api.deps.queues.send(`${QUEUE}ordinary`, [{ body: 'x' }])
  const refused = await post('', { source: 'ordinary' })
  expect([refused.status, refused.body.error]).toMatchObject([
    400,
    {
      code: 'validation_failed',
      details: [
        { path: 'destination', message: expect.stringMatching(/^must be named: .* dead-letter queue/) },
      ],
    },
  ])
  expect((await api.call('GET', '/v1/redrives?source=ordinary')).body.redrives).toEqual([])
  const counted = await post('', { source: 'ordinary', dryRun: true })
  expect(counted.body).toMatchObject({ matched: 1, withoutOrigin: 1 })
  expect((await post('', { source: 'ordinary', destination: 'other' })).status).toBe(202)
  expect((await post('', { source: 'nowhere' })).status).toBe(404)
})

test('one that is a dead-letter queue may be redriven while it is empty', async () => {
  await api.call('PUT', '/v1/queues/letters')
  const redrivePolicy = { deadLetterTargetArn: `${QUEUE}letters`, maxReceiveCount: 1 }
  await api.call('PUT', '/v1/queues/source', { body: { redrivePolicy } })
  expect((await post('', { source: 'letters' })).status).toBe(202)
})

test('a task is created, read, listed, slowed, paused, resumed and canceled', async () => {
  await letters('task')
  const created = await post('', { source: 'task', maxMessagesPerSecond: 10, filter: { statusCode: 503 } })
  expect(created.status).toBe(202)
  expect(created.body).toMatchObject({
    status: 'running',
    source: `${QUEUE}task`,
    destination: null,
    moved: 0,
    maxMessagesPerSecond: 10,
    endedAt: null,
  })
  const second = await post('', { source: `${QUEUE}task` })
  expect([second.status, second.body.error.code]).toEqual([409, 'redrive_active'])
  const path = `/${created.body.id}`
  const slowed = await api.call('PATCH', `/v1/redrives${path}`, { body: { maxMessagesPerSecond: null } })
  expect(slowed.body.maxMessagesPerSecond).toBeNull()
  expect((await post(`${path}/pause`)).body.status).toBe('paused')
  expect((await post(`${path}/resume`)).body.status).toBe('running')
  expect((await post(`${path}/cancel`)).body.status).toMatch(/^cancel(ing|ed)$/)
  expect((await api.call('GET', `/v1/redrives${path}`)).body.id).toBe(created.body.id)
  expect((await api.call('GET', '/v1/redrives?source=task')).body.redrives).toHaveLength(1)
})

test('a deleted subscription is named by its ARN, and a task that does not exist is 404', async () => {
  await letters('named')
  const gone = `${TOPIC}:000b1478-1b20-8eb5-9000-0abada1c0c5f`
  expect(
    (await post('', { source: 'named', dryRun: true, filter: { subscription: gone } })).body.matched,
  ).toBe(0)
  const byId = await post('', { source: 'named', dryRun: true, filter: { subscription: gone.split(':')[6] } })
  expect(byId.body.error.details).toMatchObject([{ path: 'filter.subscription' }])
  const none = '/01a1fbe2-80fa-72ab-bc08-d682f311b524'
  const answers = await Promise.all([
    api.call('GET', `/v1/redrives${none}`),
    api.call('PATCH', `/v1/redrives${none}`, { body: { maxMessagesPerSecond: 1 } }),
    post(`${none}/cancel`),
    post('', { source: 'no-such-queue' }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
})
