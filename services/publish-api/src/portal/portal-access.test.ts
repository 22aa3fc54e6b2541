/** A portal session can do what its link grants, never more than the key behind it may do, and nothing else. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMessageId } from '@fantail/contracts'
import { waitFor, watchCommands } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { keyWith, type TestKey } from '../auth/keys.fixture.ts'
import { ruleOf } from '../auth/native-rules.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { createApp, endpointsOf } from '../server/app.ts'
import { linkOf, portalOf, redeem, SAME_PAGE } from './portal.fixture.ts'

let api: TestApi
let admin: TestKey
const ids: Record<string, string> = {}
const ALL = ['read', 'manage', 'redrive', 'bodies']

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['read', 'manage', 'redrive', 'bodies', 'publish'])
  for (const topic of ['acme-orders', 'acme-clicks', 'other']) {
    await admin.call('PUT', `/v1/topics/${topic}`)
    const body = { endpoint: `https://example.com/${topic}`, outbound: { headers: { 'X-Secret': 'hidden' } } }
    ids[topic] = (await admin.call('POST', `/v1/topics/${topic}/subscriptions`, { body })).body.id
  }
  await admin.call('PUT', '/v1/queues/acme-queue')
})
afterAll(() => api.stop())

const MESSAGE = createMessageId(Date.now())
const PARTS: Record<string, string> = { topic: 'acme-orders', queue: 'acme-queue', messageId: MESSAGE }
/** The path of every route, with names that the session could claim as its own. */
const pathOf = (path: string) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => PARTS[name] ?? ids['acme-orders'] ?? '')

test('every route of the table refuses a portal session, but for those of the portal', async () => {
  const grants = [
    { prefixes: ['acme-'], scopes: ALL },
    { subscriptions: [ids['acme-orders']], scopes: ALL },
  ]
  const closed = endpointsOf(api.deps).filter((route) => {
    const { need, portal } = ruleOf(route)
    return need !== 'public' && need !== 'own' && !portal
  })
  expect(closed.length).toBeGreaterThan(85)
  for (const grant of grants) {
    let session = await portalOf(api, admin, grant)
    for (const [n, { method, path }] of closed.entries()) {
      // A session may make 20 requests in a second.
      if (n % 15 === 0) session = await portalOf(api, admin, grant)
      const answer = await session.call(method, pathOf(path))
      expect({ method, path, status: answer.status }).toEqual({ method, path, status: 403 })
      expect(answer.text).not.toContain(admin.id)
    }
  }
  expect(await api.deps.subscriptions.get(ids['acme-orders'] ?? '')).toMatchObject({ status: 'active' })
})

test('a subscription of another kind than a webhook is hidden from a session for its topic', async () => {
  const body = { endpoint: 'arn:aws:sqs:us-east-1:000000000000:acme-queue' }
  const { id } = (await admin.call('POST', '/v1/topics/acme-orders/subscriptions', { body })).body
  const path = `/v1/portal/endpoints/${id}`
  for (const grant of [{ prefixes: ['acme-'] }, { subscriptions: [id] }]) {
    const session = await portalOf(api, admin, { ...grant, scopes: ALL })
    for (const part of ['', '/messages', '/attempts', '/dead-letters'])
      expect(await session.status('GET', `${path}${part}`)).toBe(404)
    for (const part of ['/pause', '/test', '/redrive'])
      expect(await session.status('POST', `${path}${part}`)).toBe(404)
    expect(await session.status('DELETE', path)).toBe(204)
  }
  expect(await api.deps.subscriptions.get(id)).toMatchObject({ status: 'active' })
  await admin.call('DELETE', `/v1/subscriptions/${id}`)
})

test('routes of the portal refuse everybody who is no portal session', async () => {
  const routes = endpointsOf(api.deps).filter((route) => ruleOf(route).portal)
  expect(routes.length).toBeGreaterThan(12)
  for (const { method, path } of routes) {
    expect(await admin.status(method, pathOf(path))).toBe(403)
    expect((await api.call(method, pathOf(path))).status).toBe(401)
  }
})

test.each([
  ['other prefixes', () => ({ prefixes: ['acme-'], scopes: ALL })],
  ['one subscription', () => ({ subscriptions: [ids['acme-orders']], scopes: ALL })],
])('a session for %s reaches no subscription outside of it, by any route', async (_what, grant) => {
  const session = await portalOf(api, admin, grant())
  const foreign = 'prefixes' in grant() ? ['other'] : ['other', 'acme-clicks']
  const routes = endpointsOf(api.deps).filter(({ path }) => path.startsWith('/v1/portal/endpoints/{id}'))
  expect(routes.length).toBeGreaterThan(11)
  for (const topic of foreign) {
    // A session may make 20 requests in a second.
    const one = await portalOf(api, admin, grant())
    for (const { method, path } of routes) {
      const called = path.replace('{id}', ids[topic] ?? '').replace('{messageId}', MESSAGE)
      const answer = await one.call(method, called, method === 'PATCH' ? {} : undefined)
      expect({ method, path, status: answer.status }).toEqual({
        method,
        path,
        status: method === 'DELETE' ? 204 : 404,
      })
    }
  }
  for (const topic of foreign) {
    expect(await api.deps.subscriptions.get(ids[topic] ?? '')).toMatchObject({ status: 'active' })
    const body = { topic, endpoint: 'https://example.com/new' }
    expect(await session.status('POST', '/v1/portal/endpoints', body)).toBe(403)
  }
  const { body } = await session.call('GET', '/v1/portal/endpoints')
  expect(body.endpoints.map(({ id }: { id: string }) => id)).not.toContain(ids.other)
  expect(JSON.stringify(body)).not.toMatch(/hidden|outbound/)
})

test('an id that exists costs a session as many commands as one that does not', async () => {
  const session = await portalOf(api, admin, { prefixes: ['acme-'], scopes: ALL })
  const foreign = ids.other ?? ''
  const unknown = `${foreign.slice(0, -4)}${foreign.endsWith('0000') ? 'ffff' : '0000'}`
  const asked = async (id: string) => {
    const watched = await watchCommands(api.redis)
    const { status, text } = await session.call('GET', `/v1/portal/endpoints/${id}/messages/${MESSAGE}`)
    const seen = (await watched()).filter(({ words }) =>
      /:(subs|slice|lane|topic|attempts)/.test(words[1] ?? ''),
    )
    return [status, text.replace(/"requestId":"[^"]+"/, ''), seen.map(({ words: [name] }) => name)]
  }
  await asked(unknown)
  expect(await asked(foreign)).toEqual(await asked(unknown))
})

test('a topic’s policy denies protocols to a session, too', async () => {
  const arn = 'arn:aws:sns:us-east-1:000000000000:acme-clicks'
  const Statement = {
    Effect: 'Deny',
    Principal: '*',
    Action: 'SNS:Subscribe',
    Condition: { StringEquals: { 'sns:Protocol': 'http' } },
  }
  await api.deps.topics.patch(arn, { attributes: { Policy: JSON.stringify({ Statement }) } })
  api.deps.topicCache.forget(arn)
  const session = await portalOf(api, admin, { prefixes: ['acme-'], scopes: ALL })
  const added = (endpoint: string) =>
    session.status('POST', '/v1/portal/endpoints', { topic: 'acme-clicks', endpoint })
  expect(await added('HTTP://plain.example/')).toBe(403)
  expect(await added('https://safe.example/')).toBe(201)
})

test('scopes that the link does not grant are refused', async () => {
  const reader = await portalOf(api, admin, { prefixes: ['acme-'], scopes: ['read'] })
  const changes = endpointsOf(api.deps).filter((route) => {
    const { portal, need } = ruleOf(route)
    return portal && Array.isArray(need) && !need.includes('read')
  })
  expect(changes.length).toBeGreaterThan(6)
  for (const { method, path } of changes) {
    const { status, text } = await reader.call(method, pathOf(path))
    expect([status, text.includes(admin.id)]).toEqual([403, false])
  }
})

test('a link is redeemed once, by pages of this server, within ten minutes', async () => {
  const token = await linkOf(admin, { prefixes: ['acme-'], scopes: ['read'] })
  expect((await redeem(api, token, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
  expect((await redeem(api, token, {})).status).toBe(403)
  const answers = await Promise.all([redeem(api, token), redeem(api, token), redeem(api, token)])
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401])
  expect((await redeem(api, `fpl_${'A'.repeat(43)}`)).status).toBe(401)
  const late = await linkOf(admin, { prefixes: ['acme-'], scopes: ['read'] })
  const [key = ''] = await api.redis.keys('ft:{portal}:links:session:*')
  expect(await api.redis.pttl(key)).toBeGreaterThan(590_000)
  expect(await api.redis.pttl(key)).toBeLessThanOrEqual(600_000)
  await api.redis.pexpire(key, 0)
  expect((await redeem(api, late)).status).toBe(401)
  // The tokens themselves are not stored.
  const keys = await api.redis.keys('ft:{portal}:*')
  expect(keys.join(' ')).not.toContain(token)
})

test('a link names the language of its page before its token', async () => {
  const link = (language: string) =>
    admin.call('POST', '/v1/portal-links', { body: { prefixes: ['acme-'], scopes: ['read'], language } })
  expect(new URL((await link('de-AT')).body.url).search).toBe('?language=de-AT')
  expect((await link('de&x=1')).body.error.details).toEqual([
    { path: 'language', message: 'must be a language like de or de-AT' },
  ])
})

test('neither token passes for another', async () => {
  const link = await linkOf(admin, { prefixes: ['acme-'], scopes: ['read'] })
  const session = await portalOf(api, admin, { prefixes: ['acme-'], scopes: ['read'] })
  expect((await redeem(api, session.token)).status).toBe(401)
  const headers = { Authorization: `Bearer ${link}` }
  expect((await api.call('GET', '/v1/portal/session', { headers })).status).toBe(401)
  const login = { body: { key: session.token }, headers: SAME_PAGE }
  expect((await api.call('POST', '/v1/session', login)).status).toBe(401)
})

test('a key grants nothing that it may not do itself', async () => {
  const bound = await keyWith(api, ['read', 'manage'], { prefixes: ['acme-'] })
  const make = (body: object, key = bound) => key.status('POST', '/v1/portal-links', body)
  expect(await make({ prefixes: ['acme-orders'], scopes: ['read'] })).toBe(201)
  expect(await make({ prefixes: ['ac'], scopes: ['read'] })).toBe(403)
  expect(await make({ prefixes: ['acme-', 'other'], scopes: ['read'] })).toBe(403)
  expect(await make({ prefixes: ['acme-'], scopes: ['read', 'redrive'] })).toBe(403)
  expect(await make({ subscriptions: [ids.other], scopes: ['read'] })).toBe(404)
  expect(await make({ subscriptions: [ids['acme-orders']], scopes: ['read'] })).toBe(201)
  expect(await make({ prefixes: ['acme-'], scopes: ['read'] }, await keyWith(api, ['read']))).toBe(403)
  for (const wrong of [
    { scopes: ['read'] },
    { prefixes: ['acme-'], subscriptions: [ids['acme-orders']], scopes: ['read'] },
    { prefixes: ['acme-'], scopes: ['manage'] },
    { prefixes: ['acme-'], scopes: ['read', 'publish'] },
    { prefixes: [''], scopes: ['read'] },
    { prefixes: ['acme-'], scopes: ['read'], ttlSeconds: 90_000 },
  ]) {
    expect(await make(wrong)).toBe(400)
  }
})

test('a session ends when its key is revoked or narrowed, by itself, and by an operator', async () => {
  const grant = { prefixes: ['acme-'], scopes: ['read'] }
  const alive = (session: { status: (method: string, path: string) => Promise<number> }) =>
    session.status('GET', '/v1/portal/endpoints')
  const maker = await keyWith(api, ['read', 'manage'])
  const first = await portalOf(api, maker, grant)
  expect(await alive(first)).toBe(200)
  await admin.call('DELETE', `/v1/keys/${maker.id}`)
  expect(await alive(first)).toBe(401)

  const narrowed = await keyWith(api, ['read', 'manage'])
  const second = await portalOf(api, narrowed, grant)
  const unspent = await linkOf(narrowed, grant)
  const record = await api.deps.keys.get(narrowed.id)
  if (!record) throw new Error('the key is not stored')
  await api.deps.keys.replace(record, { ...record, prefixes: ['acme-orders'] })
  api.deps.keyCache.forget(narrowed.id)
  expect(await alive(second)).toBe(401)
  expect((await redeem(api, unspent)).status).toBe(401)

  const third = await portalOf(api, admin, grant)
  expect(await third.status('DELETE', '/v1/portal/session')).toBe(204)
  expect(await alive(third)).toBe(401)

  const fourth = await portalOf(api, admin, grant)
  const { sessions } = (await admin.call('GET', '/v1/sessions')).body
  const listed = sessions.find(({ portal }: { portal: string | null }) => portal === fourth.id)
  expect(listed).toMatchObject({ kind: 'portal', keyId: admin.id, bounds: ['acme-'] })
  expect(await admin.status('DELETE', `/v1/sessions/${listed.id}`)).toBe(204)
  expect(await alive(fourth)).toBe(401)

  const { body: link } = await admin.call('POST', '/v1/portal-links', { body: grant })
  const [fifth, sixth] = [await portalOf(api, admin, grant), await portalOf(api, admin, grant)]
  const stranger = await keyWith(api, ['manage'], { account: '222222222222' })
  for (const key of [stranger, admin]) {
    expect(await alive(fifth)).toBe(200)
    for (const id of [fifth.id, link.id]) expect(await key.status('DELETE', `/v1/sessions/${id}`)).toBe(204)
  }
  expect([await alive(fifth), await alive(sixth)]).toEqual([401, 200])
  expect((await redeem(api, new URL(link.url).hash.slice(1))).status).toBe(401)
})

test('audit lines name the session beside the key', async () => {
  const session = await portalOf(api, admin, { prefixes: ['acme-'], scopes: ['read', 'manage'] })
  await session.call('POST', `/v1/portal/endpoints/${ids['acme-clicks']}/pause`)
  const path = `/v1/audit?resource=${ids['acme-clicks']}`
  const entries = async () => (await admin.call('GET', path)).body.entries
  await waitFor(
    async () => (await entries()).some(({ portal }: { portal: string }) => portal === session.id),
    {
      what: 'the audit line',
    },
  )
  expect(JSON.stringify(api.events)).not.toContain(session.token)
})

/** The two pages as the build makes them, without their scripts. */
async function builtPages(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fantail-pages-'))
  await mkdir(join(folder, 'portal'))
  await writeFile(join(folder, 'index.html'), 'console')
  await writeFile(join(folder, 'portal', 'portal.html'), 'portal')
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

test('a page may be shown in frames of the listed origins only', async () => {
  const headersOf = async (portalOrigins: string[] | undefined) => {
    const app = createApp({
      ...api.deps,
      settings: { ...api.deps.settings, portalOrigins },
      consoleFolder: folder,
    })
    const { headers } = await app.request('/portal/')
    return [
      headers.get('x-frame-options'),
      /frame-ancestors [^;]*/.exec(headers.get('content-security-policy') ?? '')?.[0],
    ]
  }
  const folder = await builtPages()
  expect(await headersOf(undefined)).toEqual(['DENY', "frame-ancestors 'none'"])
  const origins = ['https://app.example.com', 'https://acme.example.com:8443']
  expect(await headersOf(origins)).toEqual([null, `frame-ancestors ${origins.join(' ')}`])
  const app = createApp({
    ...api.deps,
    settings: { ...api.deps.settings, portalOrigins: origins },
    consoleFolder: folder,
  })
  for (const path of ['/console/', '/v1/portal/session', '/portal', '/docs']) {
    expect((await app.request(path)).headers.get('x-frame-options')).toBe('DENY')
  }
})
