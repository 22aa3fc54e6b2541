import { waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'
import { portalOf } from '../../portal/portal.fixture.ts'

let api: TestApi
let admin: TestKey
let bound: TestKey

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['read', 'manage'])
  bound = await keyWith(api, ['manage'], { prefixes: ['mine'] })
  await admin.call('PUT', '/v1/topics/orders', { body: { displayName: 'a secret text' } })
  await bound.call('PUT', '/v1/topics/mine')
  await bound.call('DELETE', '/v1/topics/orders')
  await api.call('DELETE', '/v1/topics/orders')
})
afterAll(() => api.stop())

type Entry = { action: string; keyId: string; resource: Record<string, string>; result: string }

async function audit(key: TestKey, query = ''): Promise<Entry[]> {
  const { status, body } = await key.call('GET', `/v1/audit${query}`)
  expect(status).toBe(200)
  return body.entries
}
const told = (entries: Entry[]) =>
  entries.map(({ action, resource, result }) => [action.split(' ')[0], resource.topic, result])

test('a key without prefixes sees who has changed what, refused strangers too', async () => {
  await waitFor(async () => (await audit(admin)).length === 4, { what: 'four lines' })
  const entries = await audit(admin)
  expect(told(entries)).toEqual([
    ['DELETE', 'orders', 'denied'],
    ['DELETE', 'orders', 'denied'],
    ['PUT', 'mine', 'done'],
    ['PUT', 'orders', 'done'],
  ])
  expect(entries.map(({ keyId }) => keyId)).toEqual(['anonymous', bound.id, bound.id, admin.id])
  expect(JSON.stringify(entries)).not.toContain('a secret text')
})

test('a key with prefixes sees its own lines, and one of another account its account’s', async () => {
  expect(new Set((await audit(bound)).map(({ keyId }) => keyId))).toEqual(new Set([bound.id]))
  expect(await audit(bound, `?key=${admin.id}`)).toEqual([])
  expect(await audit(await keyWith(api, ['manage'], { account: '222222222222' }))).toEqual([])
  expect(await (await keyWith(api, ['read'])).status('GET', '/v1/audit')).toBe(403)
})

test('lines are found by key, action, resource and time', async () => {
  expect(told(await audit(admin, `?key=${bound.id}&action=put`))).toEqual([['PUT', 'mine', 'done']])
  expect(told(await audit(admin, '?resource=orders&action=PUT'))).toEqual([['PUT', 'orders', 'done']])
  expect(await audit(admin, '?since=2999-01-01T00:00:00Z')).toEqual([])
  const first = (await admin.call('GET', '/v1/audit?limit=3')).body
  const rest = (await admin.call('GET', `/v1/audit?limit=3&cursor=${first.nextCursor}`)).body
  expect([first.entries.length, told(rest.entries)]).toEqual([3, [['PUT', 'orders', 'done']]])
})

test('changes by bound keys, links and portal sessions have lists of their own, so they push out no others', async () => {
  const session = await portalOf(api, admin, { prefixes: ['mine'], scopes: ['read', 'manage'] })
  const body = { topic: 'mine', endpoint: 'https://example.com/mine' }
  expect(await session.status('POST', '/v1/portal/endpoints', body)).toBe(201)
  const added = async () => (await audit(admin)).find(({ action }) => action === 'POST /v1/portal/endpoints')
  expect(await waitFor(added, { what: 'the line of the session' })).toMatchObject({ portal: session.id })
  const lengths = ['bound', 'portal'].map((list) => api.redis.xlen(`ft:{audit}:${list}`))
  expect(await Promise.all(lengths)).toEqual([2, 1])
  const made = await api.redis.xrange('ft:{audit}:lines', '-', '+')
  const makers = made.map(([, [, line = '']]) => JSON.parse(line).keyId)
  expect(new Set(makers)).toEqual(new Set([admin.id]))
})
