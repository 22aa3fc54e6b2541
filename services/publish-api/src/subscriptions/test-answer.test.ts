/** `/test` over real connections: the request, the answer and the times. */
import { createHttpSender, type HttpSender } from '@fantail/delivery'
import {
  FLOOD_BYTES_MAX,
  FLOODS,
  flood,
  freePort,
  type Receiver,
  startRawServer,
  startReceiver,
  waitFor,
} from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { createTestAttempters } from './test-attempt.ts'

let api: TestApi
let admin: TestKey
let hooks: Receiver
let sender: HttpSender

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['manage', 'read', 'bodies'])
  hooks = await startReceiver()
  sender = createHttpSender({ allowPrivate: true, timeoutMs: 5_000 })
  const { queues, vault, clock } = api.deps
  const others = { userAgent: undefined, protocolSettings: {}, sms: {}, mobilePush: {}, mail: {} } as never
  api.deps.attempters = createTestAttempters({ queues, vault, clock, sender, ...(others as object) } as never)
  await admin.call('PUT', '/v1/topics/orders')
})
afterAll(async () => {
  await sender.close(0)
  await hooks.close()
  await api.stop()
})

async function tested(endpoint: string, { key = admin, body = {} as object, set = {} as object } = {}) {
  const made = await admin.call('POST', '/v1/topics/orders/subscriptions', { body: { endpoint, ...set } })
  const run = () => key.call('POST', `/v1/subscriptions/${made.body.id}/test`, { body })
  return { run, answer: (await run()).body }
}

/** Settings of the process, for one call. */
async function inLocalMode<T>(act: () => Promise<T>): Promise<T> {
  api.deps.settings.mode = 'local'
  try {
    return await act()
  } finally {
    api.deps.settings.mode = 'server'
  }
}

test('the request is shown as it was sent, with secrets masked', async () => {
  const endpoint = `http://user:pass@127.0.0.1:${hooks.port}/in?x=1`
  const set = { rawMessageDelivery: true, outbound: { headers: { 'X-Api-Key': 'top-secret' } } }
  const { answer } = await tested(endpoint, { set, body: { message: 'hello' } })
  const { request } = answer
  expect(request).toMatchObject({
    method: 'POST',
    url: `http://127.0.0.1:${hooks.port}/in?x=1`,
    body: 'hello',
    bodyBytes: 5,
    sent: true,
  })
  const [received] = hooks.requests
  const shown = Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value])
  const sent = Object.entries(received?.headers ?? {}).map(([name, value]) => [
    name,
    name === 'x-api-key' ? '***' : name === 'authorization' ? 'Basic ***' : value,
  ])
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(sent))
  expect(received?.headers['x-api-key']).toBe('top-secret')
  expect(JSON.stringify(answer)).not.toMatch(/top-secret|user:pass|dXNlcjpwYXNz/)
})

test('an access token is sent, and masked where the request is shown', async () => {
  hooks.respond('/token', { body: JSON.stringify({ access_token: 'top-secret' }) })
  const oauth = { tokenUrl: `${hooks.url}/token`, clientId: 'c', clientSecret: 'hidden' }
  const { answer } = await tested(`${hooks.url}/with-token`, { set: { outbound: { oauth } } })
  expect(answer).toMatchObject({ statusCode: 200, request: { headers: { Authorization: 'Bearer ***' } } })
  const [received] = hooks.requestsTo('/with-token')
  expect(received?.headers.authorization).toBe('Bearer top-secret')
  expect(JSON.stringify(answer)).not.toMatch(/top-secret|hidden/)
})

test('the answer has its harmless headers, and in local mode the beginning of its body', async () => {
  hooks.respond('/answer', {
    status: 400,
    body: 'x'.repeat(5_000),
    headers: { 'set-cookie': 'a=secret', 'x-request-id': '7' },
  })
  const endpoint = `http://127.0.0.1:${hooks.port}/answer`
  const { answer } = await inLocalMode(() => tested(endpoint))
  expect(answer).toMatchObject({ statusCode: 400, stage: null, bodies: 'shown' })
  expect(answer.answer).toMatchObject({ body: 'x'.repeat(4_096), bodyWithheld: null })
  expect(answer.answer.headers['x-request-id']).toBe('7')
  expect(JSON.stringify(answer)).not.toContain('secret')
})

test('in server mode a private address shows no body, and without the scope there is none at all', async () => {
  hooks.respond('/inner', { body: 'inner secret' })
  const endpoint = `http://127.0.0.1:${hooks.port}/inner`
  const { answer } = await tested(endpoint)
  expect(answer.answer).toMatchObject({ body: null, bodyWithheld: 'address' })
  const key = await keyWith(api, ['manage'])
  const withheld = await inLocalMode(() => tested(endpoint, { key, body: { message: 'mine' } }))
  expect(withheld.answer).toMatchObject({
    bodies: 'withheld',
    request: { body: null },
    answer: { body: null, bodyWithheld: 'scope' },
  })
  expect(JSON.stringify(withheld.answer)).not.toMatch(/inner secret|mine/)
})

test('the parts of an attempt are timed, and those of an open connection are not repeated', async () => {
  hooks.respond('/slow', { delayMs: 30 })
  // This URL has another host name, so no connection to it is open yet.
  const { answer, run } = await tested(`http://localhost:${hooks.port}/slow`)
  const { timings } = answer
  expect(timings).toMatchObject({ connectionReused: false, tlsMs: null })
  expect(timings.dnsMs).toBeGreaterThanOrEqual(0)
  expect(timings.connectMs).toBeGreaterThanOrEqual(0)
  expect(timings.firstByteMs).toBeGreaterThanOrEqual(25)
  expect(timings.totalMs).toBe(answer.durationMs)
  const again = (await run()).body.timings
  expect(again).toMatchObject({ connectionReused: true, dnsMs: null, connectMs: null, tlsMs: null })
})

test('a request that could not be sent says where it failed', async () => {
  const { answer } = await tested(`http://127.0.0.1:${await freePort()}/`)
  expect(answer).toMatchObject({
    statusCode: null,
    error: expect.stringContaining('connection_refused'),
    stage: 'connect',
    answer: null,
  })
  expect(answer.request).toMatchObject({ method: 'POST', sent: false })
  expect(answer.timings).toMatchObject({ connectMs: null, firstByteMs: null })
})

test('a queue shows the text that it gets', async () => {
  await admin.call('PUT', '/v1/queues/jobs')
  const { answer } = await tested('jobs', {
    set: { protocol: 'sqs', rawMessageDelivery: true },
    body: { message: 'x' },
  })
  expect(answer).toMatchObject({ statusCode: 200, answer: null })
  expect(answer.request).toMatchObject({ method: null, headers: {}, body: 'x', bodyBytes: 1, sent: null })
  expect(answer.request.url).toContain(':jobs')
})

test('no body stands in a log', () => {
  const lines = api.events.filter(({ event }) => event === 'subscription.tested')
  expect(lines.length).toBeGreaterThan(5)
  for (const { fields } of lines) {
    expect(Object.keys(fields).toSorted()).toEqual([
      'durationMs',
      'error',
      'requestId',
      'statusCode',
      'subscriptionId',
    ])
  }
})

test.each(FLOODS)('a flooding endpoint ends a test at once: %s', async (_what, head, repeated) => {
  let flooded = 0
  const server = await startRawServer((socket) => {
    socket.once('data', () => flood(socket, head, repeated))
    socket.once('close', () => {
      flooded = socket.bytesWritten
    })
  })
  const { answer } = await tested(server.url)
  // A status that was read stands.
  const ended = head === '' ? { error: expect.stringContaining('invalid_response') } : { statusCode: 200 }
  expect(answer).toMatchObject(ended)
  await waitFor(() => flooded > 0, { what: 'the connection to be closed' })
  await server.close()
  expect(flooded).toBeLessThan(FLOOD_BYTES_MAX)
})
