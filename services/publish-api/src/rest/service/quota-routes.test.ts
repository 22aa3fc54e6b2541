import { createMessageId } from '@fantail/contracts'
import { deliveryId, placeOfSubscription } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

let api: TestApi
let admin: TestKey
beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['publish', 'read', 'manage', 'redrive'])
})
afterAll(() => api.stop())

const put = (prefix: string, body: object, key = admin) => key.call('PUT', `/v1/quotas/${prefix}`, { body })

test('a quota is made, changed, listed with what is used, and deleted', async () => {
  await admin.call('PUT', '/v1/topics/list-a')
  const made = await put('list-', { topics: 3, storedBytes: 1_000 })
  expect([made.status, made.body]).toEqual([
    201,
    {
      ...{ prefix: 'list-', topics: 3, subscriptions: null, storedBytes: 1_000 },
      used: { topics: 1, subscriptions: 0, storedBytes: 0 },
    },
  ])
  expect(await put('list-', { topics: null })).toMatchObject({
    status: 200,
    body: { topics: null, storedBytes: 1_000 },
  })
  await put('list-b', { topics: 0 })
  const { body } = await admin.call('GET', '/v1/quotas?limit=1')
  expect(body.quotas).toMatchObject([{ prefix: 'list-' }])
  const rest = await admin.call('GET', `/v1/quotas?cursor=${body.nextCursor}`)
  expect(rest.body.quotas).toMatchObject([{ prefix: 'list-b', used: { topics: 0 } }])
  for (const prefix of ['list-', 'list-b']) {
    expect(await admin.status('DELETE', `/v1/quotas/${prefix}`)).toBe(204)
    expect(await admin.status('GET', `/v1/quotas/${prefix}`)).toBe(404)
  }
})

test.each([
  ['list-', {}],
  ['list-', { topics: null }],
  ['list-', { topics: -1 }],
  ['list-', { queues: 1 }],
  ['a.b', { topics: 1 }],
  ['a'.repeat(257), { topics: 1 }],
])('the quota of %j as %j is refused', async (prefix, body) => {
  expect((await put(prefix, body)).status).toBe(400)
})

test('a key that is bound to names sees the quotas of its own names, and changes none', async () => {
  for (const prefix of ['seen-', 'seen-eu-', 'unseen-']) await put(prefix, { topics: 5 })
  const own = await keyWith(api, ['manage', 'read'], { prefixes: ['seen-'] })
  const { body } = await own.call('GET', '/v1/quotas')
  expect(body.quotas.map(({ prefix }: { prefix: string }) => prefix)).toEqual(['seen-', 'seen-eu-'])
  expect(await own.status('GET', '/v1/quotas/seen-eu-')).toBe(200)
  for (const prefix of ['see', 'unseen-', 'nothing']) {
    expect(await own.status('GET', `/v1/quotas/${prefix}`)).toBe(403)
  }
  expect((await put('seen-', { topics: 6 }, own)).status).toBe(403)
  expect(await own.status('DELETE', '/v1/quotas/seen-')).toBe(403)
  const stranger = await keyWith(api, ['manage', 'read'], { account: '222222222222' })
  expect((await stranger.call('GET', '/v1/quotas')).body.quotas).toEqual([])
})

test('a customer who has everything of the quota gets 403 with the bound', async () => {
  await put('full-', { topics: 1, subscriptions: 1 })
  const own = await keyWith(api, ['manage'], { prefixes: ['full-'] })
  expect(await own.status('PUT', '/v1/topics/full-a')).toBe(201)
  const second = await own.call('PUT', '/v1/topics/full-b')
  expect([second.status, second.body.error]).toMatchObject([
    403,
    { code: 'quota_exceeded', message: 'topics that begin with full- have as many topics as their quota, 1' },
  ])
  const subscribe = (n: number) =>
    own.call('POST', '/v1/topics/full-a/subscriptions', { body: { endpoint: `https://example.com/${n}` } })
  expect((await subscribe(1)).status).toBe(201)
  expect((await subscribe(1)).status).toBe(200)
  expect((await subscribe(2)).body.error.code).toBe('quota_exceeded')
})

test('a customer whose messages fill the quota publishes again after a purge', async () => {
  await admin.call('PUT', '/v1/topics/bytes-a')
  await admin.call('PUT', '/v1/topics/bytes-b')
  const endpoint = 'https://example.com/bytes'
  const made = await admin.call('POST', '/v1/topics/bytes-a/subscriptions', { body: { endpoint } })
  const subscriptionId = made.body.id as string
  await park(subscriptionId, 5_000)
  const { body } = await put('bytes-', { storedBytes: 5_000 })
  expect(body.used.storedBytes).toBeGreaterThan(5_000)
  const publish = (topic: string) =>
    admin.call('POST', `/v1/topics/${topic}/messages`, { body: { message: 'x' } })
  for (const topic of ['bytes-a', 'bytes-b']) {
    expect((await publish(topic)).body.error).toMatchObject({ code: 'quota_exceeded' })
  }
  await admin.call('PUT', '/v1/topics/other')
  expect((await publish('other')).status).toBe(202)
  await admin.call('POST', `/v1/subscriptions/${subscriptionId}/purge`)
  await api.deps.quotaWatch.refresh()
  expect((await publish('bytes-b')).status).toBe(202)
})

async function park(subscriptionId: string, bytes: number) {
  const { shard } = placeOfSubscription(subscriptionId) ?? { shard: -1 }
  const id = deliveryId(createMessageId(Date.now()))
  const entry = { subscriptionId, delivery: id, message: 0, park: { as: 'fresh' as const } }
  await api.lanes.park(shard, {
    messages: [{ id, body: JSON.stringify('x'.repeat(bytes)) }],
    jobs: [{ jobName: '', fence: 0, fields: [], entries: [entry] }],
  })
}
