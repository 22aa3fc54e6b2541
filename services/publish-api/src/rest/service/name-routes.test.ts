import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

let api: TestApi
let admin: TestKey

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['publish', 'read', 'manage'])
  for (const topic of ['orders', 'orders-eu', 'hooli-invoices'])
    await admin.call('PUT', `/v1/topics/${topic}`)
  await admin.call('PUT', '/v1/queues/orders-jobs')
  const subscribe = (topic: string, body: object) =>
    admin.call('POST', `/v1/topics/${topic}/subscriptions`, { body })
  const hooli = { metadata: { customer: 'hooli' } }
  await subscribe('orders', { endpoint: 'https://in.hooli.example/erp', name: 'ERP', ...hooli })
  await subscribe('orders', { endpoint: 'https://in.hooli.example/crm', name: 'CRM', ...hooli })
  await subscribe('orders', {
    endpoint: 'https://erp.acme.example/',
    name: 'ERP',
    metadata: { customer: 'acme' },
  })
  await subscribe('orders-eu', { endpoint: 'https://user:secret@unnamed.example/' })
})
afterAll(() => api.stop())

interface Found {
  kind: string
  name: string | null
  topic: string | null
  host: string | null
}

const find = async (text: string, key = admin) =>
  (await key.call('GET', `/v1/search/names?text=${encodeURIComponent(text)}`)).body
const shown = ({ kind, name, topic, host }: Found) =>
  [kind, name, topic, host].filter((part) => part !== null).join(' ')
const names = async (text: string, key = admin) => ((await find(text, key)).found as Found[]).map(shown)

test.each(['hooli orders ERP', 'erp HOOLI orders', 'customer:hooli erp', '  hooli   erp '])(
  '%s finds the one subscription with all words, in any order',
  async (text) => {
    expect(await names(text)).toEqual(['subscription ERP orders in.hooli.example'])
  },
)

test('the best match comes first: a whole name, then its beginning, then other places', async () => {
  expect((await names('orders')).slice(0, 3)).toEqual([
    'topic orders',
    'topic orders-eu',
    'queue orders-jobs',
  ])
  expect((await names('erp'))[0]).toMatch(/^subscription ERP/)
  expect(await names('unnamed')).toEqual(['subscription orders-eu unnamed.example'])
  expect(JSON.stringify(await find('unnamed'))).not.toContain('secret')
  expect(await names('secret')).toEqual([])
  expect(await find('nowhere')).toEqual({ found: [], matched: 0, complete: true })
  expect((await admin.call('GET', '/v1/search/names?text=orders&limit=1')).body).toMatchObject({
    found: [{ kind: 'topic', id: 'orders' }],
    matched: 7,
  })
})

test('a key finds what lists show it, and keys only if it may list them', async () => {
  const own = await keyWith(api, ['read'], { prefixes: ['hooli'] })
  expect(await names('o', own)).toEqual(['topic hooli-invoices'])
  const { id } = await keyWith(api, ['read'])
  expect(await names(id)).toEqual(['key test'])
  expect(await names(id, await keyWith(api, ['read']))).toEqual([])
  expect(await names(id, await keyWith(api, ['read', 'manage'], { prefixes: ['orders'] }))).toEqual([])
  expect(await names('erp', await keyWith(api, ['read'], { account: '222222222222' }))).toEqual([])
  expect(await (await keyWith(api, ['publish'])).status('GET', '/v1/search/names?text=o')).toBe(403)
})

test('a search without words is refused', async () => {
  expect(await admin.status('GET', '/v1/search/names')).toBe(400)
  expect(await admin.status('GET', '/v1/search/names?text=')).toBe(400)
  expect(await names(' ')).toEqual([])
})
