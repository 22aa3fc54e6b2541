/** Limits and revocations as callers see them, with two processes on one Redis. */
import { KeyLimits } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bearer, keyWith } from '../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { createApp } from '../server/app.ts'
import { KeyCache } from './caller-caches.ts'
import { RateLimits } from './rate-limits.ts'

let api: TestApi

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  const admin = await keyWith(api, ['manage'])
  await admin.call('PUT', '/v1/topics/orders')
})
afterAll(() => api.stop())

test('past its limit a key is answered 429 with Retry-After, other keys are not', async () => {
  const key = await keyWith(api, ['read'], { maxRequestsPerSecond: 2 })
  const other = await keyWith(api, ['read'])
  const answers = await Promise.all(Array.from({ length: 8 }, () => key.call('GET', '/v1/topics')))
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThanOrEqual(5)
  expect(refused[0]?.body.error.code).toBe('rate_limited')
  expect(refused[0]?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(await other.status('GET', '/v1/topics')).toBe(200)
})

test('two processes let through no more than one', async () => {
  const { record } = await made(['read'], 20)
  const second = createApp({
    ...api.deps,
    keyCache: new KeyCache({ keys: api.deps.keys, vault: undefined, log: { error: () => undefined } }),
    rateLimits: new RateLimits({ limits: new KeyLimits(api.redis) }),
  })
  const ask = async (which: number) => {
    const headers = { Authorization: `Bearer ${record.token}` }
    if (which === 0) return (await api.call('GET', '/v1/topics', { headers })).status
    return (await second.request('/v1/topics', { headers })).status
  }
  const startedAt = performance.now()
  const statuses = await Promise.all(Array.from({ length: 100 }, (_, i) => ask(i % 2)))
  const seconds = (performance.now() - startedAt) / 1_000
  const served = statuses.filter((status) => status === 200).length
  // The tokens of one second are served at once, and also the tokens that came meanwhile.
  expect(served).toBeGreaterThanOrEqual(15)
  expect(served).toBeLessThanOrEqual(20 + Math.ceil(20 * seconds))
})

test('a revoked key is refused by the process that revoked it from its answer on', async () => {
  const { record, key } = await made(['manage'], null)
  expect(await key.status('GET', '/v1/keys')).toBe(200)
  expect(await key.status('DELETE', `/v1/keys/${record.id}`)).toBe(204)
  expect(await key.status('GET', '/v1/keys')).toBe(401)
})

test('keys are listed and read without their secrets, by their own account', async () => {
  const { record, key } = await made(['manage', 'publish'], 7)
  const stranger = await keyWith(api, ['manage'], { account: '222222222222' })
  const { token, ...shown } = record
  expect(token).toMatch(/^ft_/)
  expect((await key.call('GET', `/v1/keys/${record.id}`)).body).toEqual(shown)
  const { keys } = (await key.call('GET', '/v1/keys?limit=100')).body
  expect(keys).toContainEqual(shown)
  expect(JSON.stringify(keys)).not.toMatch(/secret|hash|sealed/i)
  expect((await stranger.call('GET', '/v1/keys')).body.keys).toHaveLength(1)
  expect(await stranger.status('GET', `/v1/keys/${record.id}`)).toBe(404)
  expect(await stranger.status('DELETE', `/v1/keys/${record.id}`)).toBe(204)
  expect(await key.status('GET', `/v1/keys/${record.id}`)).toBe(200)
})

test('a key cannot make one with more rights than its own', async () => {
  const { key } = await made(['manage', 'read'], null)
  const make = (body: object) => key.status('POST', '/v1/keys', { name: 'x', ...body })
  expect(await make({ scopes: ['read'] })).toBe(201)
  // A key with `manage` may make one with `consume`, because `manage` includes it.
  expect(await make({ scopes: ['consume'] })).toBe(201)
  expect(await make({ scopes: ['read', 'publish'] })).toBe(403)
  expect(await make({ scopes: ['read'], account: '222222222222' })).toBe(403)
  expect(await make({ scopes: [] })).toBe(400)
  expect(await make({ scopes: ['root'] })).toBe(400)
})

test('a key cannot make keys with more requests than its own, alone or together', async () => {
  const limited = await keyWith(api, ['manage', 'read'], { maxRequestsPerSecond: 20 })
  const make = (maxRequestsPerSecond?: number | null, key = limited) =>
    key.call('POST', '/v1/keys', { body: { name: 'x', scopes: ['manage', 'read'], maxRequestsPerSecond } })
  for (const more of [undefined, null, 21]) expect((await make(more)).status).toBe(403)
  const { body: first } = await make(20)
  expect(first).toMatchObject({
    maxRequestsPerSecond: 20,
    limitedBy: [{ id: limited.id, maxRequestsPerSecond: 20 }],
  })
  const child = bearer(api, first.id, first.token)
  expect((await make(undefined, child)).status).toBe(403)
  const { body: second } = await make(10, child)
  expect(second.limitedBy).toEqual([{ id: first.id, maxRequestsPerSecond: 20 }, ...first.limitedBy])
  // The key that made these keys is revoked. Its limit still applies to them.
  expect(await api.deps.keys.revoke(limited.id)).toBe(true)
  const keys = [child, bearer(api, second.id, second.token)]
  const startedAt = performance.now()
  const all = Array.from({ length: 80 }, (_, i) => keys[i % 2]?.status('GET', '/v1/topics'))
  const served = (await Promise.all(all)).filter((status) => status === 200).length
  const seconds = (performance.now() - startedAt) / 1_000
  expect(served).toBeGreaterThan(0)
  expect(served).toBeLessThanOrEqual(20 + Math.ceil(20 * seconds))
})

test('limited keys make one another only so many times in a row', async () => {
  let key = await keyWith(api, ['manage'], { maxRequestsPerSecond: 1_000 })
  const statuses: number[] = []
  for (let generation = 0; generation < 5; generation++) {
    const body = { name: 'x', scopes: ['manage'], maxRequestsPerSecond: 1_000 }
    const made = await key.call('POST', '/v1/keys', { body })
    statuses.push(made.status)
    if (made.status === 201) key = bearer(api, made.body.id, made.body.token)
  }
  expect(statuses).toEqual([201, 201, 201, 201, 403])
})

async function made(scopes: string[], maxRequestsPerSecond: number | null) {
  const admin = await keyWith(api, ['manage', 'read', 'publish'])
  const body = { name: 'made', scopes, maxRequestsPerSecond }
  const { body: record } = await admin.call('POST', '/v1/keys', { body })
  return { record, key: bearer(api, record.id, record.token) }
}
