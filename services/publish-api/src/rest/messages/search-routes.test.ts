import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

const ORDERS = 'arn:aws:sns:us-east-1:000000000000:orders'
let api: TestApi
let admin: TestKey
let subscriptionId: string
const messages: Record<string, string> = {}

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['publish', 'read', 'manage'])
  for (const topic of ['orders', 'clicks']) {
    await admin.call('PUT', `/v1/topics/${topic}`)
    const { body } = await admin.call('POST', `/v1/topics/${topic}/messages`, { body: { message: 'x' } })
    messages[topic] = body.messageId
  }
  const subscribed = { body: { endpoint: 'https://crm.example.com/in' } }
  subscriptionId = (await admin.call('POST', '/v1/topics/orders/subscriptions', subscribed)).body.id
  for (const topic of ['orders', 'clicks']) await note(topic)
})
afterAll(() => api.stop())

/**
 * Writes into the outcome log that the topic's message failed and went to its lane. The message of `orders` was then
 * dead-lettered.
 */
async function note(topic: string) {
  const messageId = messages[topic] ?? ''
  const place = topic === 'orders' ? await api.deps.subscriptions.locate(subscriptionId) : null
  const none = Buffer.alloc(0)
  const slice = place && { shard: place.shard, sliceId: place.sliceId }
  const topicArn = ORDERS.replace('orders', topic)
  const bits = { delivered: none, parked: Buffer.from([1]), filtered: none, otherCodes: [], failures: [] }
  const end = { generation: 0, outcome: 'deadLettered' as const, reason: 'retriesExhausted' }
  const facts = { attempts: 4, statusCode: 503, error: null }
  await api.outcomes.append({
    dispatch: [{ messageId, topicArn, sizeBytes: 1, slice, ...bits }],
    lanes: topic === 'orders' ? [{ messageId, subscriptionId, ...end, ...facts }] : [],
  })
}

const search = async (query = '', key = admin) => key.call('GET', `/v1/messages${query}`)
const idsOf = async (query = '', key = admin) =>
  (await search(query, key)).body.messages.map(({ messageId }: { messageId: string }) => messageId)

test('a dead letter is found by state, status, topic and subscription', async () => {
  const { orders } = messages
  const [found] = (await search('?state=deadLettered&statusCode=503')).body.messages
  expect(found).toMatchObject({
    messageId: orders,
    topicArn: ORDERS,
    counts: { deadLettered: 1, delivered: 0 },
    ends: [{ subscriptionId, outcome: 'deadLettered', statusCode: 503, attempts: 4, redrives: 0 }],
  })
  for (const query of [
    'topic=orders',
    `subscription=${subscriptionId}`,
    `subscription=${ORDERS}:${subscriptionId}`,
  ])
    expect(await idsOf(`?${query}`)).toEqual([orders])
  expect(await idsOf('?topic=orders&state=delivered')).toEqual([])
  expect(await idsOf('?since=2999-01-01T00:00:00Z')).toEqual([])
})

test('a page says how far it looked, and the next one goes on', async () => {
  const { body } = await search('?limit=1')
  expect(body).toMatchObject({ scannedTo: expect.any(String), nextCursor: expect.any(String) })
  const rest = await search(`?cursor=${body.nextCursor}`)
  const ids = [...body.messages, ...rest.body.messages].map(({ messageId }) => messageId)
  expect(new Set(ids)).toEqual(new Set(Object.values(messages)))
  expect(rest.body.nextCursor).toBeNull()
})

test('a key that is bound to names sees only its own messages', async () => {
  const clicks = await keyWith(api, ['read'], { prefixes: ['clicks'] })
  expect(await idsOf('', clicks)).toEqual([messages.clicks])
  expect((await search('?topic=orders', clicks)).status).toBe(403)
  expect((await search(`?subscription=${subscriptionId}`, clicks)).status).toBe(404)
  expect((await search('', await keyWith(api, ['publish']))).status).toBe(403)
})

test.each([
  ['state=lost', 'state'],
  ['statusCode=99', 'statusCode'],
  ['since=yesterday', 'since'],
  ['limit=0', 'limit'],
  ['cursor=nonsense', 'cursor'],
  ['colour=red', 'colour'],
])('%s is refused', async (query, path) => {
  const { status, body } = await search(`?${query}`)
  expect([status, body.error.code]).toEqual([400, 'validation_failed'])
  expect(body.error.details[0].path).toBe(path)
})

test('a deleted subscription is found, also after its topic is deleted, and only by keys for the topic', async () => {
  const clicks = await keyWith(api, ['read'], { prefixes: ['clicks'] })
  for (const path of [`/v1/subscriptions/${subscriptionId}`, '/v1/topics/orders']) {
    await admin.call('DELETE', path)
    expect(await idsOf(`?subscription=${subscriptionId}`)).toEqual([messages.orders])
    expect((await search(`?subscription=${subscriptionId}`, clicks)).status).toBe(404)
    const rows = (await admin.call('GET', `/v1/messages/${messages.orders}/deliveries`)).body.deliveries
    expect(rows).toMatchObject([{ subscriptionId, state: 'deadLettered', attempts: 4, endpoint: null }])
  }
})

test.each(['2ed27b75-ed07-88d2-8000-0a4a7289a382', 'nonsense'])(
  'the subscription %s is unknown',
  async (id) => {
    expect((await search(`?subscription=${id}`)).status).toBe(404)
  },
)
