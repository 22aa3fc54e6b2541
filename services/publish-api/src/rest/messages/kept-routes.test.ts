import { createMessageId, type Message, parseMessageId } from '@fantail/contracts'
import { deadLetterItemId, deliveryId, KeptMessages, messageBody } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../../auth/keys.fixture.ts'
import { startTestApi, type TestApi, waitingIn } from '../../fixtures/test-api.fixture.ts'

const ORDERS = 'arn:aws:sns:us-east-1:000000000000:orders'
const KEEP = { keepMessages: { seconds: 3_600, bytes: 1_048_576 } }
let api: TestApi
let admin: TestKey
let subscription: { id: string; arn: string }

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['publish', 'read', 'manage', 'redrive', 'bodies'])
  await admin.call('PUT', '/v1/topics/orders', { body: KEEP })
  const endpoint = { body: { endpoint: 'https://crm.example.com/in' } }
  subscription = (await admin.call('POST', '/v1/topics/orders/subscriptions', endpoint)).body
})
afterAll(() => api.stop())

/** A message that dispatch has logged, in the ring of its topic or not. */
async function dispatched(set: Partial<Message> = {}, isKept = true): Promise<string> {
  const publishedAt = Date.now()
  const messageId = createMessageId(publishedAt)
  const message: Message = { messageId, topicArn: ORDERS, publishedAt, message: 'hello', ...set }
  const { topicArn } = message
  const none = Buffer.alloc(0)
  const place = await api.deps.subscriptions.locate(subscription.id)
  const slice = place && topicArn === ORDERS ? { shard: place.shard, sliceId: place.sliceId } : null
  const found = {
    delivered: slice ? Buffer.from([1]) : none,
    parked: none,
    filtered: none,
    otherCodes: [],
    failures: [],
  }
  await api.outcomes.append({ dispatch: [{ messageId, topicArn, sizeBytes: 5, slice, ...found }], lanes: [] })
  const uid = (await api.deps.topics.get(topicArn))?.uid ?? ''
  const id = parseMessageId(messageId) ?? none
  if (isKept) await new KeptMessages(api.redis).keep([{ arn: topicArn, uid, id, body: messageBody(message) }])
  return messageId
}

const bodyOf = (id: string, key = admin) => key.call('GET', `/v1/messages/${id}/body`)
const resend = (id: string, given: string = subscription.id, key = admin, headers = {}) =>
  key.call('POST', `/v1/messages/${id}/resend`, { body: { subscription: given }, headers })

test('the text of a kept message is served as it was published', async () => {
  const attributes = { color: { type: 'String', value: 'red' } }
  const id = await dispatched({ subject: 'Hi', attributes, publicUrl: 'http://own' })
  const { status, body } = await bodyOf(id)
  expect(status).toBe(200)
  expect(body).toEqual({
    messageId: id,
    topicArn: ORDERS,
    publishedAt: expect.stringMatching(/Z$/),
    message: 'hello',
    subject: 'Hi',
    attributes,
    from: 'kept',
  })
})

test('a message that only a lane or a dead-letter queue has is served from there, else the answer says why', async () => {
  const id = await dispatched({}, false)
  expect((await bodyOf(id)).body.error).toMatchObject({
    code: 'body_gone',
    message: expect.stringContaining('was published before'),
  })
  expect((await bodyOf(id)).status).toBe(410)
  await admin.call('PUT', '/v1/queues/dead')
  const queue = 'arn:aws:sqs:us-east-1:000000000000:dead'
  const redrivePolicy = { deadLetterTargetArn: queue }
  await admin.call('PATCH', `/v1/subscriptions/${subscription.id}`, { body: { redrivePolicy } })
  const message: Message = { messageId: id, topicArn: ORDERS, publishedAt: Date.now(), message: 'dead' }
  const end = { subscriptionId: subscription.id, generation: 1, outcome: 'deadLettered' as const }
  const facts = { reason: 'permanent' as const, attempts: 1, statusCode: 400 }
  await api.outcomes.append({ dispatch: [], lanes: [{ messageId: id, ...end, ...facts, error: null }] })
  const now = Date.now()
  const times = {
    publishedAt: now,
    deadLetteredAt: now,
    lastError: null,
    generation: 1,
    messageId: id,
    message,
  }
  const deadLetter = { ...facts, ...times, subscriptionArn: subscription.arn, topicArn: ORDERS }
  const item = deadLetterItemId(subscription.id, deliveryId(id, 1))
  await api.deps.queues.send(queue, [{ id: item, body: 'x', deadLetter }])
  expect((await bodyOf(id)).body).toMatchObject({ message: 'dead', from: 'deadLetter' })
  const place = { queueArn: queue, messageId: item }
  const rows = (await admin.call('GET', `/v1/messages/${id}/deliveries`)).body.deliveries
  expect(rows.find(({ state }: { state: string }) => state === 'deadLettered').deadLetter).toEqual(place)
  const letter = (await admin.call('GET', `/v1/queues/dead/messages/${item}`)).body
  expect(letter).toMatchObject({ line: 'dead', deadLetter: { publishedMessageId: id } })
  expect((await bodyOf(createMessageId(Date.now()))).status).toBe(404)
})

test('a message that only the ring of its topic has is shown without deliveries, once its entry is overdue', async () => {
  const keep = async (publishedAt: number, damaged = (body: string) => body) => {
    const messageId = createMessageId(publishedAt)
    const attributes = { color: { type: 'String', value: 'red' } }
    const message = { messageId, topicArn: ORDERS, publishedAt, message: 'hello', attributes }
    const uid = (await api.deps.topics.get(ORDERS))?.uid ?? ''
    const id = parseMessageId(messageId) ?? Buffer.alloc(0)
    await new KeptMessages(api.redis).keep([{ arn: ORDERS, uid, id, body: damaged(messageBody(message)) }])
    return messageId
  }
  const [old, fresh] = [await keep(Date.now() - 120_000), await keep(Date.now())]
  const { status, body } = await admin.call('GET', `/v1/messages/${old}`)
  expect(status).toBe(200)
  expect(body).toMatchObject({ messageId: old, topicArn: ORDERS, target: null, sizeBytes: 19, logged: false })
  const deliveries = await admin.call('GET', `/v1/messages/${old}/deliveries`)
  expect([deliveries.status, deliveries.body]).toEqual([200, { deliveries: [], logged: false }])
  expect(await admin.status('GET', `/v1/messages/${fresh}`)).toBe(404)
  const changed = await keep(Date.now() - 120_000, (text) => text.replace('hello', 'jello'))
  for (const of of ['', '/deliveries'])
    expect(await admin.status('GET', `/v1/messages/${changed}${of}`)).toBe(410)
})

test('a message is resent as a new delivery, which its row shows, and a repeated request adds none', async () => {
  const id = await dispatched({ message: 'again' })
  const key = { 'idempotency-key': 'one' }
  for (let n = 0; n < 2; n++) {
    const answer = await resend(id, subscription.arn, admin, key)
    expect([answer.status, answer.body]).toEqual([202, { messageId: id, subscriptionId: subscription.id }])
  }
  const [row] = (await admin.call('GET', `/v1/messages/${id}/deliveries`)).body.deliveries
  expect(row).toMatchObject({ state: 'waiting', redrives: 0 })
  expect(Date.parse(row.resentAt)).toBeGreaterThan(Date.now() - 60_000)
  expect((await bodyOf(id)).body.from).toBe('kept')
  await resend(id)
  const waiting = await waitingIn(api, subscription.id)
  expect(waiting.map(({ messageId, message }) => [messageId, message])).toEqual([
    [id, 'again'],
    [id, 'again'],
  ])
  // No task shows their ends, so Redis keeps nothing for it.
  expect(await api.redis.keys('*}:redriven:by:*')).toEqual([])
})

test('a resend is refused where it cannot be made, and nothing is stored', async () => {
  await admin.call('PUT', '/v1/topics/other')
  const other = ORDERS.replace('orders', 'other')
  const elsewhere = await dispatched({ topicArn: other }, false)
  const foreign = await resend(elsewhere)
  expect([foreign.status, foreign.body.error.details[0].path]).toEqual([400, 'subscription'])
  expect((await resend(createMessageId(Date.now()))).status).toBe(404)
  expect((await resend(await dispatched(), 'no id')).status).toBe(400)
  expect((await resend(await dispatched({}, false))).status).toBe(410)
  expect(await waitingIn(api, subscription.id)).toEqual([])
})

test('a resend takes times with any offset, and says what is wrong with its members', async () => {
  const path = `/v1/subscriptions/${subscription.id}/resend`
  const dryRun = { since: '2026-01-01T02:00:00+02:00', dryRun: true }
  expect((await admin.call('POST', path, { body: dryRun })).status).toBe(200)
  const detailsOf = async (body: object) => (await admin.call('POST', path, { body })).body.error.details
  expect(await detailsOf({})).toEqual([{ path: 'since', message: 'is required' }])
  expect(await detailsOf({ ...dryRun, maxMessagesPerSecond: 0 })).toEqual([
    { path: 'maxMessagesPerSecond', message: 'must be more than 0' },
  ])
})

test('a resend since a time is a task that the routes of redrives show and change', async () => {
  const path = `/v1/subscriptions/${subscription.id}/resend`
  const since = '2026-01-01T00:00:00.000Z'
  const counted = await admin.call('POST', path, { body: { since, dryRun: true } })
  expect([counted.status, counted.body.matched > 0]).toEqual([200, true])
  const { status, body: task } = await admin.call('POST', path, { body: { since, maxMessagesPerSecond: 5 } })
  const shown = { action: 'resend', source: subscription.arn, status: 'running', maxMessagesPerSecond: 5 }
  expect([status, task]).toMatchObject([202, shown])
  const again = await admin.call('POST', path, { body: { since } })
  expect(again.body.error.code).toBe('redrive_active')
  const own = await keyWith(api, ['read', 'redrive'], { prefixes: ['ord'] })
  const stranger = await keyWith(api, ['read', 'redrive'], { prefixes: ['other'] })
  const list = `/v1/redrives?source=${subscription.arn}`
  expect((await own.call('GET', list)).body.redrives).toMatchObject([shown])
  expect((await own.call('GET', '/v1/redrives')).body.redrives).toMatchObject([shown])
  expect((await stranger.call('GET', '/v1/redrives')).body.redrives).toEqual([])
  expect(await stranger.status('GET', `/v1/redrives/${task.id}`)).toBe(404)
  expect((await own.call('POST', `/v1/redrives/${task.id}/cancel`)).body.status).toMatch(/^cancel/)
})

test('a resend of failed deliveries only is stored as such', async () => {
  const path = `/v1/subscriptions/${subscription.id}/resend`
  const since = '2026-01-01T00:00:00.000Z'
  const wrong = await admin.call('POST', path, { body: { since, failedOnly: 'yes' } })
  expect(wrong.body.error.details).toMatchObject([{ path: 'failedOnly' }])
  const { status, body: task } = await admin.call('POST', path, { body: { since, failedOnly: true } })
  expect(status).toBe(202)
  expect((await api.deps.redrives.get(task.id))?.filter).toMatchObject({ failedOnly: true })
  await admin.call('POST', `/v1/redrives/${task.id}/cancel`)
})

test('a policy is tried on the latest messages, with a count for each clause that refused', async () => {
  await admin.call('PUT', '/v1/topics/clicks', { body: KEEP })
  const topicArn = ORDERS.replace('orders', 'clicks')
  for (let n = 0; n < 12; n++)
    await dispatched({ topicArn, attributes: { size: { type: 'Number', value: String(n) } } })
  const filterPolicy = { size: [{ numeric: ['>=', 8] }], color: [{ exists: false }] }
  const replay = (body: object, key = admin) => key.call('POST', '/v1/filter-policies/replay', { body })
  const asked = { topic: 'clicks', filterPolicy }
  expect((await replay({ ...asked, last: 6 })).body).toMatchObject({
    kept: 12,
    tried: 6,
    matched: 4,
    ended: 'last',
    unreadable: 0,
    clauses: [
      { path: 'size', condition: [{ numeric: ['>=', 8] }], refused: 2 },
      { path: 'color', refused: 0 },
    ],
  })
  expect((await replay({ ...asked, last: 100 })).body).toMatchObject({ tried: 12, matched: 4, ended: 'ring' })
  expect((await replay({ ...asked, last: 0 })).status).toBe(400)
  expect((await replay({ ...asked, topic: 'other', last: 1 })).body.error.code).toBe('wrong_state')
  expect((await replay({ ...asked, filterPolicy: { size: 1 }, last: 1 })).status).toBe(400)
})

test('texts need the scope bodies, resends redrive or manage, and names decide over both', async () => {
  const id = await dispatched()
  const blind = await keyWith(api, ['read', 'publish'])
  const stranger = await keyWith(api, ['read', 'redrive', 'bodies'], { prefixes: ['other'] })
  const replay = { topic: 'orders', filterPolicy: { a: ['b'] }, last: 1 }
  expect([
    (await bodyOf(id, blind)).status,
    (await blind.call('POST', '/v1/filter-policies/replay', { body: replay })).status,
    (await resend(id, subscription.id, blind)).status,
    (await bodyOf(id, stranger)).status,
    (await resend(id, subscription.id, stranger)).status,
  ]).toEqual([403, 403, 403, 404, 404])
})
