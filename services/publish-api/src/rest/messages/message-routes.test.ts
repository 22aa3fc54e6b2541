import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

let api: TestApi

beforeAll(async () => {
  api = await startTestApi()
})

afterAll(() => api.stop())

test('a message is shown in numbers and delivery by delivery, without any password', async () => {
  await api.call('PUT', '/v1/topics/orders')
  const created = await api.call('POST', '/v1/topics/orders/subscriptions', {
    body: { endpoint: 'https://user:secret@example.com/' },
  })
  const topicArn = 'arn:aws:sns:us-east-1:000000000000:orders'
  const { body } = await api.call('POST', '/v1/topics/orders/messages', { body: { message: 'x' } })
  const place = await api.deps.subscriptions.locate(created.body.id)
  const none = Buffer.alloc(0)
  await api.outcomes.append({
    dispatch: [
      {
        messageId: body.messageId,
        topicArn,
        sizeBytes: 1,
        slice: place && { shard: place.shard, sliceId: place.sliceId },
        delivered: Buffer.from([1]),
        parked: none,
        filtered: none,
        otherCodes: [],
        failures: [],
      },
    ],
    lanes: [],
  })
  const message = await api.call('GET', `/v1/messages/${body.messageId}`)
  expect(message.body).toMatchObject({ topicArn, sizeBytes: 1, counts: { delivered: 1, waiting: 0 } })
  const { deliveries } = (await api.call('GET', `/v1/messages/${body.messageId}/deliveries`)).body
  expect(deliveries).toMatchObject([
    { subscriptionId: created.body.id, endpoint: 'https://example.com/', state: 'delivered', attempts: 1 },
  ])
})

test.each(['01a1fbe2-80fa-72ab-bc08-d682f311b524', 'nonsense'])('%s is 404', async (id) => {
  for (const path of [`/v1/messages/${id}`, `/v1/messages/${id}/deliveries`]) {
    expect((await api.call('GET', path)).body.error.code).toBe('not_found')
  }
})
