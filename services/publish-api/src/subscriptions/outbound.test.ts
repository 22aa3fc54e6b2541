/** Secrets of endpoints. They are accepted once, never shown again, and never in plain text in Redis. */
import { openOutbound } from '@fantail/delivery'
import { createAuthority } from '@fantail/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'

const SECRET = 's3cret-that-must-stay'
let api: TestApi
const authority = createAuthority()
const client = authority.issue(['client.example'])

beforeAll(async () => {
  api = await startTestApi()
  await api.call('PUT', '/v1/topics/orders')
  await api.call('PUT', '/v1/queues/jobs')
})

afterAll(() => api.stop())

const subscribe = (body: object) => api.call('POST', '/v1/topics/orders/subscriptions', { body })
const patch = (id: string, outbound: unknown) =>
  api.call('PATCH', `/v1/subscriptions/${id}`, { body: { outbound } })

/** All bytes in Redis. */
async function everything(): Promise<string> {
  const keys = await api.redis.keys('*')
  const dumps = await Promise.all(keys.map((key) => api.redis.dumpBuffer(key)))
  return Buffer.concat([
    ...keys.map((key) => Buffer.from(key)),
    ...dumps.map((dump) => dump ?? Buffer.alloc(0)),
  ]).toString('latin1')
}

async function reached(id: string) {
  const record = await api.deps.subscriptions.get(id)
  if (!record) throw new Error('no such subscription')
  return openOutbound(record, api.deps.vault)
}

test('credentials and outbound secrets are in no answer, log line or key', async () => {
  const url = `https://user:${SECRET}@hooks.example/in`
  const outbound = {
    proxy: `http://user:${SECRET}@proxy.example:3128`,
    clientCertificate: { certificate: client.cert, privateKey: client.key },
    ca: authority.cert,
    headers: { 'X-Api-Key': SECRET },
  }
  const made = await subscribe({ endpoint: url, outbound })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({
    endpoint: 'https://user:****@hooks.example/in',
    outbound: {
      proxy: 'http://user:****@proxy.example:3128',
      clientCertificate: { certificate: client.cert },
      ca: authority.cert,
      headers: ['X-Api-Key'],
    },
  })
  const { id } = made.body
  const test = await api.call('POST', `/v1/subscriptions/${id}/test`)
  expect(test.body).toMatchObject({ statusCode: 204 })
  expect(api.attempts.at(-1)?.url).toBe(url)
  const answers = [
    made,
    test,
    await api.call('GET', `/v1/subscriptions/${id}`),
    await api.call('GET', '/v1/subscriptions'),
    await subscribe({ endpoint: url, outbound: { headers: { a: 'other' } } }),
    await patch(id, { headers: { Authorization: SECRET } }),
  ]
  const shown = JSON.stringify([answers.map(({ text }) => text), api.events]) + (await everything())
  const keyText = client.key.split('\n')[1] ?? ''
  for (const secret of [SECRET, btoa(`user:${SECRET}`), keyText]) expect(shown.includes(secret)).toBe(false)
  expect(await reached(id)).toEqual({ url, ...outbound })
})

describe('the endpoint’s credentials', () => {
  test('distinguish subscriptions, and equal ones are the same subscription', async () => {
    const [a, b] = ['https://u:a@twice.example/', 'https://u:b@twice.example/']
    const first = await subscribe({ endpoint: a })
    const second = await subscribe({ endpoint: b })
    expect([first.status, second.status, (await subscribe({ endpoint: a })).status]).toEqual([201, 201, 200])
    const found = await api.call('GET', `/v1/subscriptions?topic=orders&endpoint=${encodeURIComponent(b)}`)
    expect(found.body.subscriptions).toMatchObject([{ id: second.body.id }])
    await api.call('DELETE', `/v1/subscriptions/${first.body.id}`)
    expect((await subscribe({ endpoint: a })).status).toBe(201)
  })

  test('stay when what is around them changes', async () => {
    const { body } = await subscribe({ endpoint: 'https://u:stays@kept.example/' })
    expect((await patch(body.id, { headers: { a: '1', b: '2' }, ca: authority.cert })).status).toBe(200)
    expect((await patch(body.id, { headers: { c: '3' } })).body.outbound).toMatchObject({
      headers: ['c'],
      ca: authority.cert,
    })
    expect(await reached(body.id)).toMatchObject({
      url: 'https://u:stays@kept.example/',
      headers: { c: '3' },
    })
    expect((await patch(body.id, { ca: null })).body.outbound).toMatchObject({ headers: ['c'], ca: null })
    expect((await patch(body.id, null)).body.outbound).toBeNull()
    expect(await reached(body.id)).toMatchObject({ url: 'https://u:stays@kept.example/', headers: undefined })
  })
})

describe('the client of a token server', () => {
  const oauth = {
    tokenUrl: 'https://auth.example/token',
    clientId: 'shop',
    clientSecret: SECRET,
    scope: 'hooks',
  }
  const shown = { tokenUrl: oauth.tokenUrl, clientId: 'shop', scope: 'hooks', audience: null }

  test('is shown without its secret, which is sealed', async () => {
    const made = await subscribe({ endpoint: 'https://tokens.example/', outbound: { oauth } })
    expect(made.body.outbound).toMatchObject({ oauth: shown })
    expect(made.text + (await everything())).not.toContain(SECRET)
    expect((await reached(made.body.id)).oauth).toMatchObject(oauth)
    const again = (change: object) =>
      subscribe({ endpoint: 'https://tokens.example/', outbound: { oauth: { ...oauth, ...change } } })
    const statuses = [await again({}), await again({ clientSecret: 'other' }), await again({ audience: 'a' })]
    expect(statuses.map(({ status }) => status)).toEqual([200, 409, 409])
    const kept = await patch(made.body.id, { headers: { a: '1' } })
    expect(kept.body.outbound).toMatchObject({ oauth: shown, headers: ['a'] })
    expect((await patch(made.body.id, { oauth: null })).body.outbound).toMatchObject({ oauth: null })
  })

  test('has the same name for the same credential, and another one for any other', async () => {
    const nameOf = async (endpoint: string, set: object = {}) => {
      const { body } = await subscribe({ endpoint, outbound: { oauth: { ...oauth, ...set } } })
      return (await reached(body.id)).oauth?.name
    }
    const names = [
      await nameOf('https://a.example/'),
      await nameOf('https://b.example/'),
      await nameOf('https://c.example/', { clientSecret: 'other' }),
      await nameOf('https://d.example/', { scope: 'other' }),
    ]
    expect(names[0]).toMatch(/^[\w-]{16}$/)
    expect([names[1] === names[0], new Set(names).size]).toEqual([true, 3])
  })

  test('stays at its origin when the subscription moves', async () => {
    const { body } = await subscribe({ endpoint: 'https://origin.example/a', outbound: { oauth } })
    const move = (endpoint: string) =>
      api.call('PATCH', `/v1/subscriptions/${body.id}`, { body: { endpoint } })
    expect((await move('https://origin.example/b')).body.outbound).toMatchObject({ oauth: shown })
    const { outbound } = (await move('https://elsewhere.example/')).body
    expect(outbound?.oauth ?? null).toBeNull()
  })

  test.each([
    ['outbound.oauth.tokenUrl', { oauth: { ...oauth, tokenUrl: 'ftp://auth.example/' } }],
    ['outbound.oauth.tokenUrl', { oauth: { ...oauth, tokenUrl: 'https://u:p@auth.example/' } }],
    ['outbound.oauth.clientSecret', { oauth: { tokenUrl: oauth.tokenUrl, clientId: 'shop' } }],
    ['outbound.headers', { oauth, headers: { authorization: 'x' } }],
  ])('is refused at %s, %j', async (path, outbound) => {
    const { status, body } = await subscribe({ endpoint: 'https://refused.example/', outbound })
    expect([status, body.error.details[0].path]).toEqual([400, path])
    expect(JSON.stringify(body)).not.toContain(SECRET)
  })

  test('is refused beside credentials of the endpoint, for queues and for push consumers', async () => {
    const named = await subscribe({ endpoint: 'https://u:p@refused.example/', outbound: { oauth } })
    expect(named.body.error.details).toMatchObject([{ path: 'outbound.oauth' }])
    const queue = await subscribe({ endpoint: 'jobs', protocol: 'sqs', outbound: { oauth } })
    expect(queue.status).toBe(400)
    const consumer = { body: { url: 'https://push.example/', outbound: { oauth } } }
    const { body } = await api.call('PUT', '/v1/queues/jobs/consumers/hook', consumer)
    expect(body.error.details).toMatchObject([{ path: 'outbound.oauth' }])
  })
})

test('subscribing again agrees where the outbound members given do', async () => {
  const endpoint = 'https://again.example/'
  const outbound = { headers: { a: '1', b: '2' } }
  expect((await subscribe({ endpoint, outbound })).status).toBe(201)
  expect((await subscribe({ endpoint })).status).toBe(200)
  expect((await subscribe({ endpoint, outbound: { headers: { b: '2', a: '1' } } })).status).toBe(200)
  for (const other of [
    { headers: { a: '1' } },
    { headers: { a: '1', b: '3' } },
    { proxy: 'http://p/' },
    null,
  ])
    expect([other, (await subscribe({ endpoint, outbound: other })).status]).toEqual([other, 409])
})

test.each([
  ['outbound.proxy', { proxy: `socks5://u:${SECRET}@p` }],
  ['outbound.ca', { ca: SECRET }],
  ['outbound.ca', { ca: `${authority.cert}${client.key}` }],
  ['outbound.ca', { ca: authority.cert.replace('M', '!') }],
  ['outbound.clientCertificate', { clientCertificate: { certificate: client.cert, privateKey: SECRET } }],
  [
    'outbound.clientCertificate',
    { clientCertificate: { certificate: client.cert, privateKey: authority.key } },
  ],
  ['outbound.clientCertificate', { clientCertificate: { certificate: client.cert } }],
  ['outbound.headers.Host', { headers: { Host: SECRET } }],
  ['outbound.headers.X-Key', { headers: { 'X-Key': `${SECRET}\r\nHost: evil` } }],
  [
    'outbound.headers',
    { headers: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`x-${i}`, SECRET])) },
  ],
  ['outbound', 'text'],
  ['outbound', { other: SECRET }],
])('%s that cannot be used is refused without a word of it, and changes nothing', async (path, outbound) => {
  const refused = await subscribe({ endpoint: 'https://bad.example/', outbound })
  expect([refused.status, refused.body.error.code]).toEqual([400, 'validation_failed'])
  expect(refused.body.error.details[0].path.startsWith(path)).toBe(true)
  expect(refused.text).not.toContain(SECRET)
  const { body } = await subscribe({ endpoint: 'https://good.example/' })
  const patched = await patch(body.id, outbound)
  expect([patched.status, patched.body.error.details[0].path.startsWith(path)]).toEqual([400, true])
  expect(await reached(body.id)).toMatchObject({ headers: undefined, proxy: undefined })
})

test('a queue has no outbound settings, and credentials no second authorization', async () => {
  const queue = await subscribe({
    endpoint: 'arn:aws:sqs:us-east-1:000000000000:jobs',
    outbound: { proxy: 'http://p/' },
  })
  expect(queue.body.error.details).toMatchObject([{ path: 'outbound' }])
  const both = await subscribe({
    endpoint: 'https://u:p@h.example/',
    outbound: { headers: { authorization: 'x' } },
  })
  expect(both.body.error.details).toMatchObject([{ path: 'outbound.headers' }])
})

describe('without a master key', () => {
  test('sealed secrets cannot be opened, so neither a change nor a second subscribe is judged', async () => {
    const endpoint = 'https://sealed.example/'
    const outbound = { headers: { a: SECRET } }
    const { body } = await subscribe({ endpoint, outbound })
    const { vault } = api.deps
    api.deps.vault = undefined
    try {
      for (const refused of [
        await patch(body.id, { ca: null }),
        await subscribe({ endpoint, outbound: {} }),
      ]) {
        expect([refused.status, refused.body.error.code]).toEqual([409, 'wrong_state'])
      }
    } finally {
      api.deps.vault = vault
    }
  })

  test('secrets are refused by name, and everything else is taken', async () => {
    const { vault } = api.deps
    api.deps.vault = undefined
    try {
      const endpoint = 'https://keyless.example/'
      for (const [path, body] of [
        ['endpoint', { endpoint: `https://u:${SECRET}@keyless.example/` }],
        ['outbound', { endpoint, outbound: { headers: { a: SECRET } } }],
      ] as const) {
        const { body: answer, text, status } = await subscribe(body)
        expect([status, answer.error.details]).toMatchObject([400, [{ path }]])
        expect(text).toContain('FANTAIL_MASTER_KEY')
        expect(text).not.toContain(SECRET)
      }
      const { status, body } = await subscribe({ endpoint, outbound: { proxy: 'http://proxy.example:3128' } })
      expect([status, body.outbound.proxy]).toEqual([201, 'http://proxy.example:3128'])
      const consumer = await api.call('PUT', '/v1/queues/jobs/consumers/keyless', {
        body: { url: `https://u:${SECRET}@h.example/` },
      })
      expect([consumer.status, consumer.body.error.details]).toMatchObject([400, [{ path: 'url' }]])
    } finally {
      api.deps.vault = vault
    }
  })
})

test('a consumer’s URL is shown without its password and kept sealed', async () => {
  const route = '/v1/queues/jobs/consumers/hook'
  const { body } = await api.call('PUT', route, { body: { url: `https://u:${SECRET}-2@h.example/in` } })
  expect(body.url).toBe('https://u:****@h.example/in')
  await api.call('PATCH', route, { body: { batchSize: 2 } })
  const found = await api.deps.pushConsumers.get('arn:aws:sqs:us-east-1:000000000000:jobs', 'hook')
  expect(found?.consumer.sealed).toMatch(/^v1\./)
  expect(await everything()).not.toContain(SECRET)
  await api.call('PATCH', route, { body: { url: 'https://h.example/' } })
  const plain = await api.deps.pushConsumers.get('arn:aws:sqs:us-east-1:000000000000:jobs', 'hook')
  expect(plain?.consumer).toMatchObject({ url: 'https://h.example/', sealed: null })
})
