/** A customer's work in the portal: endpoints, tests, keys, deliveries, dead letters. */
import type { DeadLetter } from '@fantail/contracts'
import { placeOfSubscription, shardBase, subscriptionsKey } from '@fantail/store'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { linkOf, portalOf, type TestPortal } from './portal.fixture.ts'
import { contrastWithWhite } from './portal-session-routes.ts'

let api: TestApi
let admin: TestKey
let portal: TestPortal
const ENDPOINTS = '/v1/portal/endpoints'
const GRANT = { prefixes: ['acme-'], scopes: ['read', 'manage', 'redrive'] }

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['read', 'manage', 'redrive', 'bodies', 'publish'])
  for (const topic of ['acme-orders', 'acme-clicks', 'other']) await admin.call('PUT', `/v1/topics/${topic}`)
})
// A session may make 20 requests in a second, which several tests together exceed on a fast machine.
beforeEach(async () => {
  portal = await portalOf(api, admin, GRANT)
})
afterAll(() => api.stop())

const add = (session: TestPortal, endpoint: string, topic = 'acme-orders') =>
  session.call('POST', ENDPOINTS, { topic, endpoint })

async function deadLetter(subscriptionArn: string, text: string, queueArn: string): Promise<void> {
  const letter: DeadLetter = {
    ...{ reason: 'permanent', statusCode: 404, lastError: null, attempts: 1, generation: 0 },
    ...{ subscriptionArn, topicArn: 'arn:aws:sns:us-east-1:000000000000:acme-orders' },
    messageId: '01a1fbe2-80fa-72ab-bc08-d682f311b524',
    message: {} as DeadLetter['message'],
    publishedAt: Date.now(),
    deadLetteredAt: Date.now(),
  }
  await api.deps.queues.send(queueArn, [{ body: text, deadLetter: letter }])
}

test('a customer adds an endpoint, sees it, pauses, resumes, tests and deletes it', async () => {
  expect((await portal.call('GET', '/v1/portal/topics')).body.topics).toEqual(['acme-clicks', 'acme-orders'])
  const { status, body: made } = await add(portal, 'https://acme.example.com/hook')
  expect([status, made.topic, made.status, made.verdict]).toEqual([201, 'acme-orders', 'active', 'fine'])
  const { secret, ...shown } = made
  const { endpoints, nextCursor } = (await portal.call('GET', ENDPOINTS)).body
  expect([endpoints, nextCursor]).toEqual([[shown], null])
  const path = `${ENDPOINTS}/${made.id}`
  expect((await portal.call('POST', `${path}/pause`)).body.status).toBe('paused')
  expect((await portal.call('POST', `${path}/resume`)).body.status).toBe('active')
  expect((await portal.call('POST', `${path}/test`)).body).toEqual({
    statusCode: 204,
    durationMs: 3,
    error: null,
    answer: null,
  })
  expect(api.attempts.at(-1)?.url).toBe('https://acme.example.com/hook')
  expect((await api.deps.subscriptions.get(made.id))?.rawMessageDelivery).toBe(true)
  const key = (await portal.call('POST', `${path}/rotate-key`)).body
  for (const one of [key.secret, secret]) expect(one).toMatch(/^whsec_/)
  expect((await portal.call('GET', `${path}/messages`)).body.messages).toEqual([])
  expect((await portal.call('GET', `${path}/attempts`)).body).toEqual({ recording: true, attempts: [] })
  expect((await portal.call('GET', `${path}/dead-letters`)).body).toEqual({ total: 0, deadLetters: [] })
  const dry = await portal.call('POST', `${path}/redrive`, { dryRun: true })
  expect([dry.status, dry.body.matched]).toEqual([200, 0])
  expect((await portal.call('POST', `${path}/redrive`)).body.matched).toBe(0)
  expect((await portal.call('GET', path)).text).not.toContain('whsec')
  expect(await portal.status('DELETE', path)).toBe(204)
  expect(await portal.status('DELETE', path)).toBe(204)
  expect(await portal.status('GET', path)).toBe(404)
})

test('an endpoint whose record cannot be read hides no other, and a session that is for it deletes it', async () => {
  const made: string[] = []
  for (const name of ['damaged', 'whole']) {
    made.push((await add(portal, `https://acme.example.com/${name}`, 'acme-clicks')).body.id)
  }
  const [damaged = '', whole = ''] = made
  const { shard = 0, sliceId = '' } = placeOfSubscription(damaged) ?? {}
  const records = subscriptionsKey(shardBase(shard), sliceId)
  await api.redis.hset(records, damaged, '{"e":1}')
  const own = await portalOf(api, admin, { subscriptions: made, scopes: ['read', 'manage'] })
  const path = `${ENDPOINTS}/${damaged}`
  for (const session of [portal, own]) {
    const { endpoints } = (await session.call('GET', ENDPOINTS)).body as { endpoints: { id: string }[] }
    expect(endpoints.map(({ id }) => id)).toEqual([whole])
  }
  const refused = await portal.call('DELETE', path)
  expect([refused.status, refused.body.error.message]).toEqual([500, expect.stringContaining('on our side')])
  expect(await own.status('DELETE', path)).toBe(204)
  expect(await api.redis.hexists(records, damaged)).toBe(0)
  expect(await own.status('DELETE', `${ENDPOINTS}/${whole}`)).toBe(204)
})

test('no settings of requests, no queues and no other topics are taken', async () => {
  const given = { topic: 'acme-orders', endpoint: 'https://acme.example.com/x' }
  const refused: [object, number][] = [
    [{ ...given, outbound: { headers: { 'X-A': 'b' } } }, 400],
    [{ ...given, redrivePolicy: null }, 400],
    [{ ...given, endpoint: 'arn:aws:sqs:us-east-1:000000000000:acme-queue' }, 400],
    [{ ...given, topic: 'other' }, 403],
    [{ ...given, topic: 'arn:aws:sns:us-east-1:000000000000:other' }, 400],
    [{ ...given, topic: 'acme-none' }, 404],
  ]
  for (const [body, status] of refused) expect(await portal.status('POST', ENDPOINTS, body)).toBe(status)
  // Settings of an endpoint that the operator has added are not revealed by adding it again.
  await admin.call('POST', '/v1/topics/acme-orders/subscriptions', {
    body: { endpoint: 'https://own.example.com/' },
  })
  expect((await add(portal, 'https://own.example.com/')).status).toBe(409)
})

test('a failed test shows a code and no address', async () => {
  const { id } = (await add(portal, 'https://silent.example.com/hook')).body
  const before = api.attemptResult
  api.attemptResult = {
    kind: 'failure',
    failure: 'connection_refused',
    detail: 'connect ECONNREFUSED 10.1.2.3:443',
    durationMs: 2,
  } as unknown as typeof before
  const { text, body } = await portal.call('POST', `${ENDPOINTS}/${id}/test`)
  api.attemptResult = before
  expect(body.statusCode).toBe(null)
  expect(body.error).toMatch(/^[\w-]+$/)
  expect(text).not.toContain('10.1.2.3')
})

test('tests and additions are counted', async () => {
  const session = await portalOf(api, admin, GRANT)
  const { id } = (await add(session, 'https://acme.example.com/counted')).body
  const tests: number[] = []
  for (let n = 0; n < 12; n++) tests.push(await session.status('POST', `${ENDPOINTS}/${id}/test`))
  expect(tests).toEqual([...Array(10).fill(200), 429, 429])
  const adder = await portalOf(api, admin, GRANT)
  const other = await portalOf(api, admin, GRANT)
  await admin.call('PUT', '/v1/topics/acme-many')
  for (let n = 0; n < 50; n++) {
    const body = { endpoint: `https://many.example.com/${n}` }
    await admin.call('POST', '/v1/topics/acme-many/subscriptions', { body })
  }
  expect((await add(adder, 'https://many.example.com/more', 'acme-many')).status).toBe(409)
  await api.redis.set(`ft:{portal}:uses:logins:add:${other.id}`, 20, 'PX', 3_600_000)
  expect((await add(other, 'https://acme.example.com/again')).status).toBe(429)
})

test('a customer sees own dead letters, texts only if granted, and sends them again slowly', async () => {
  const queue = 'arn:aws:sqs:us-east-1:000000000000:acme-dlq'
  await admin.call('PUT', '/v1/queues/acme-dlq')
  await admin.call('PUT', '/v1/queues/ops-dlq')
  const made = async (endpoint: string, deadLetterTargetArn: string) => {
    const body = { endpoint, redrivePolicy: { deadLetterTargetArn } }
    return (await admin.call('POST', '/v1/topics/acme-orders/subscriptions', { body })).body
  }
  const mine = await made('https://acme.example.com/letters', 'acme-dlq')
  const neighbour = await made('https://acme.example.com/others', 'acme-dlq')
  const hidden = await made('https://acme.example.com/hidden', 'ops-dlq')
  await deadLetter(mine.arn, 'my text', queue)
  await deadLetter(neighbour.arn, 'other text', queue)
  const path = `${ENDPOINTS}/${mine.id}`
  const grant = { subscriptions: [mine.id, hidden.id], scopes: ['read', 'redrive'] }
  const bound = await keyWith(api, ['read', 'manage', 'redrive', 'bodies'], { prefixes: ['acme-'] })
  const session = await portalOf(api, bound, grant)
  const { text, body } = await session.call('GET', `${path}/dead-letters`)
  expect(body).toMatchObject({ total: 1, deadLetters: [{ statusCode: 404, body: null, bodyBytes: 7 }] })
  expect(text).not.toContain('text')
  const reader = await portalOf(api, bound, { ...grant, scopes: ['read', 'bodies'] })
  expect((await reader.call('GET', `${path}/dead-letters`)).body.deadLetters).toMatchObject([
    { body: 'my text' },
  ])
  // The key may not see the operator's queue, so its sessions may not either.
  const refused = await session.call('GET', `${ENDPOINTS}/${hidden.id}/dead-letters`)
  expect([refused.status, refused.text.includes('ops-dlq')]).toEqual([403, false])
  expect(await session.status('POST', `${ENDPOINTS}/${hidden.id}/redrive`)).toBe(403)
  const redriven = await session.call('POST', `${path}/redrive`)
  expect([redriven.status, redriven.body]).toEqual([202, { matched: 1, maxMessagesPerSecond: 10 }])
  const [task] = (await admin.call('GET', '/v1/redrives')).body.redrives
  expect(task).toMatchObject({ maxMessagesPerSecond: 10, matched: 1, destination: null })
  // The redrive of a session blocks other sessions, and not the operator.
  expect(await session.status('POST', `${path}/redrive`)).toBe(409)
  const started = await admin.call('POST', '/v1/redrives', { body: { source: 'acme-dlq' } })
  expect([started.status, started.body.matched]).toEqual([202, 2])
  expect((await admin.call('GET', `/v1/redrives/${task.id}`)).body.status).toBe('canceled')
  expect(await admin.status('POST', '/v1/redrives', { source: 'acme-dlq' })).toBe(409)
  expect(await session.status('POST', `${path}/redrive`)).toBe(409)
})

const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex')

test('large dead letters come in a small answer, with their number', async () => {
  const queue = 'arn:aws:sqs:us-east-1:000000000000:acme-large'
  await admin.call('PUT', '/v1/queues/acme-large')
  const endpoint = 'https://acme.example.com/large'
  const redrivePolicy = { deadLetterTargetArn: 'acme-large' }
  const made = await admin.call('POST', '/v1/topics/acme-orders/subscriptions', {
    body: { endpoint, redrivePolicy },
  })
  for (let n = 0; n < 10; n++) await deadLetter(made.body.arn, 'x'.repeat(250_000), queue)
  const reader = await portalOf(api, admin, { ...GRANT, scopes: ['read', 'bodies'] })
  const { text, body } = await reader.call('GET', `${ENDPOINTS}/${made.body.id}/dead-letters`)
  expect([body.total, body.deadLetters.length, text.length < 1_500_000]).toEqual([10, 5, true])
})

test('a theme is a raster picture, a colour that can be read, and a name', async () => {
  const dataUrl = (form: string, bytes: Buffer) => `data:image/${form};base64,${bytes.toString('base64')}`
  const make = (theme: object) => admin.call('POST', '/v1/portal-links', { body: { ...GRANT, theme } })
  const theme = { name: 'Acme', logo: dataUrl('png', PNG), colour: '#0b6e75' }
  const session = await portalOf(api, admin, { ...GRANT, theme })
  expect((await session.call('GET', '/v1/portal/session')).body.theme).toEqual(theme)
  const wrong = [
    { logo: dataUrl('svg+xml', Buffer.from('<svg/>')) },
    { logo: dataUrl('jpeg', PNG) },
    { logo: dataUrl('webp', Buffer.from('<svg onload="x()"/>')) },
    { logo: 'https://example.com/logo.png' },
    { logo: dataUrl('png', Buffer.concat([PNG, Buffer.alloc(16_384)])) },
    { colour: '#ffff00' },
    { colour: 'red' },
    { colour: '#0b6e75;background:url(x)' },
    { css: 'body{}' },
  ]
  for (const one of wrong) expect([one, (await make(one)).status]).toEqual([one, 400])
  expect([contrastWithWhite('#000000'), contrastWithWhite('#ffffff')]).toEqual([21, 1])
  expect(await linkOf(admin, { ...GRANT, theme: { colour: '#767676' } })).toMatch(/^fpl_/)
})

test('portal sessions need required keys', async () => {
  const local = await startTestApi()
  try {
    const answers = [
      await local.call('POST', '/v1/portal-links', { body: GRANT }),
      await local.call('GET', ENDPOINTS),
      await local.call('GET', '/v1/portal/session'),
    ]
    for (const { body } of answers) expect(body.error.code).toBe('not_supported')
  } finally {
    await local.stop()
  }
})
