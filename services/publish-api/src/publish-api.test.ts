import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { readApiSettings } from '@fantail/config'
import { createLogger } from '@fantail/runtime'
import { connect, type Redis, Topics, whenReady } from '@fantail/store'
import { createMetrics, NO_SPANS } from '@fantail/telemetry'
import { startRedis, type TestRedis, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PublishApi, startPublishApi } from './publish-api.ts'

let server: TestRedis
let redis: Redis
let api: PublishApi
let origin: string

beforeAll(async () => {
  server = await startRedis()
  redis = connect({ url: server.url, name: 'test' })
  await whenReady(redis)
  api = await startApi()
  origin = `http://127.0.0.1:${api.port}`
  await waitFor(async () => (await fetch(`${origin}/readyz`)).status === 200, { what: 'the API to be ready' })
})

afterAll(async () => {
  await api.stop()
  redis.disconnect()
  await server.stop()
})

const startApi = () =>
  startPublishApi({
    settings: readApiSettings({ FANTAIL_PORT: '0', REDIS_URL: server.url }),
    redisUrl: server.url,
    log: createLogger({ service: 'test', level: 'silent' }),
    telemetry: {
      metrics: createMetrics(),
      spans: NO_SPANS,
      renderMetrics: async () => '',
      stop: async () => undefined,
    },
  })

const publish = (topic: string, init: RequestInit = {}) =>
  fetch(`${origin}/v1/topics/${topic}/messages?raw=true`, { method: 'POST', body: 'x', ...init })

/** What a raw request gets: for what no HTTP client would send. */
async function exchange(text: string): Promise<string> {
  const socket = connectSocket(api.port, '127.0.0.1')
  socket.setEncoding('utf8')
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  socket.end(text)
  await once(socket, 'close')
  return answer
}

test('publishes over HTTP, in chunks too, and refuses a body that grows past its limit', async () => {
  await fetch(`${origin}/v1/topics/orders`, { method: 'PUT' })
  expect((await publish('orders')).status).toBe(202)
  const chunks = (count: number) =>
    new ReadableStream({
      start(controller) {
        for (let i = 0; i < count; i++) controller.enqueue(new Uint8Array(65_536).fill(97))
        controller.close()
      },
    })
  const inChunks = (count: number) =>
    publish('orders', { body: chunks(count), duplex: 'half' } as RequestInit)
  expect((await inChunks(4)).status).toBe(202)
  const large = await inChunks(17)
  expect([large.status, ((await large.json()) as { error: { code: string } }).error.code]).toEqual([
    413,
    'too_large',
  ])
})

test('a topic that another process makes or deletes is known at once', async () => {
  const topics = new Topics(redis)
  const arn = 'arn:aws:sns:us-east-1:000000000000:elsewhere'
  expect((await publish('elsewhere')).status).toBe(404)
  await topics.put(arn, {})
  expect((await publish('elsewhere')).status).toBe(202)
  await topics.delete(arn)
  await waitFor(async () => (await publish('elsewhere')).status === 404, {
    timeoutMs: 400,
    what: 'the deletion to be known',
  })
})

test('a request that is no request still gets the one error shape, or a plain 400', async () => {
  const badHost = await exchange('GET /healthz HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n')
  expect(badHost).toContain('HTTP/1.1 400')
  expect(badHost).toContain('"code":"validation_failed"')
  expect(await exchange('nonsense\r\n\r\n')).toContain('HTTP/1.1 400')
  const cutOff = await exchange(
    'POST /v1/topics/orders/messages HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"message"',
  )
  expect(cutOff).not.toContain('HTTP/1.1 5')
})

test('stopping ends long polls and finishes what is under way', async () => {
  const other = await startApi()
  const base = `http://127.0.0.1:${other.port}`
  await waitFor(async () => (await fetch(`${base}/readyz`)).status === 200, { what: 'the API to be ready' })
  await fetch(`${base}/v1/queues/work`, { method: 'PUT' })
  const before = await scriptRuns()
  const poll = fetch(`${base}/v1/queues/work/receive`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"waitSeconds":20}',
  })
  await waitFor(async () => (await scriptRuns()) > before, { what: 'the poll to begin' })
  const startedAt = performance.now()
  await other.stop()
  expect(await (await poll).json()).toEqual({ messages: [] })
  expect(performance.now() - startedAt).toBeLessThan(3_000)
  await expect(fetch(`${base}/healthz`)).rejects.toThrow()
})

test('a port that is taken is told, and nothing is left open', async () => {
  const settings = readApiSettings({ FANTAIL_PORT: String(api.port), REDIS_URL: server.url })
  const log = createLogger({ service: 'test', level: 'silent' })
  const telemetry = {
    metrics: createMetrics(),
    spans: NO_SPANS,
    renderMetrics: async () => '',
    stop: async () => undefined,
  }
  const before = (await clients()).length
  await expect(startPublishApi({ settings, redisUrl: server.url, log, telemetry })).rejects.toThrow(
    'EADDRINUSE',
  )
  await waitFor(async () => (await clients()).length <= before, { what: 'connections to close' })
})

async function clients(): Promise<string[]> {
  return String(await redis.call('CLIENT', 'LIST'))
    .trim()
    .split('\n')
}

/** Scripts that Redis has run. */
async function scriptRuns(): Promise<number> {
  const counts = (await redis.info('commandstats')).matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)
  return Array.from(counts, ([, calls]) => Number(calls)).reduce((sum, calls) => sum + calls, 0)
}
