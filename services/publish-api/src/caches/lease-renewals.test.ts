import { waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'

let api: TestApi
beforeAll(async () => {
  api = await startTestApi()
  await api.call('PUT', '/v1/topics/orders')
})
afterAll(() => api.stop())

const put = (queue: string, body: object) => api.call('PUT', `/v1/queues/${queue}`, { body })
const endsAt = async (queue: string) =>
  Date.parse((await api.call('GET', `/v1/queues/${queue}`)).body.leaseEndsAt)

test('a lease is shown, renewed by a receive, and taken away with null', async () => {
  const { body } = await put('short', { leaseSeconds: 60 })
  expect(body.leaseSeconds).toBe(60)
  const before = await endsAt('short')
  await waitFor(() => Date.now() > before - 60_000 + 5)
  const received = await api.call('POST', '/v1/queues/short/receive', { body: {} })
  expect([received.status, (await endsAt('short')) > before]).toEqual([200, true])
  const patched = await api.call('PATCH', '/v1/queues/short', { body: { leaseSeconds: null } })
  expect(patched.body).toMatchObject({ leaseSeconds: null, leaseEndsAt: null })
})

test('deleting a leased queue deletes the subscriptions to it', async () => {
  await put('gone', { leaseSeconds: 60 })
  const body = { protocol: 'sqs', endpoint: 'arn:aws:sqs:us-east-1:000000000000:gone' }
  const made = await api.call('POST', '/v1/topics/orders/subscriptions', { body })
  expect(made.status).toBe(201)
  await api.call('DELETE', '/v1/queues/gone')
  expect((await api.call('GET', `/v1/subscriptions/${made.body.id}`)).status).toBe(404)
})

test('a subscription that was moved to a leased queue is deleted with it', async () => {
  await put('lasting', {})
  await put('moved-to', { leaseSeconds: 60 })
  const arn = (queue: string) => `arn:aws:sqs:us-east-1:000000000000:${queue}`
  const body = { protocol: 'sqs', endpoint: arn('lasting') }
  const { id } = (await api.call('POST', '/v1/topics/orders/subscriptions', { body })).body
  const moved = await api.call('PATCH', `/v1/subscriptions/${id}`, { body: { endpoint: arn('moved-to') } })
  expect([moved.status, moved.body.endpoint]).toEqual([200, arn('moved-to')])
  await api.call('DELETE', '/v1/queues/moved-to')
  expect((await api.call('GET', `/v1/subscriptions/${id}`)).status).toBe(404)
})

test('a queue without a lease gets none later, because topics may deliver to it already', async () => {
  await put('plain', {})
  for (const method of ['PUT', 'PATCH']) {
    const { status, body } = await api.call(method, '/v1/queues/plain', { body: { leaseSeconds: 60 } })
    expect([status, body.error.details]).toEqual([
      400,
      [{ path: 'leaseSeconds', message: 'is for new queues; a queue that exists gets no lease' }],
    ])
  }
  await put('changed', { leaseSeconds: 60 })
  expect((await put('changed', { leaseSeconds: 90 })).body.leaseSeconds).toBe(90)
})

test.each([59, 604_801, '60', 60.5])('a lease of %j is refused', async (leaseSeconds) => {
  const { status, body } = await put('refused', { leaseSeconds })
  expect([status, body.error.details[0].path]).toEqual([400, 'leaseSeconds'])
})

test('a queue has a lease or push consumers, not both', async () => {
  const consumer = { body: { url: 'https://example.com/push' } }
  await put('leased', { leaseSeconds: 60 })
  const refused = await api.call('PUT', '/v1/queues/leased/consumers/worker', consumer)
  expect([refused.status, refused.body.error.details[0].message]).toEqual([
    400,
    'has a lease, which only receives renew',
  ])
  await put('pushed', {})
  expect((await api.call('PUT', '/v1/queues/pushed/consumers/worker', consumer)).status).toBe(201)
  expect((await put('pushed', { leaseSeconds: 60 })).status).toBe(400)
})
