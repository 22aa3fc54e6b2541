/** A customer changes endpoints and looks for them: address, name, rate, and pages of a list. */
import type { VerdictCode } from '@fantail/contracts'
import { effectivePolicy } from '@fantail/policy'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { portalOf, type TestPortal } from './portal.fixture.ts'
import { endpointView } from './portal-views.ts'

let api: TestApi
let admin: TestKey
const ENDPOINTS = '/v1/portal/endpoints'
const GRANT = { prefixes: ['acme-', 'acme-a', 'beta-'], scopes: ['read', 'manage', 'redrive'] }

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['read', 'manage', 'redrive', 'bodies', 'publish'])
  for (const topic of ['acme-orders', 'acme-abc', 'beta-orders', 'other'])
    await admin.call('PUT', `/v1/topics/${topic}`)
})
afterAll(() => api.stop())

const add = async (session: TestPortal, endpoint: string, given: object = {}) =>
  (await session.call('POST', ENDPOINTS, { topic: 'acme-orders', endpoint, ...given })).body
const stored = async (id: string) => {
  const record = await api.deps.subscriptions.get(id)
  if (!record) throw new Error('no such subscription')
  return record
}
/** Throttle in force, as workers and the script that gives out send times know it. */
async function rateOf(id: string) {
  const record = await stored(id)
  const topic = await api.deps.topics.get(record.topicArn)
  const [lane = ''] = await api.redis.keys(`*lane:${id}`)
  const inForce = topic && effectivePolicy(topic, record).throttlePolicy?.maxReceivesPerSecond
  return [inForce ?? null, await api.redis.hget(lane, 'r')]
}

test('a new endpoint is active with a key, which no other answer shows', async () => {
  const session = await portalOf(api, admin, GRANT)
  const made = await add(session, 'https://acme.example.com/signed', { maxPerSecond: 4 })
  const record = await stored(made.id)
  expect(record).toMatchObject({ status: 'active', customerRate: 4 })
  expect(record.webhookKeys).toMatchObject([{ algorithm: 'hmac-sha256', expiresAt: null }])
  expect(made).toMatchObject({ secret: expect.stringMatching(/^whsec_/), state: 'working', perSecond: 4 })
  expect((await session.call('GET', `${ENDPOINTS}/${made.id}`)).text).not.toContain('whsec')
})

test('an endpoint that a crash left without a key sends nothing until its customer makes one', async () => {
  const session = await portalOf(api, admin, GRANT)
  const { id } = await add(session, 'https://acme.example.com/half-made')
  // This is what an addition has stored before it makes the key.
  await api.deps.subscriptions.update(id, () => ({ status: 'paused', webhookKeys: [] }))
  const path = `${ENDPOINTS}/${id}`
  const refused = await session.call('POST', `${path}/resume`)
  expect([refused.status, refused.body.error.code]).toEqual([409, 'wrong_state'])
  expect(refused.body.error.message).toBe('Make a key for this endpoint first.')
  expect((await stored(id)).status).toBe('paused')
  expect(await session.status('POST', `${path}/rotate-key`)).toBe(201)
  expect((await session.call('POST', `${path}/resume`)).body.status).toBe('active')
})

test('a customer lowers the rate, and the operator’s bound holds whatever comes first', async () => {
  const session = await portalOf(api, admin, GRANT)
  const { id } = await add(session, 'https://acme.example.com/rate')
  const path = `${ENDPOINTS}/${id}`
  const setOperators = (maxReceivesPerSecond: number) =>
    admin.call('PATCH', `/v1/subscriptions/${id}`, {
      body: { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond } } },
    })
  expect(await rateOf(id)).toEqual([null, ''])
  await session.call('PATCH', path, { maxPerSecond: 50 })
  expect(await rateOf(id)).toEqual([50, '<50'])
  await setOperators(10)
  expect(await rateOf(id)).toEqual([10, '10<50'])
  expect((await session.call('PATCH', path, { maxPerSecond: 0.5 })).body).toMatchObject({
    maxPerSecond: 0.5,
    perSecond: 0.5,
  })
  expect(await rateOf(id)).toEqual([0.5, '10<0.5'])
  await setOperators(20)
  expect((await session.call('PATCH', path, { maxPerSecond: null })).body).toMatchObject({
    maxPerSecond: null,
    perSecond: 20,
  })
  expect(await rateOf(id)).toEqual([20, '20'])
  expect((await admin.call('GET', `/v1/subscriptions/${id}`)).body.customerRate).toBe(null)
})

test('a name and an address change, and settings of the operator stay', async () => {
  const session = await portalOf(api, admin, GRANT)
  const filterPolicy = { secretKind: ['vip'] }
  const endpoint = 'https://acme.example.com/old'
  const made = await admin.call('POST', '/v1/topics/acme-orders/subscriptions', {
    body: { endpoint, filterPolicy },
  })
  const path = `${ENDPOINTS}/${made.body.id}`
  const named = await session.call('PATCH', path, { name: 'ERP' })
  expect([named.status, named.body.name, named.text.includes('vip')]).toEqual([200, 'ERP', false])
  const moved = await session.call('PATCH', path, { endpoint: 'https://acme.example.com/new' })
  expect(moved.body).toMatchObject({ endpoint: 'https://acme.example.com/new', pendingEndpoint: null })
  expect(await stored(made.body.id)).toMatchObject({ name: 'ERP', filterPolicy })
  expect((await session.call('PATCH', path, { name: null })).body.name).toBe(null)
  expect((await session.call('PATCH', path, { filterPolicy: {} })).status).toBe(400)
})

test('a confirmed endpoint moves when the new address confirms', async () => {
  const session = await portalOf(api, admin, GRANT)
  const body = { endpoint: 'https://asked.example.com/old', confirmation: 'handshake' }
  const { id } = (await admin.call('POST', '/v1/topics/acme-orders/subscriptions', { body })).body
  await api.deps.subscriptions.update(id, () => ({ status: 'active' }))
  const moved = await session.call('PATCH', `${ENDPOINTS}/${id}`, {
    endpoint: 'https://asked.example.com/new',
  })
  expect(moved.body).toMatchObject({
    endpoint: 'https://asked.example.com/old',
    pendingEndpoint: 'https://asked.example.com/new',
  })
})

test('refusals have words for customers and change nothing', async () => {
  const session = await portalOf(api, admin, GRANT)
  const { id } = await add(session, 'https://acme.example.com/words')
  await add(session, 'https://acme.example.com/taken')
  const before = await stored(id)
  const path = `${ENDPOINTS}/${id}`
  const refused: [string, object, number, string][] = [
    ['POST', { topic: 'acme-orders', endpoint: 'ftp://acme.example.com' }, 400, 'Enter an https address'],
    ['POST', { topic: 'acme-orders', endpoint: 'https://[' }, 400, 'Enter an https address'],
    ['POST', { topic: 'acme-none', endpoint: 'https://acme.example.com/x' }, 404, 'This does not exist'],
    ['POST', { topic: 'other', endpoint: 'https://acme.example.com/x' }, 403, 'You may not'],
    ['POST', { topic: 'acme-orders', endpoint: 'https://acme.example.com/taken' }, 409, 'An endpoint with'],
    ['PATCH', { endpoint: 'https://acme.example.com/taken' }, 409, 'An endpoint with'],
    ['PATCH', { endpoint: 'javascript:alert(1)' }, 400, 'Enter an https address'],
    ['PATCH', { endpoint: 'https://acme.example.com/y', name: 'x' }, 400, 'Enter an https address'],
    ['PATCH', { maxPerSecond: 0 }, 400, 'Enter a whole number'],
    ['PATCH', { maxPerSecond: 1.5 }, 400, 'Enter a whole number'],
    ['PATCH', { name: '' }, 400, 'Enter a name'],
  ]
  for (const [method, body, status, words] of refused) {
    const answer = await session.call(method, method === 'POST' ? ENDPOINTS : path, body)
    expect([body, answer.status]).toEqual([body, status])
    expect(answer.body.error.message).toMatch(new RegExp(`^${words}`))
    expect(answer.body.error.message).not.toMatch(/arn:|key |subscription|prefix/i)
  }
  expect(await stored(id)).toEqual(before)
})

test('pages follow one another over topics and prefixes, and their cursors show nothing', async () => {
  const session = await portalOf(api, admin, GRANT)
  const made = new Set<string>()
  for (const topic of ['acme-abc', 'beta-orders'])
    for (const name of ['One', 'Two']) {
      const { id } = await add(session, `https://${topic}.example.com/${name}`, { topic, name })
      made.add(id)
    }
  const pages = await portalOf(api, admin, GRANT)
  const seen: string[] = []
  const cursors: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await pages.call('GET', `${ENDPOINTS}?limit=3${cursor && `&cursor=${cursor}`}`)
    expect(body.endpoints.length).toBeLessThanOrEqual(3)
    seen.push(...body.endpoints.map(({ id }: { id: string }) => id))
    cursor = body.nextCursor
    if (cursor !== null) cursors.push(cursor)
  }
  expect(seen).toHaveLength(new Set(seen).size)
  expect([...made].every((id) => seen.includes(id))).toBe(true)
  for (const one of cursors) expect(Buffer.from(one, 'base64url').toString()).not.toMatch(/acme|arn/)

  const narrow = await portalOf(api, admin, { prefixes: ['beta-'], scopes: ['read'] })
  const wrong = [cursors[0], 'nonsense', Buffer.from('["beta-"]').toString('base64url')]
  for (const cursor of wrong) expect(await narrow.status('GET', `${ENDPOINTS}?cursor=${cursor}`)).toBe(400)
})

test('a list is filtered by topic, state and text, within the rights of the session', async () => {
  const session = await portalOf(api, admin, GRANT)
  const { id } = await add(session, 'https://user:secretword@find.example.com/in', { name: 'Hooli ERP' })
  await session.call('POST', `${ENDPOINTS}/${id}/pause`)
  await admin.call('POST', '/v1/topics/other/subscriptions', {
    body: { endpoint: 'https://hooli.example.com/' },
  })
  const found = async (query: string, by = session) => {
    const { body } = await by.call('GET', `${ENDPOINTS}?${query}`)
    return body.endpoints.map((one: { id: string }) => one.id)
  }
  for (const query of ['q=hooli', 'q=FIND.example', 'q=hooli&state=paused&topic=acme-orders'])
    expect([query, await found(query)]).toEqual([query, [id]])
  for (const query of ['q=secretword', 'q=hooli&state=working', 'q=hooli&topic=acme-abc', 'topic=other'])
    expect([query, await found(query)]).toEqual([query, []])
  const own = await portalOf(api, admin, { subscriptions: [id], scopes: ['read'] })
  expect(await found('state=paused', own)).toEqual([id])
  expect(await found('topic=acme-abc', own)).toEqual([])
  expect((await own.call('GET', '/v1/portal/topics')).body.topics).toEqual(['acme-orders'])
  for (const query of ['q=', 'state=asleep', 'limit=101', `q=${'x'.repeat(101)}`])
    expect([query, await own.status('GET', `${ENDPOINTS}?${query}`)]).toEqual([query, 400])
})

test('a fault of the operator’s side shows as messages that wait', () => {
  const shown = (code: VerdictCode, status = 'active') => {
    const facts = { lastStatusCode: null }
    const lane = { waiting: 1, inFlight: 0, nextAttemptAt: null }
    const effectiveDeliveryPolicy = { throttlePolicy: null }
    const view = { topicArn: 'a:b', status, lane, verdict: { code, facts }, effectiveDeliveryPolicy }
    const { verdict, state } = endpointView(view)
    return [verdict, state]
  }
  for (const code of ['misconfigured', 'noToken', 'dlqMissing', 'quarantined', 'queueMissing'] as const)
    expect([code, shown(code)]).toEqual([code, ['undispatched', 'working']])
  expect([shown('failing'), shown('fine')]).toEqual([
    ['failing', 'failing'],
    ['fine', 'working'],
  ])
  expect(shown('gone', 'paused')).toEqual(['gone', 'paused'])
})
