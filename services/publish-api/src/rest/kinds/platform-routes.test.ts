import { firebaseCredential } from '@fantail/test-kit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { keyWith } from '../../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

const PATH = '/v1/platform-applications/GCM/shop'
const credential = firebaseCredential().PlatformCredential
const APP = 'arn:aws:sns:us-east-1:000000000000:app/GCM/shop'

let api: TestApi
let guarded: TestApi

beforeAll(async () => {
  ;[api, guarded] = await Promise.all([startTestApi(), startTestApi({ auth: true })])
})
beforeEach(async () => {
  await api.redis.flushall()
})
afterAll(() => Promise.all([api.stop(), guarded.stop()]))

const put = (body: object, path = PATH) => api.call('PUT', path, { body })
const register = (body: object) => api.call('POST', `${PATH}/endpoints`, { body })

test('an application is made, changed, listed and deleted, and its credential is never shown', async () => {
  await api.call('PUT', '/v1/topics/events')
  const made = await put({ credential })
  const view = { arn: APP, platform: 'GCM', name: 'shop', enabled: true, createdAt: expect.any(String) }
  const none = { endpointCreated: null, endpointUpdated: null, endpointDeleted: null, deliveryFailure: null }
  expect([made.status, made.body]).toEqual([201, { ...view, events: none }])
  const endpointCreated = 'arn:aws:sns:us-east-1:000000000000:events'
  const changed = await put({ enabled: false, events: { endpointCreated } })
  const after = { ...view, enabled: false, events: { ...none, endpointCreated } }
  expect([changed.status, changed.body]).toEqual([200, after])
  expect((await api.call('GET', PATH)).body).toEqual(after)
  const { body } = await api.call('GET', '/v1/platform-applications')
  expect(body).toEqual({ applications: [after], nextCursor: null })
  expect((await put({ events: { endpointCreated: null } })).body.events).toEqual(none)
  const statuses = [
    await api.call('DELETE', PATH),
    await api.call('DELETE', PATH),
    await api.call('GET', PATH),
  ]
  expect(statuses.map(({ status }) => status)).toEqual([204, 204, 404])
})

test('refusals name the member', async () => {
  const detailsOf = async (body: object, path = PATH) => (await put(body, path)).body.error.details
  expect(await detailsOf({ credential: 'AIzaOldKey' })).toEqual([
    { path: 'credential', message: expect.stringContaining('service account') },
  ])
  expect(await detailsOf({ credential, teamId: 'DEF123GHIJ' })).toMatchObject([{ path: 'teamId' }])
  expect(await detailsOf({ credential }, '/v1/platform-applications/ADM/shop')).toEqual([
    { path: 'platform', message: 'must be GCM, APNS, APNS_SANDBOX or WEBPUSH' },
  ])
  await put({ credential })
  const events = { deliveryFailure: 'arn:aws:sns:us-east-1:000000000000:none' }
  expect(await detailsOf({ events })).toMatchObject([{ path: 'events.deliveryFailure' }])
  expect((await register({ token: '' })).body.error.details).toMatchObject([{ path: 'token' }])
  const userData = 'x'.repeat(2_049)
  expect((await register({ token: 't', userData })).body.error.details).toMatchObject([{ path: 'userData' }])
})

test('an endpoint is registered once, changed, listed and deleted', async () => {
  expect((await register({ token: 't' })).status).toBe(404)
  await put({ credential })
  const made = await register({ token: 't-1' })
  expect([made.status, made.body]).toMatchObject([201, { token: 't-1', enabled: true, userData: null }])
  expect(await register({ token: 't-1' })).toMatchObject({ status: 200, body: { id: made.body.id } })
  const other = await register({ token: 't-1', userData: 'ada' })
  expect([other.status, other.body.error.message]).toEqual([409, expect.stringContaining(made.body.arn)])
  const path = `${PATH}/endpoints/${made.body.id}`
  const changed = await api.call('PATCH', path, { body: { enabled: false, userData: 'ada' } })
  expect(changed.body).toMatchObject({ id: made.body.id, enabled: false, userData: 'ada' })
  expect((await api.call('GET', path)).body).toEqual(changed.body)
  const { body: second } = await register({ token: 't-2' })
  expect((await api.call('PATCH', path, { body: { token: 't-2' } })).status).toBe(409)
  const page = async (query: string) => (await api.call('GET', `${PATH}/endpoints?limit=1${query}`)).body
  const first = await page('')
  const next = await page(`&cursor=${first.nextCursor}`)
  const ids = [...first.endpoints, ...next.endpoints].map(({ id }: { id: string }) => id)
  expect([ids, next.nextCursor]).toEqual([[made.body.id, second.id].sort(), null])
  for (const status of [204, 204]) expect((await api.call('DELETE', path)).status).toBe(status)
  expect((await api.call('GET', path)).status).toBe(404)
  expect((await api.call('GET', `${PATH}/endpoints/nothing`)).status).toBe(404)
})

test('a key sees and changes only applications of its account and names', async () => {
  const admin = await keyWith(guarded, ['manage', 'read'])
  await admin.call('PUT', '/v1/topics/orders')
  for (const name of ['shop', 'bank']) {
    const path = `/v1/platform-applications/GCM/${name}`
    expect(await admin.status('PUT', path, { credential })).toBe(201)
    expect(await admin.status('POST', `${path}/endpoints`, { token: 't' })).toBe(201)
  }
  const bound = await keyWith(guarded, ['manage', 'read'], { prefixes: ['shop'] })
  const { body } = await bound.call('GET', '/v1/platform-applications')
  expect(body.applications.map(({ arn }: { arn: string }) => arn)).toEqual([APP])
  const bank = '/v1/platform-applications/GCM/bank'
  const attempts: [string, string, object?][] = [
    ['GET', bank],
    ['PUT', bank, { enabled: false }],
    ['DELETE', bank],
    ['GET', `${bank}/endpoints`],
    ['POST', `${bank}/endpoints`, { token: 'mine' }],
  ]
  for (const [method, path, given] of attempts)
    expect([method, path, await bound.status(method, path, given)]).toEqual([method, path, 403])
  const events = { endpointCreated: 'arn:aws:sns:us-east-1:000000000000:orders' }
  expect(await bound.status('PUT', PATH, { events })).toBe(403)
  expect(await bound.status('PUT', PATH, { enabled: false })).toBe(200)
  const reader = await keyWith(guarded, ['read'])
  expect(await reader.status('PUT', PATH, { enabled: true })).toBe(403)
  const stranger = await keyWith(guarded, ['manage', 'read'], { account: '111122223333' })
  expect(await stranger.status('GET', PATH)).toBe(404)
  expect((await stranger.call('GET', '/v1/platform-applications')).body.applications).toEqual([])
  expect(guarded.events).toContainEqual(
    expect.objectContaining({
      event: 'audit',
      fields: expect.objectContaining({
        action: 'PUT /v1/platform-applications/{platform}/{name}',
        resource: { platform: 'GCM', name: 'bank' },
        result: 'denied',
      }),
    }),
  )
})
