import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:jobs'
const URL = 'https://hook.example/in'
let api: TestApi
beforeAll(async () => {
  api = await startTestApi()
  await api.call('PUT', '/v1/queues/jobs')
  await api.call('PUT', '/v1/queues/ordered.fifo')
})
afterAll(() => api.stop())

const consumer = (method: string, path: string, body?: object) =>
  api.call(method, `/v1/queues/${path}`, body && { body })

test('PUT creates a consumer with defaults, then sets only what it is given; null resets', async () => {
  const created = await consumer('PUT', 'jobs/consumers/hook', { url: URL })
  expect(created.status).toBe(201)
  const { createdAt, modifiedAt, ...rest } = created.body
  expect(rest).toEqual({
    name: 'hook',
    queueArn: QUEUE,
    url: URL,
    batchSize: 10,
    batchWindowSeconds: 0,
    concurrency: 1,
    timeoutSeconds: 30,
    enabled: true,
    reportBatchItemFailures: false,
    outbound: null,
    inFlight: 0,
  })
  expect(Date.parse(createdAt)).toBe(Date.parse(modifiedAt))
  const set = { batchSize: 1_000, concurrency: 100, timeoutSeconds: 900, batchWindowSeconds: 300 }
  const again = await consumer('PUT', `${QUEUE}/consumers/hook`, set)
  expect([again.status, again.body]).toEqual([
    200,
    { ...created.body, ...set, modifiedAt: again.body.modifiedAt },
  ])
  const patched = await consumer('PATCH', 'jobs/consumers/hook', { batchSize: null, enabled: false })
  expect(patched.body).toMatchObject({ batchSize: 10, concurrency: 100, enabled: false })
  expect((await consumer('GET', 'jobs/consumers/hook')).body).toEqual(patched.body)
})

test('a list has them by name, page by page', async () => {
  await consumer('PUT', 'ordered.fifo/consumers/b', { url: URL })
  await consumer('PUT', 'ordered.fifo/consumers/a', { url: URL })
  const names = async (query = '') => {
    const { body } = await consumer('GET', `ordered.fifo/consumers${query}`)
    return [body.consumers.map(({ name }: { name: string }) => name), body.nextCursor]
  }
  expect(await names()).toEqual([['a', 'b'], null])
  const [first, cursor] = await names('?limit=1')
  expect(first).toEqual(['a'])
  expect(await names(`?limit=1&cursor=${cursor}`)).toEqual([['b'], null])
})

test('an invalid consumer is refused, and nothing is created', async () => {
  const refused: [string, object, string][] = [
    ['jobs/consumers/new', {}, 'url'],
    ['jobs/consumers/new', { url: 'ftp://x' }, 'url'],
    ['jobs/consumers/new', { url: 'arn:aws:sqs:us-east-1:000000000000:other' }, 'url'],
    ['jobs/consumers/new', { url: 'http://a b' }, 'url'],
    ['jobs/consumers/new', { url: null }, 'url'],
    ['jobs/consumers/new', { url: URL, batchSize: 0 }, 'batchSize'],
    ['jobs/consumers/new', { url: URL, batchSize: 1_001 }, 'batchSize'],
    ['jobs/consumers/new', { url: URL, batchWindowSeconds: 301 }, 'batchWindowSeconds'],
    ['jobs/consumers/new', { url: URL, concurrency: 101 }, 'concurrency'],
    ['jobs/consumers/new', { url: URL, timeoutSeconds: 901 }, 'timeoutSeconds'],
    ['jobs/consumers/new', { url: URL, other: 1 }, 'other'],
    ['jobs/consumers/new', { url: URL, outbound: { proxy: 'socks://x' } }, 'outbound.proxy'],
    ['jobs/consumers/new', { url: URL, outbound: { headers: { Host: 'x' } } }, 'outbound.headers.Host'],
    ['jobs/consumers/new', { url: URL, outbound: { ca: 'none' } }, 'outbound.ca'],
    ['jobs/consumers/new', { outbound: { headers: { 'X-Key': 'k' } } }, 'url'],
    ['jobs/consumers/n.w', { url: URL }, 'consumer'],
    ['ordered.fifo/consumers/new', { url: URL, batchSize: 11 }, 'batchSize'],
    ['ordered.fifo/consumers/new', { url: URL, batchWindowSeconds: 1 }, 'batchWindowSeconds'],
  ]
  for (const [path, body, member] of refused) {
    const answer = await consumer('PUT', path, body)
    expect([answer.status, answer.body.error.details[0].path]).toEqual([400, member])
  }
  expect((await consumer('GET', 'jobs/consumers/new')).status).toBe(404)
})

test('DELETE answers 204 twice; nothing is found of what is gone', async () => {
  await consumer('PUT', 'jobs/consumers/brief', { url: URL })
  for (let i = 0; i < 2; i++) expect((await consumer('DELETE', 'jobs/consumers/brief')).status).toBe(204)
  const answers = await Promise.all([
    consumer('GET', 'jobs/consumers/brief'),
    consumer('PATCH', 'jobs/consumers/brief', {}),
    consumer('PUT', 'none/consumers/hook', { url: URL }),
    consumer('GET', 'none/consumers'),
  ])
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
})

test('consumers go with their queue', async () => {
  await consumer('PUT', 'gone')
  await consumer('PUT', 'gone/consumers/hook', { url: URL })
  await api.call('DELETE', '/v1/queues/gone')
  await consumer('PUT', 'gone')
  expect((await consumer('GET', 'gone/consumers')).body.consumers).toEqual([])
})
