import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { makeKey } from '@fantail/access'
import { readApiSettings } from '@fantail/config'
import { KEY_COMMAND, REQUEST_BYTES_MAX } from '@fantail/contracts'
import { createLogger } from '@fantail/runtime'
import { ApiKeys, connect, Queues, type Redis, shardBase, shardOf, Topics, whenReady } from '@fantail/store'
import { createMetrics, NO_SPANS } from '@fantail/telemetry'
import { startFairTimer, startRedis, type TestRedis, waitFor, whenClosed } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPublishApi, type PublishApi } from './publish-api.ts'

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

async function startApi(
  env: Record<string, string> = {},
  log = createLogger({ service: 'test', level: 'silent' }),
) {
  const started = createPublishApi({
    settings: readApiSettings({ FANTAIL_PORT: '0', REDIS_URL: server.url, ...env }),
    redisUrl: server.url,
    log,
    telemetry: {
      metrics: createMetrics(),
      spans: NO_SPANS,
      renderMetrics: async () => '',
      stop: async () => undefined,
    },
    build: { version: '1.2.3', commit: 'c0ffee' },
    fail: (error) => expect.fail(String(error)),
  })
  await started.start()
  return started
}

const publish = (topic: string, init: RequestInit = {}) =>
  fetch(`${origin}/v1/topics/${topic}/messages?raw=true`, { method: 'POST', body: 'x', ...init })

/** The answer to a raw request that no HTTP client would send. `stay`: waits for the answer to a whole request. */
async function exchange(text: string, { stay = false } = {}): Promise<string> {
  const socket = connectSocket(api.port, '127.0.0.1')
  socket.setEncoding('utf8')
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  if (stay) socket.write(text)
  else socket.end(text)
  await whenClosed(socket)
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

const POST = 'POST /v1/topics/orders/messages HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n'
const JSON_HEAD = `${POST}Content-Type: application/json\r\n`
const LENGTH = `Content-Length: ${REQUEST_BYTES_MAX}\r\n\r\n`
/** The longest allowed body. Most of it is insignificant spaces. */
const LARGEST = '{"message":"x"}'.padEnd(REQUEST_BYTES_MAX)

test.each([
  ['in one piece', `${JSON_HEAD}Content-Length: 15\r\n\r\n{"message":"x"}`, 202],
  [
    'in chunks of one piece',
    `${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\nf\r\n{"message":"x"}\r\n0\r\n\r\n`,
    202,
  ],
  ['of the largest size', `${JSON_HEAD}${LENGTH}${LARGEST}`, 202],
  ['of none', `${POST}Content-Length: 0\r\n\r\n`, 400],
  ['announced too large', `${JSON_HEAD}Content-Length: ${REQUEST_BYTES_MAX + 1}\r\n\r\n`, 413],
  ['of no type', `${POST}Content-Length: 15\r\n\r\n{"message":"x"}`, 415],
  ['of two types', `${JSON_HEAD}Content-Type: text/plain\r\nContent-Length: 15\r\n\r\n{"message":"x"}`, 415],
])('a body %s', async (_, request, status) => {
  expect(await exchange(request, { stay: true })).toContain(`HTTP/1.1 ${status} `)
})

test('a body is put together from its pieces, also of characters', async () => {
  const socket = connectSocket(api.port, '127.0.0.1')
  const text = Buffer.from('{"message":"ünïcödé"}')
  socket.write(`${JSON_HEAD}Content-Length: ${text.length}\r\n\r\n`)
  for (const byte of text) await new Promise((resolve) => socket.write(Buffer.of(byte), resolve))
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toContain('HTTP/1.1 202')
})

test('a request id, idempotency key and trace are read from what a server hands over', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const headers = { 'X-Request-Id': 'r-1', 'Idempotency-Key': 'once', traceparent }
  const first = await publish('orders', { headers })
  const second = await publish('orders', { headers })
  expect(first.headers.get('x-request-id')).toBe('r-1')
  expect(second.headers.get('idempotent-replayed')).toBe('true')
  expect(await second.json()).toEqual(await first.json())
  const jobs = await redis.keys('*dispatch-0*:[0-9]*')
  const data = await Promise.all(jobs.map((job) => redis.hget(job, 'data')))
  expect(data.filter((text) => text?.includes(traceparent))).toHaveLength(1)
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
    'POST /v1/topics/orders/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"message"',
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
  const took = startFairTimer(server.pid())
  await other.stop()
  expect(await (await poll).json()).toEqual({ messages: [] })
  expect(took()).toBeLessThan(3_000)
  await expect(fetch(`${base}/healthz`)).rejects.toThrow()
})

test('a used port is reported, and nothing is left open', async () => {
  const before = (await clients()).length
  await expect(startApi({ FANTAIL_PORT: String(api.port) })).rejects.toThrow('EADDRINUSE')
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

/** How often an API with these settings logs the line at its start. */
async function warnings(line: string, env: Record<string, string>): Promise<number> {
  const messages: string[] = []
  const destination = { write: (text: string) => void messages.push(JSON.parse(text).msg) }
  const started = await startApi(env, createLogger({ service: 'test', destination }))
  await started.stop()
  return messages.filter((message) => message === line).length
}

test('with keys and without a public URL, a warning says that callers choose the base of links', async () => {
  const told = (env: Record<string, string>) => warnings('links.by_caller', env)
  expect(await told({})).toBe(0)
  expect(await told({ FANTAIL_AUTH: 'on' })).toBe(1)
  expect(await told({ FANTAIL_AUTH: 'on', FANTAIL_PUBLIC_URL: 'https://fantail.example' })).toBe(0)
})

test('in server mode without TLS and without a proxy, one warning says that calls can be read', async () => {
  const mode = { FANTAIL_MODE: 'server', FANTAIL_HOST: '127.0.0.1', FANTAIL_ALLOW_VOLATILE_REDIS: 'true' }
  expect(await warnings('tls.none', {})).toBe(0)
  expect(await warnings('tls.none', mode)).toBe(1)
  expect(await warnings('tls.none', { ...mode, FANTAIL_TRUSTED_PROXIES: '10.0.0.0/8' })).toBe(0)
  const files = { FANTAIL_TLS_CERT_FILE: '/tls.pem', FANTAIL_TLS_KEY_FILE: '/tls-key.pem' }
  expect(await warnings('tls.none', { ...mode, ...files })).toBe(0)
})

test('without keys, a warning has the command that makes one in the folder of this stack', async () => {
  const commandOf = async (env: Record<string, string>) => {
    const lines: { msg: string; command?: string }[] = []
    const destination = { write: (text: string) => void lines.push(JSON.parse(text)) }
    const started = await startApi(
      { FANTAIL_AUTH: 'on', ...env },
      createLogger({ service: 'test', destination }),
    )
    await waitFor(() => lines.some(({ msg }) => msg === 'keys.none'))
    await started.stop()
    return lines.find(({ msg }) => msg === 'keys.none')?.command
  }
  expect(await commandOf({})).toBe(KEY_COMMAND)
  const folder = { REDIS_URL: '', FANTAIL_DATA_DIR: '/data/2' }
  expect(await commandOf(folder)).toBe(`FANTAIL_DATA_DIR=/data/2 ${KEY_COMMAND}`)
})

test('an API that starts after all were away extends the leases of queues', async () => {
  const arn = 'arn:aws:sqs:us-east-1:000000000000:replies'
  const queues = new Queues(redis)
  await queues.create(arn, { leaseSeconds: 60 })
  const ends = (await queues.leaseEndsAt(arn)) ?? 0
  await redis.decrby(`${shardBase(shardOf(arn))}queues:leased:at`, 3_600_000)
  const started = await startApi()
  try {
    await waitFor(async () => ((await queues.leaseEndsAt(arn)) ?? 0) >= ends + 3_600_000)
  } finally {
    await started.stop()
  }
})

// Without the announcement, the entry would be looked up again only after half a second.
test('a key that another process revokes is refused when that is announced', async () => {
  const asking = await startApi({ FANTAIL_AUTH: 'on' })
  try {
    const url = `http://127.0.0.1:${asking.port}`
    await waitFor(async () => (await fetch(`${url}/readyz`)).status === 200, { what: 'the API to be ready' })
    const wanted = { name: 'x', kind: 'native', scopes: ['read'], prefixes: [] } as const
    const set = { ...wanted, account: '000000000000', maxRequestsPerSecond: null }
    const { record, shown } = makeKey(set, { vault: undefined, now: 1 })
    const keys = new ApiKeys(redis)
    const headers = { Authorization: `Bearer ${'token' in shown && shown.token}` }
    const status = async () => (await fetch(`${url}/v1/topics`, { headers })).status
    expect(await status()).toBe(401)
    await keys.create(record)
    await waitFor(async () => (await status()) === 200, { what: 'the key to be known' })
    const took = startFairTimer(server.pid())
    await keys.revoke(record.id)
    await waitFor(async () => (await status()) === 401, { what: 'the key to be refused' })
    expect(took()).toBeLessThan(400)
  } finally {
    await asking.stop()
  }
})
