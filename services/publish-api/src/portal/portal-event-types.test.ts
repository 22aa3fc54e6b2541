/** Event types in the portal: the catalogue, choosing types, and examples as tests. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { portalOf, type TestPortal } from './portal.fixture.ts'

let api: TestApi
let admin: TestKey
let portal: TestPortal
const ENDPOINTS = '/v1/portal/endpoints'
const TYPES = '/v1/portal/topics/acme-orders/event-types'
const SCHEMA = { type: 'object', required: ['id'] }

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['read', 'manage', 'redrive', 'bodies', 'publish'])
  for (const topic of ['acme-orders', 'other']) {
    await admin.call('PUT', `/v1/topics/${topic}`)
    const paid = { description: 'An order was paid.', schema: SCHEMA, examples: [{ id: 1 }, { id: 2 }] }
    await admin.call('PUT', `/v1/topics/${topic}/event-types/order.paid`, { body: paid })
  }
  const body = { deprecated: true }
  await admin.call('PUT', '/v1/topics/acme-orders/event-types/order.sent', { body })
})
afterAll(() => api.stop())
beforeEach(async () => {
  portal = await portalOf(api, admin, { prefixes: ['acme-'], scopes: ['read', 'manage'] })
})

let endpoints = 0
const add = async (given: object) => {
  const endpoint = `https://acme.example.com/${++endpoints}`
  return (await portal.call('POST', ENDPOINTS, { topic: 'acme-orders', endpoint, ...given })).body
}

test('a customer reads the catalogue of own topics, and of no others', async () => {
  expect((await portal.call('GET', TYPES)).body.eventTypes).toEqual([
    { name: 'order.paid', description: 'An order was paid.', deprecated: false },
    { name: 'order.sent', description: null, deprecated: true },
  ])
  expect((await portal.call('GET', `${TYPES}/order.paid`)).body).toEqual({
    ...{ name: 'order.paid', description: 'An order was paid.', deprecated: false },
    ...{ version: 1, schema: SCHEMA, examples: [{ id: 1 }, { id: 2 }] },
  })
  const { id } = await add({})
  const own = await portalOf(api, admin, { subscriptions: [id], scopes: ['read'] })
  expect(await own.status('GET', TYPES)).toBe(200)
  const foreign = await admin.call('POST', '/v1/topics/other/subscriptions', {
    body: { endpoint: 'https://other.example.com/' },
  })
  const stranger = await portalOf(api, admin, { subscriptions: [foreign.body.id], scopes: ['read'] })
  const unseen = await Promise.all([
    stranger.call('GET', TYPES),
    portal.call('GET', TYPES.replace('acme-orders', 'other')),
    portal.call('GET', TYPES.replace('acme-orders', 'acme-none')),
    portal.call('GET', `${TYPES}/order.none`),
    portal.call('GET', `${TYPES}/__proto__`),
  ])
  const [first] = unseen
  expect(unseen.map(({ status, body }) => [status, body.error.message])).toEqual(
    unseen.map(() => [404, first?.body.error.message]),
  )
  expect(await portal.status('GET', TYPES.replace('acme-orders', '%2e%2e%2fx'))).toBe(400)
})

test('types are chosen beside the filter of the operator, and a list finds who gets a type', async () => {
  const exact = await add({ eventTypes: ['order.paid'] })
  const below = await add({ eventTypes: ['order.*'] })
  const others = await add({ eventTypes: ['bill.*'] })
  const all = await add({})
  expect([exact.eventTypes, all.eventTypes]).toEqual([['order.paid'], null])
  const found = async (type: string) => {
    const { body } = await portal.call('GET', `${ENDPOINTS}?eventType=${type}`)
    return body.endpoints.map(({ id }: { id: string }) => id)
  }
  expect(await found('order.paid')).toEqual(expect.arrayContaining([exact.id, below.id, all.id]))
  expect(await found('order.paid')).not.toContain(others.id)
  expect(await found('order')).not.toContain(below.id)

  const filterPolicy = { tier: ['gold'] }
  await admin.call('PATCH', `/v1/subscriptions/${exact.id}`, { body: { filterPolicy } })
  const path = `${ENDPOINTS}/${exact.id}`
  const changed = await portal.call('PATCH', path, { eventTypes: ['order.*', '*'] })
  expect([changed.body.eventTypes, changed.text.includes('gold')]).toEqual([['order.*', '*'], false])
  const stored = await api.deps.subscriptions.get(exact.id)
  expect(stored).toMatchObject({ filterPolicy, eventTypes: ['order.*', '*'] })
  expect((await portal.call('PATCH', path, { eventTypes: null })).body.eventTypes).toBe(null)
  for (const eventTypes of [[], ['order.'], ['*.paid'], ['a b'], [7], 'order.paid', ['x'.repeat(300)]]) {
    const { status, body } = await portal.call('PATCH', path, { eventTypes })
    expect([eventTypes, status, body.error.message]).toEqual([
      eventTypes,
      400,
      'Choose event types of the topic, by names such as order.paid or by order.*.',
    ])
  }
})

test('an example of a type is sent as a test', async () => {
  const { id } = await add({})
  const sent = async (body: object) => {
    const { status } = await portal.call('POST', `${ENDPOINTS}/${id}/test`, body)
    const { body: text = '', headers = [] } = api.attempts.at(-1) ?? {}
    return [status, JSON.parse(text), headers[headers.indexOf('x-fantail-event-type') + 1]]
  }
  expect(await sent({ eventType: 'order.paid' })).toEqual([200, { id: 1 }, 'order.paid'])
  expect(await sent({ eventType: 'order.paid', example: 1 })).toEqual([200, { id: 2 }, 'order.paid'])
  expect((await sent({}))[1]).toMatchObject({ type: 'fantail.test' })
  const refused = [
    { eventType: 'order.none' },
    { eventType: 'order.sent' },
    { eventType: 'order.paid', example: 2 },
    { eventType: 'order.paid', example: -1 },
    { eventType: '__proto__' },
    { message: 'own text' },
  ]
  for (const body of refused)
    expect([body, await portal.status('POST', `${ENDPOINTS}/${id}/test`, body)]).toEqual([body, 400])
})
