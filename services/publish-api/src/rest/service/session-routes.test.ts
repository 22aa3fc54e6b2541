import { hash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../../auth/keys.fixture.ts'
import { ruleOf } from '../../auth/native-rules.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'
import { createApp, endpointsOf } from '../../server/app.ts'

let api: TestApi
let admin: TestKey
let token: string
const SAME_PAGE = { 'Sec-Fetch-Site': 'same-origin' }

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['read', 'manage'])
  token = await makeToken(['read'])
  await admin.call('PUT', '/v1/topics/orders')
})
afterAll(() => api.stop())

async function makeToken(scopes: string[], prefixes: string[] = []): Promise<string> {
  return (await admin.call('POST', '/v1/keys', { body: { name: 'x', scopes, prefixes } })).body.token
}

const logIn = (key: string, headers: Record<string, string> = SAME_PAGE, base = 'http://localhost') =>
  api.call('POST', `${base}/v1/session`, { body: { key }, headers })

async function session(key = token) {
  const { headers, body } = await logIn(key)
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
  return { Cookie: cookie, 'X-Fantail-CSRF': String(body.csrfToken), ...SAME_PAGE }
}

test('a page of this server gets a cookie that scripts cannot read, and acts as its key', async () => {
  const { status, headers, body } = await logIn(token)
  expect(status).toBe(201)
  expect(headers.get('set-cookie')).toMatch(/^fantail_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
  expect(body).toMatchObject({ keysRequired: true, key: { scopes: ['read'], prefixes: [] } })
  const own = await session()
  const list = await api.call('GET', '/v1/topics', { headers: own })
  expect(list.body.topics).toHaveLength(1)
  const change = await api.call('DELETE', '/v1/topics/orders', { headers: own })
  expect([change.status, change.body.error.message]).toEqual([403, expect.stringContaining('manage')])
})

test('a session of a bound key sees the names of its key', async () => {
  const own = await session(await makeToken(['read'], ['bills']))
  expect((await api.call('GET', '/v1/topics', { headers: own })).body.topics).toEqual([])
})

test('over TLS the cookie is bound to the host; elsewhere a login is refused and the answer says why', async () => {
  const secure = await logIn(token, SAME_PAGE, 'https://fantail.example.com')
  expect(secure.headers.get('set-cookie')).toMatch(
    /^__Host-fantail=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  )
  const plain = await logIn(token, SAME_PAGE, 'http://fantail.example.com')
  expect(plain.status).toBe(403)
  expect(plain.body.error.message).toMatch(/TLS.*FANTAIL_PUBLIC_URL/)
})

test.each([{}, { 'Sec-Fetch-Site': 'cross-site' }, { 'Sec-Fetch-Site': 'same-site' }])(
  'a login with %o is refused',
  async (headers) => {
    expect((await logIn(token, headers as Record<string, string>)).status).toBe(403)
  },
)

test('no route takes a cookie without the value that belongs to it, or from another page', async () => {
  const { 'X-Fantail-CSRF': csrf, ...cookie } = await session(await makeToken(['read', 'manage']))
  const other = (await session())['X-Fantail-CSRF']
  for (const route of endpointsOf(api.deps)) {
    const { method, path, where } = route
    // The public routes take no cookie.
    if (where || !path.startsWith('/v1/') || path === '/v1/session' || ruleOf(route).need === 'public')
      continue
    const url = path.replace(/\{\w+\}/g, 'orders')
    const tries = [
      cookie,
      { ...cookie, 'X-Fantail-CSRF': other },
      { Cookie: cookie.Cookie, 'X-Fantail-CSRF': csrf },
    ]
    for (const headers of tries) {
      const { status, body } = await api.call(method, url, { headers })
      expect([method, path, status, body.error.code]).toEqual([method, path, 403, 'forbidden'])
    }
  }
})

test('a page finds its session again, and its value', async () => {
  const { 'X-Fantail-CSRF': csrf, ...cookie } = await session()
  const { body } = await api.call('GET', '/v1/session', { headers: cookie })
  expect(body).toMatchObject({ csrfToken: csrf, key: { scopes: ['read'] } })
  expect((await api.call('GET', '/v1/session', { headers: { Cookie: cookie.Cookie } })).status).toBe(403)
  const bearer = await admin.call('GET', '/v1/session')
  expect(bearer.body).toMatchObject({ csrfToken: null, endsAt: null, key: { id: admin.id } })
})

test('the cookie of the other kind of origin counts for nothing, and neither do two of one name', async () => {
  const { 'X-Fantail-CSRF': csrf, Cookie, ...page } = await session()
  const value = Cookie.slice(Cookie.indexOf('=') + 1)
  const foreign = (await session()).Cookie.replace(/.*=/, '')
  const secure = await logIn(token, SAME_PAGE, 'https://fantail.example.com')
  const host = secure.headers.get('set-cookie')?.split(';')[0] ?? ''
  const asked = async (base: string, cookie: string, own = csrf) => {
    const headers = { ...page, 'X-Fantail-CSRF': own, Cookie: cookie }
    return (await api.call('GET', `${base}/v1/topics`, { headers })).status
  }
  const [LOCAL, TLS] = ['http://localhost', 'https://fantail.example.com']
  expect(await asked(LOCAL, Cookie)).toBe(200)
  expect(await asked(TLS, host, String(secure.body.csrfToken))).toBe(200)
  expect(await asked(TLS, Cookie)).toBe(401)
  expect(await asked(TLS, `${Cookie}; ${host}`, String(secure.body.csrfToken))).toBe(200)
  expect(await asked(LOCAL, host, String(secure.body.csrfToken))).toBe(401)
  expect(await asked('http://fantail.example.com', Cookie)).toBe(401)
  for (const pair of [
    [foreign, value],
    [value, foreign],
  ])
    expect(await asked(LOCAL, pair.map((one) => `fantail_session=${one}`).join('; '))).toBe(401)
})

test('the value of a session is random, so nobody computes it from the cookie', async () => {
  const { 'X-Fantail-CSRF': csrf, Cookie } = await session()
  const value = Cookie.slice(Cookie.indexOf('=') + 1)
  for (const text of [value, `csrf ${value}`])
    for (const form of ['base64url', 'hex'] as const) expect(hash('sha256', text, form)).not.toBe(csrf)
  expect(csrf).toMatch(/^[\w-]{43}$/)
  expect(
    (await api.call('GET', '/v1/topics', { headers: { Cookie, ...SAME_PAGE, 'X-Fantail-CSRF': '' } })).status,
  ).toBe(403)
})

test('a session ends by hand, with its key, unused for an hour, and after 12 hours', async () => {
  const status = async (headers: Record<string, string>) =>
    (await api.call('GET', '/v1/topics', { headers })).status
  const left = await session()
  const out = await api.call('DELETE', '/v1/session', { headers: left })
  expect([out.status, out.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')])
  expect(await status(left)).toBe(401)

  const key = await makeToken(['read'])
  const revoked = await session(key)
  await admin.call('DELETE', `/v1/keys/${key.split('_')[1]}`)
  expect(await status(revoked)).toBe(401)

  const unused = await session()
  const [name = ''] = await api.redis.keys('*session:*')
  const ttl = await api.redis.pttl(name)
  expect(ttl).toBeGreaterThan(3_500_000)
  expect(ttl).toBeLessThanOrEqual(3_600_000)
  for (const found of await api.redis.keys('*session:*')) await api.redis.del(found)
  api.deps.sessionCache.clear()
  expect(await status(unused)).toBe(401)

  const old = await session()
  const digests = await api.redis.keys('*session:*')
  for (const found of digests) {
    const record = JSON.parse((await api.redis.get(found)) ?? '{}')
    await api.redis.set(found, JSON.stringify({ ...record, endsAt: Date.now() - 1 }))
  }
  api.deps.sessionCache.clear()
  expect(await status(old)).toBe(401)
})

test('the sixth failed login within a minute waits, a right key does not, and each is in the audit log', async () => {
  const wrong = `${token.slice(0, -43)}${'A'.repeat(43)}`
  for (let n = 0; n < 5; n++) expect((await logIn(wrong)).status).toBe(401)
  const sixth = await logIn(wrong)
  expect(sixth.status).toBe(429)
  expect(Number(sixth.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await logIn(token)).status).toBe(201)
  const lines = api.events.filter(
    ({ event, fields }) => event === 'audit' && fields.action === 'POST /v1/session',
  )
  expect(lines.map(({ fields }) => fields.result)).toContain('done')
  expect(lines.at(-3)?.fields).toMatchObject({ keyId: 'anonymous', result: 'denied', status: 401 })
  expect(JSON.stringify(lines)).not.toContain(token)
  await api.redis.del('ft:{sessions}:logins:unknown')
})

test('nobody logs in if no keys are required', async () => {
  const deps = { ...api.deps, settings: { ...api.deps.settings, auth: false, mode: 'local' as const } }
  const app = createApp(deps)
  const read = await app.request('http://localhost/v1/session')
  expect(await read.json()).toEqual({
    ...{ keysRequired: false, csrfToken: null, key: null, endsAt: null },
    server: expect.objectContaining({ partition: 'aws', region: 'us-east-1', account: '000000000000' }),
  })
  const body = JSON.stringify({ key: token })
  const headers = { ...SAME_PAGE, 'Content-Type': 'application/json' }
  const made = await app.request('http://localhost/v1/session', { method: 'POST', body, headers })
  expect([made.status, await made.json()]).toMatchObject([400, { error: { code: 'not_supported' } }])
})
