import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'

let api: TestApi
beforeAll(async () => {
  api = await startTestApi()
})
beforeEach(() => api.redis.flushall())
afterAll(() => api.stop())

/** The number of requests in each series, by method, route and class of status. */
function counts(): Record<string, number> {
  const series = [...api.deps.metrics.httpRequestSeconds.series()]
  return Object.fromEntries(
    series.map(({ labels, counts }) => [Object.values(labels).join(' '), counts.reduce((a, b) => a + b)]),
  )
}

/** Requests that came after `before` was read. */
function since(before: Record<string, number>): Record<string, number> {
  const grown = Object.entries(counts()).map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
  return Object.fromEntries(grown.filter(([, count]) => count > 0))
}

const form = (parameters: Record<string, string>) => ({
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(parameters).toString(),
})

test('a request counts by its path’s pattern and the class of its status', async () => {
  const before = counts()
  await api.call('PUT', '/v1/topics/orders')
  await api.call('PUT', '/v1/topics/bills')
  await api.call('POST', '/v1/topics/orders/messages', { body: { message: 'x' } })
  await api.call('POST', '/v1/topics/orders/messages', { body: '{' })
  await api.call('GET', '/v1/topics/absent')
  expect(since(before)).toEqual({
    'PUT /v1/topics/{topic} 2xx': 2,
    'POST /v1/topics/{topic}/messages 2xx': 1,
    'POST /v1/topics/{topic}/messages 4xx': 1,
    'GET /v1/topics/{topic} 4xx': 1,
  })
})

test('an AWS call counts by service and Action, also where it is refused', async () => {
  const before = counts()
  const version = { Version: '2010-03-31' }
  await api.call('POST', '/', form({ ...version, Action: 'CreateTopic', Name: 'orders' }))
  await api.call('POST', '/', form({ ...version, Action: 'CreateTopic', Name: '*' }))
  await api.call('POST', '/', {
    headers: { 'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': 'AmazonSQS.ListQueues' },
    body: '{}',
  })
  expect(since(before)).toEqual({
    ' aws:sns:CreateTopic 2xx': 1,
    ' aws:sns:CreateTopic 4xx': 1,
    ' aws:sqs:ListQueues 2xx': 1,
  })
})

test('nothing that a caller makes up becomes a series', async () => {
  const before = counts()
  for (const name of ['a', 'b', 'c']) {
    await api.call('GET', `/made-up/${name}`)
    await api.call('DELETE', `/v1/topics/${name}/messages`)
    await api.call('POST', '/', form({ Action: `Make${name}`, Version: '2010-03-31' }))
  }
  expect(since(before)).toEqual({ ' none 4xx': 6, 'POST / 4xx': 3 })
})

test('the time is that of the request, in seconds', async () => {
  await api.call('GET', '/healthz')
  const [series] = [...api.deps.metrics.httpRequestSeconds.series()].filter(
    ({ labels }) => labels.route === '/healthz',
  )
  expect(series?.sum).toBeGreaterThan(0)
  expect(series?.sum).toBeLessThan(1.5)
})
