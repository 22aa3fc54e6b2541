import { bucketOf, StatsCounter, StatsStore } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

const TOPIC = 'arn:aws:sns:us-east-1:000000000000:'
let api: TestApi
let admin: TestKey
let mine: TestKey
let ids: Record<string, string>

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['read', 'manage', 'publish'])
  mine = await keyWith(api, ['read'], { prefixes: ['mine'] })
  ids = {}
  for (const name of ['orders', 'mine', 'mine-too']) {
    await admin.call('PUT', `/v1/topics/${name}`)
    const body = { endpoint: `https://example.com/${name}` }
    ids[name] = (await admin.call('POST', `/v1/topics/${name}/subscriptions`, { body })).body.id
  }
  const counter = startCounter()
  for (const [n, name] of ['orders', 'mine', 'mine-too'].entries()) {
    const topic = counter.topic(TOPIC + name)
    topic.published(Date.now(), n + 1)
    topic.delivered(Date.now(), bucketOf(10))
    counter.subscription(ids[name] ?? '').delivered(Date.now(), bucketOf(10))
    counter.subscription(ids[name] ?? '').failed(Date.now())
  }
  await counter.stop()
})
afterAll(() => api.stop())

const startCounter = () =>
  new StatsCounter({ store: new StatsStore(api.redis), now: () => Date.now(), onFlush: () => undefined })
const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0)
const read = async (key: TestKey, query = '') => {
  const { status, body } = await key.call('GET', `/v1/stats${query}`)
  return status === 200
    ? { status, published: body.published && sum(body.published), delivered: sum(body.delivered), body }
    : { status, body }
}

test('the total, a topic and a subscription are read', async () => {
  expect(await read(admin)).toMatchObject({
    published: 6,
    delivered: 3,
    body: { range: '1h', stepSeconds: 60 },
  })
  expect(await read(admin, '?topic=mine')).toMatchObject({ published: 2, delivered: 1 })
  expect(await read(admin, `?topic=${TOPIC}mine-too`)).toMatchObject({ published: 3 })
  const { body } = await read(admin, `?subscription=${ids.mine}`)
  expect(body).toMatchObject({ published: null, kept: true, complete: true })
  expect([sum(body.delivered), sum(body.failed), sum(body.deadLettered)]).toEqual([1, 1, 0])
  expect(body.p50Ms.filter((ms: number | null) => ms !== null)).toEqual([expect.closeTo(10, 0)])
})

test.each([
  ['15m', 60, 15],
  ['1h', 60, 60],
  ['6h', 60, 360],
  ['24h', 60, 1_440],
  ['7d', 3_600, 168],
  ['30d', 3_600, 720],
])('a range of %s has steps of %d s', async (range, stepSeconds, steps) => {
  const { body, published } = await read(admin, `?range=${range}`)
  expect(body).toMatchObject({ range, stepSeconds })
  for (const list of ['at', 'published', 'delivered', 'failed', 'deadLettered', 'p50Ms', 'p99Ms'])
    expect(body[list]).toHaveLength(steps)
  const step = (stepSeconds as number) * 1_000
  const gaps = body.at.slice(1).map((at: string, i: number) => Date.parse(at) - Date.parse(body.at[i]))
  expect(new Set(gaps)).toEqual(new Set([step]))
  expect(Date.now() - Date.parse(body.at.at(-1))).toBeLessThan(step + 30_000)
  expect(published).toBe(6)
})

test('a wrong range, two names and unknown names are refused', async () => {
  const refused = await read(admin, '?range=2h')
  expect(refused.status).toBe(400)
  expect(refused.body.error.details).toEqual([
    { path: 'range', message: 'must be one of 15m, 1h, 6h, 24h, 7d, 30d' },
  ])
  expect((await read(admin, `?topic=mine&subscription=${ids.mine}`)).body.error.details[0].path).toBe(
    'subscription',
  )
  expect((await read(admin, '?step=5')).status).toBe(400)
  expect((await read(admin, '?topic=a%20b')).status).toBe(400)
  const other = ids.mine?.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
  for (const query of ['?topic=never', '?subscription=never', `?subscription=${other}`])
    expect((await read(admin, query)).status, query).toBe(404)
})

test('a bound key sees the sum of its own topics, and no other topic or subscription', async () => {
  expect(await read(mine)).toMatchObject({ published: 5, delivered: 2, body: { complete: true } })
  expect(await read(mine, '?topic=mine')).toMatchObject({ published: 2 })
  expect(await read(mine, `?subscription=${ids.mine}`)).toMatchObject({ delivered: 1 })
  expect((await read(mine, '?topic=orders')).status).toBe(403)
  expect((await read(mine, `?subscription=${ids.orders}`)).status).toBe(404)
  const none = await keyWith(api, ['read'], { prefixes: ['none'] })
  expect(await read(none)).toMatchObject({ published: 0, delivered: 0 })
})

test('a key of another account sees that account, and a key without read sees nothing', async () => {
  const other = await keyWith(api, ['read'], { account: '111111111111' })
  expect(await read(other)).toMatchObject({ published: 0 })
  expect((await read(other, `?topic=${TOPIC}mine`)).status).toBe(403)
  expect((await read(await keyWith(api, ['publish']))).status).toBe(403)
})

test('published messages are counted once, repeated requests not', async () => {
  await admin.call('PUT', '/v1/topics/counted')
  const publish = (headers?: Record<string, string>) =>
    admin.call('POST', '/v1/topics/counted/messages', {
      body: { message: 'hello' },
      ...(headers && { headers }),
    })
  await publish()
  for (let n = 0; n < 3; n++) await publish({ 'Idempotency-Key': 'one' })
  await api.statsCounter.stop()
  expect(await read(admin, '?topic=counted')).toMatchObject({ published: 2 })
})

test('a topic without a seat says that nothing is kept of it', async () => {
  const counter = startCounter()
  for (let n = 0; n < 510; n++) counter.topic(`${TOPIC}many-${n}`).published(Date.now(), 1)
  await counter.stop()
  await admin.call('PUT', '/v1/topics/late')
  expect((await read(admin, '?topic=late')).body).toMatchObject({
    kept: false,
    at: [],
    published: [],
    p99Ms: [],
  })
  const many = await keyWith(api, ['read'], { prefixes: ['many'] })
  expect(await read(many)).toMatchObject({ published: 50, body: { complete: false } })
})
