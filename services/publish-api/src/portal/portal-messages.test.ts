/** Messages of an endpoint in the portal: which are its own, what is shown of them, and sending them again. */
import { createMessageId, type DeadLetter, type Message, parseMessageId } from '@fantail/contracts'
import {
  type AttemptRecord,
  AttemptStore,
  deadLetterItemId,
  deliveryId,
  KeptMessages,
  messageBody,
  StatsStore,
} from '@fantail/store'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../auth/keys.fixture.ts'
import { startTestApi, type TestApi, waitingIn } from '../fixtures/test-api.fixture.ts'
import { portalOf, type TestPortal } from './portal.fixture.ts'

const ORDERS = 'arn:aws:sns:us-east-1:000000000000:acme-orders'
const DEAD = 'arn:aws:sqs:us-east-1:000000000000:acme-dead'
const NONE = Buffer.alloc(0)
const KEPT = { seconds: 3_600, bytes: 1_048_576 }
let api: TestApi
let admin: TestKey
let own: { id: string; arn: string; bit: number; path: string }
let portal: TestPortal

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['read', 'manage', 'redrive', 'bodies', 'publish'])
  await admin.call('PUT', '/v1/topics/acme-orders', { body: { keepMessages: KEPT } })
  await admin.call('PUT', '/v1/queues/acme-dead')
  const body = {
    endpoint: 'https://acme.example.com/in',
    filterPolicy: { tier: ['gold'] },
    redrivePolicy: { deadLetterTargetArn: DEAD },
  }
  const { id } = (await admin.call('POST', '/v1/topics/acme-orders/subscriptions', { body })).body
  const { arn, bit } = (await api.deps.subscriptions.get(id)) ?? { arn: '', bit: 0 }
  own = { id, arn, bit, path: `/v1/portal/endpoints/${id}` }
})
afterAll(() => api.stop())
beforeEach(async () => {
  portal = await portalOf(api, admin, { prefixes: ['acme-'], scopes: ['read', 'redrive', 'bodies'] })
})

type How = 'delivered' | 'parked' | 'filtered'

/** A kept message of the topic that dispatch has logged. */
async function dispatched(how: How, text = 'hello', ofOthers: object = {}): Promise<string> {
  const publishedAt = Date.now()
  const messageId = createMessageId(publishedAt)
  const attributes = { eventType: { type: 'String', value: 'order.paid' } }
  const message: Message = { messageId, topicArn: ORDERS, publishedAt, message: text, attributes }
  const place = await api.deps.subscriptions.locate(own.id)
  const slice = place && { shard: place.shard, sliceId: place.sliceId }
  const bits = { delivered: NONE, parked: NONE, filtered: NONE, otherCodes: [], failures: [] }
  const entry = {
    messageId,
    topicArn: ORDERS,
    sizeBytes: 5,
    slice,
    ...bits,
    [how]: Buffer.from([1 << own.bit]),
    ...ofOthers,
  }
  await api.outcomes.append({ dispatch: [entry], lanes: [] })
  const uid = (await api.deps.topics.get(ORDERS))?.uid ?? ''
  const id = parseMessageId(messageId) ?? NONE
  await new KeptMessages(api.redis).keep([{ arn: ORDERS, uid, id, body: messageBody(message) }])
  return messageId
}

async function ended(
  messageId: string,
  outcome: 'delivered' | 'deadLettered',
  generation = 0,
  subscriptionId = own.id,
): Promise<void> {
  const facts = { reason: outcome === 'delivered' ? null : ('permanent' as const), attempts: 2 }
  const status = { statusCode: outcome === 'delivered' ? 200 : 503, error: null }
  const end = { messageId, subscriptionId, generation, outcome, ...facts, ...status }
  await api.outcomes.append({ dispatch: [], lanes: [end] })
}

/** Its dead letter, in the queue of both subscriptions. */
async function deadLetter(messageId: string, of: { id: string; arn: string } = own): Promise<string> {
  await ended(messageId, 'deadLettered', 0, of.id)
  const now = Date.now()
  const message: Message = { messageId, topicArn: ORDERS, publishedAt: now, message: 'hello' }
  const letter: DeadLetter = {
    ...{ reason: 'permanent', statusCode: 503, lastError: null, attempts: 2, generation: 0 },
    ...{ subscriptionArn: of.arn, topicArn: ORDERS, messageId, message },
    publishedAt: now,
    deadLetteredAt: now,
  }
  const id = deadLetterItemId(of.id, deliveryId(messageId))
  await api.deps.queues.send(DEAD, [{ id, body: 'hello', deadLetter: letter }])
  return id
}

const statesOf = async (query = '') => {
  const { body } = await portal.call('GET', `${own.path}/messages${query}`)
  return Object.fromEntries(
    body.messages.map(({ messageId, state }: { messageId: string; state: string }) => [messageId, state]),
  )
}

test('a list shows what was sent to the endpoint, and nothing that the operator’s filter kept away', async () => {
  const [delivered, filtered, failed] = [
    await dispatched('delivered'),
    await dispatched('filtered'),
    await dispatched('parked'),
  ]
  await deadLetter(failed)
  const all = await statesOf()
  expect(all).toMatchObject({ [delivered]: 'delivered', [failed]: 'failed' })
  expect(all).not.toHaveProperty(filtered)
  expect(await statesOf('?state=failed')).toEqual({ [failed]: 'failed' })
  expect(await statesOf('?state=delivered')).toHaveProperty(delivered)
  const page = (await portal.call('GET', `${own.path}/messages?limit=1`)).body
  expect([page.messages.length, typeof page.nextCursor]).toEqual([1, 'string'])
  expect(Buffer.from(page.nextCursor, 'base64url').toString()).not.toMatch(/^\[/)
  const rest = await portal.call('GET', `${own.path}/messages?cursor=${page.nextCursor}`)
  expect(rest.body.messages.map(({ messageId }: { messageId: string }) => messageId)).toContain(delivered)
  expect(await portal.status('GET', `${own.path}/messages?cursor=W10`)).toBe(400)
})

test('a message that was sent again and has arrived is no longer listed as failed', async () => {
  const id = await dispatched('parked')
  const item = await deadLetter(id)
  expect(await statesOf('?state=failed')).toHaveProperty(id)
  await api.deps.queues.deleteMessage(DEAD, item)
  expect(await statesOf('?state=failed')).not.toHaveProperty(id)
  await ended(id, 'delivered', 1)
  expect(await statesOf()).toMatchObject({ [id]: 'delivered' })
})

test('one message shows attempts, type and text, with the scope bodies alone', async () => {
  const messageId = await dispatched('delivered', '{"order":7}')
  const attempt: AttemptRecord = {
    ...{ messageId, attempt: 1, phase: 'first', path: 'first', startedAt: Date.now(), durationMs: 5 },
    ...{ statusCode: 503, decision: 'retry', headers: {}, body: 'db down' },
  }
  const other = { ...attempt, messageId: createMessageId(Date.now()) }
  const inside = { ...attempt, attempt: 2, body: 'inner secret', isPrivate: true as const }
  const records = [attempt, other, inside].map((record) => JSON.stringify(record))
  const write = { now: Date.now(), bytesMax: 1_000_000, shares: [{ subscription: own.id, records }] }
  await new AttemptStore(api.redis).add(write)
  const { body, text } = await portal.call('GET', `${own.path}/messages/${messageId}`)
  expect(body).toMatchObject({
    ...{ messageId, state: 'delivered', eventType: 'order.paid', body: '{"order":7}', canResend: true },
    attempts: [
      { attempt: 2, answer: null },
      { attempt: 1, statusCode: 503, answer: 'db down' },
    ],
  })
  expect(text).not.toContain('inner secret')
  const first = async (session: TestPortal) =>
    (await session.call('GET', `${own.path}/messages?limit=1`)).body.messages[0]
  expect(await first(portal)).toMatchObject({ messageId, eventType: 'order.paid', line: '{"order":7}' })
  const reader = await portalOf(api, admin, { prefixes: ['acme-'], scopes: ['read'] })
  expect(await first(reader)).toMatchObject({ messageId, eventType: null, line: null })
  const hidden = await reader.call('GET', `${own.path}/messages/${messageId}`)
  expect(hidden.body).toMatchObject({ body: null, attempts: [{ answer: null }, { answer: null }] })
  expect(hidden.text).not.toMatch(/db down|"order"/)
  await api.deps.subscriptions.update(own.id, () => ({ outbound: { proxy: 'http://proxy:3128' } }))
  const proxied = await portal.call('GET', `${own.path}/attempts`)
  await api.deps.subscriptions.update(own.id, () => ({ outbound: null }))
  expect(proxied.text).not.toContain('db down')
})

test('a message whose text only the dead letter of another endpoint has can be sent again', async () => {
  await api.deps.topics.patch(ORDERS, { keepMessages: null })
  const body = { endpoint: 'https://acme.example.com/other', redrivePolicy: { deadLetterTargetArn: DEAD } }
  const { id } = (await admin.call('POST', '/v1/topics/acme-orders/subscriptions', { body })).body
  const other = await api.deps.subscriptions.get(id)
  const parked = Buffer.from([1 << (other?.bit ?? 0)])
  const messageId = await dispatched('delivered', 'hello', { parked })
  expect((await portal.call('GET', `${own.path}/messages/${messageId}`)).body.canResend).toBe(false)
  await deadLetter(messageId, other ?? own)
  expect((await portal.call('GET', `${own.path}/messages/${messageId}`)).body).toMatchObject({
    ...{ canResend: true, body: 'hello' },
  })
  expect(await portal.status('POST', `${own.path}/messages/${messageId}/resend`)).toBe(202)
  await admin.call('POST', `/v1/subscriptions/${own.id}/purge`)
  await api.deps.subscriptions.delete(id)
  await api.deps.topics.patch(ORDERS, { keepMessages: KEPT })
})

test('only a message that was sent to the endpoint can be read or sent again', async () => {
  const filtered = await dispatched('filtered')
  const early = createMessageId(Date.now() - 7 * 86_400_000)
  const unknown = createMessageId(Date.now())
  for (const id of [filtered, early, unknown, 'nonsense', '%2e%2e']) {
    expect([id, await portal.status('GET', `${own.path}/messages/${id}`)]).toEqual([id, 404])
    expect([id, await portal.status('POST', `${own.path}/messages/${id}/resend`)]).toEqual([id, 404])
  }
})

test('a delivered message goes to its lane again, and a dead letter leaves its queue', async () => {
  const delivered = await dispatched('delivered')
  const sent = await portal.call('POST', `${own.path}/messages/${delivered}/resend`)
  expect([sent.status, sent.body]).toEqual([202, { messageId: delivered }])
  expect(await waitingIn(api, own.id)).toMatchObject([{ messageId: delivered, message: 'hello' }])
  const dead = await dispatched('parked')
  await deadLetter(dead)
  expect(await portal.status('POST', `${own.path}/messages/${dead}/resend`)).toBe(202)
  const [task] = (await admin.call('GET', '/v1/redrives')).body.redrives
  expect(task).toMatchObject({ source: DEAD, matched: 1, destination: null })
  await admin.call('POST', `/v1/redrives/${task.id}/cancel`)
})

test('messages that failed since a time are counted, and sending them again counts against a quota', async () => {
  await deadLetter(await dispatched('parked'))
  const since = new Date(Date.now() + 60_000).toISOString()
  const dry = (given: object) => portal.call('POST', `${own.path}/redrive`, { dryRun: true, ...given })
  expect((await dry({ since })).body.matched).toBe(0)
  expect((await dry({})).body.matched).toBeGreaterThan(0)
  expect((await dry({ since: 'yesterday' })).body.error.message).toMatch(/^Enter a time/)
  await api.redis.set(`ft:{portal}:uses:logins:resend:${portal.id}`, 60, 'PX', 3_600_000)
  expect(await portal.status('POST', `${own.path}/redrive`)).toBe(429)
  const refused = await portal.call('POST', `${own.path}/messages/${createMessageId(Date.now())}/resend`)
  expect([refused.status, refused.body.error.message]).toEqual([
    429,
    'You have done this too often. Try again later.',
  ])
})

test('counts of failed messages read a whole queue, so a session may ask 60 times in a minute', async () => {
  const dryRun = () => portal.status('POST', `${own.path}/redrive`, { dryRun: true })
  await api.redis.set(`ft:{portal}:uses:logins:look:${portal.id}`, 59, 'PX', 60_000)
  expect([await dryRun(), await dryRun()]).toEqual([200, 429])
  expect(await portal.status('GET', `${own.path}/dead-letters`)).toBe(429)
})

test('a week has an hour for each step, and an endpoint without a place says so', async () => {
  const now = Date.now()
  const minute = Math.floor(now / 3_600_000) * 60
  const counted = [{ kind: 'w' as const, name: own.id, minute, counts: [4, 1, 0, 200] }]
  const stats = async () => (await portal.call('GET', `${own.path}/stats`)).body
  await new StatsStore(api.redis).add({ writer: 'test', flush: 1, now, counted })
  const { kept, at, delivered, failed, meanMs } = await stats()
  expect([kept, at.length, delivered.at(-1), failed.at(-1), meanMs.at(-1)]).toEqual([true, 168, 4, 1, 50])
  await api.redis.del('ft:{stats}:seats:w')
  const seats = api.redis.pipeline()
  for (let n = 0; n < 10_000; n++) seats.zadd('ft:{stats}:seats:w', now, `s${n}`)
  await seats.exec()
  expect(await stats()).toMatchObject({ kept: false, at: [], delivered: [] })
})
