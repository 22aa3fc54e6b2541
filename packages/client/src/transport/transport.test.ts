/** Calls to a server with set answers: what is retried, how often, and what the error of a failed call contains. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { FantailError } from '../failures/client-error.ts'
import { Fantail } from '../fantail-client.ts'
import type { Attempt, FantailOptions } from '../settings/client-settings.ts'
import { errorAnswer, type ScriptedServer, startScriptedServer } from './scripted-server.fixture.ts'

const RECEIPT = { status: 202, json: { messageId: 'm-1' } }

let server: ScriptedServer

beforeAll(async () => {
  server = await startScriptedServer()
})

afterAll(() => server.stop())

beforeEach(() => {
  // Full jitter: no delays.
  vi.spyOn(Math, 'random').mockReturnValue(0)
})

afterEach(() => {
  vi.restoreAllMocks()
})

const client = (options: FantailOptions = {}) => new Fantail({ url: server.url, ...options })
const publish = (options: FantailOptions = {}) => client(options).topics('orders').publish('hello')
const failureOf = async (call: Promise<unknown>) => (await call.catch((error) => error)) as FantailError

test('a publish goes to its topic with a key of its own', async () => {
  server.answer(RECEIPT)
  const fantail = client({ apiKey: 'ft_1_secret' })
  const options = { attributes: { n: 1 }, eventType: 'order.paid', eventTypeVersion: 2, maxAttempts: 3 }
  expect(await fantail.topics('a/b').publish({ order: 7 }, options)).toEqual({ messageId: 'm-1' })
  await fantail.topics('a/b').publish('x')
  const [first, second] = server.asked
  expect(first).toMatchObject({ method: 'POST', url: '/v1/topics/a%2Fb/messages' })
  const { maxAttempts: _, ...members } = options
  expect(JSON.parse(first?.body ?? '')).toEqual({ message: { order: 7 }, ...members })
  expect(first?.headers).toMatchObject({
    authorization: 'Bearer ft_1_secret',
    'content-type': 'application/json',
  })
  expect(first?.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/)
  expect(second?.headers['idempotency-key']).not.toBe(first?.headers['idempotency-key'])
})

test.each([
  ['408', { status: 408 }],
  ['429', errorAnswer(429, 'rate_limited')],
  ['500', errorAnswer(500, 'internal')],
  ['502', { status: 502 }],
  ['503', errorAnswer(503, 'storage_unavailable')],
  ['504', { status: 504 }],
  ['a dropped connection', { drop: true } as const],
])('%s is retried with the same key, up to maxAttempts', async (_, answer) => {
  server.answer(answer, answer, RECEIPT)
  expect(await publish()).toEqual({ messageId: 'm-1' })
  expect(new Set(server.asked.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  expect(server.asked.length).toBe(3)
  server.answer(answer)
  const error = await failureOf(publish({ maxAttempts: 2 }))
  expect([error.name, error.retryable, error.attempts]).toEqual(['FantailError', true, 2])
  expect(error.idempotencyKey).toBe(server.asked[0]?.headers['idempotency-key'])
})

test.each([
  [400, 'validation_failed'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [409, 'conflict'],
  [413, 'too_large'],
] as const)('%i is not retried, and the error has what the API said', async (status, code) => {
  server.answer(errorAnswer(status, code))
  const error = await failureOf(publish())
  expect(error).toMatchObject({ code, status, requestId: 'r-1', attempts: 1, retryable: false })
  expect(error.message).toBe(`it is ${code}`)
})

test('a request that may have been done is sent again only if a repetition changes nothing', async () => {
  const queue = client().queues('jobs')
  server.answer({ drop: true })
  expect(await failureOf(queue.send('job'))).toMatchObject({ code: 'network', attempts: 1 })
  server.answer(errorAnswer(503, 'storage_unavailable'))
  expect(await failureOf(queue.send('job'))).toMatchObject({ code: 'storage_unavailable', attempts: 1 })
  server.answer(errorAnswer(429, 'rate_limited'), errorAnswer(503, 'storage_full'), {
    status: 201,
    json: { messageId: 'm-2' },
  })
  expect(await queue.send('job')).toEqual({ messageId: 'm-2' })
  server.answer({ drop: true }, { status: 200, json: { messages: [] } })
  expect(await queue.receive({ waitSeconds: 0 })).toEqual([])
})

test('a connection that is refused was no request, so everything is retried', async () => {
  const gone = await startScriptedServer()
  await gone.stop()
  const error = await failureOf(new Fantail({ url: gone.url }).queues('jobs').send('job'))
  expect(error).toMatchObject({ code: 'network', attempts: 3, status: undefined })
  expect(error.cause).toBeInstanceOf(Error)
})

test('Retry-After is kept; one past the bound ends the call', async () => {
  server.answer(errorAnswer(429, 'rate_limited', { 'Retry-After': '1' }), RECEIPT)
  const startedAt = performance.now()
  await publish()
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990)
  server.answer(errorAnswer(503, 'storage_full', { 'Retry-After': '120' }))
  expect(await failureOf(publish())).toMatchObject({ attempts: 1, retryAfterMs: 120_000, retryable: true })
  server.answer(errorAnswer(503, 'storage_full', { 'Retry-After': '50' }))
  const late = await failureOf(publish({ deadlineMs: 40_000 }))
  expect(late).toMatchObject({ attempts: 1, code: 'storage_full' })
})

test('an attempt without an answer ends after timeoutMs, the call at its deadline or signal', async () => {
  server.answer({ hang: true })
  expect(await failureOf(publish({ timeoutMs: 30, maxAttempts: 2 }))).toMatchObject({
    code: 'timeout',
    attempts: 2,
  })
  expect(await failureOf(publish({ deadlineMs: 30 }))).toMatchObject({
    code: 'deadline_exceeded',
    attempts: 1,
  })
  const cause = new Error('enough')
  const controller = new AbortController()
  const call = client().topics('aborted').publish('x', { signal: controller.signal })
  await expect.poll(() => server.asked.some(({ url }) => url.includes('aborted'))).toBe(true)
  controller.abort(cause)
  expect(await failureOf(call)).toMatchObject({ code: 'aborted', cause, attempts: 1 })
  const before = client().topics('orders').publish('x', { signal: controller.signal })
  expect(await failureOf(before)).toMatchObject({ code: 'aborted', attempts: 0 })
})

test('a wait before a retry ends with the signal too', async () => {
  server.answer(errorAnswer(429, 'rate_limited', { 'Retry-After': '30' }))
  const controller = new AbortController()
  const call = client({ onAttempt: () => controller.abort() })
    .topics('orders')
    .publish('x', { signal: controller.signal })
  expect(await failureOf(call)).toMatchObject({ code: 'aborted', attempts: 1 })
})

test('onAttempt sees each request with its result and the time until the next', async () => {
  server.answer(errorAnswer(500, 'internal'), RECEIPT)
  const attempts: Attempt[] = []
  await publish({ onAttempt: (attempt) => attempts.push(attempt) })
  await expect.poll(() => attempts.length).toBe(2)
  const at = { method: 'POST', path: '/v1/topics/{topic}/messages', requestId: 'r-1' }
  expect(attempts).toMatchObject([
    { ...at, attempt: 1, status: 500, error: { code: 'internal' }, retryInMs: 0 },
    { ...at, attempt: 2, status: 202, error: undefined, retryInMs: undefined },
  ])
})

test('an empty quota fails with the last error, or waits for successes', async () => {
  const fantail = client({ maxAttempts: 1_000 })
  server.answer(errorAnswer(500, 'internal'))
  const error = await failureOf(fantail.topics('orders').get())
  // 500 tokens, 14 a retry.
  expect([error.code, error.attempts]).toEqual(['internal', 36])
  expect(await failureOf(fantail.topics('orders').get())).toMatchObject({ attempts: 1 })

  const patient = client({ maxAttempts: 38, emptyQuota: 'wait' })
  const call = patient.topics('orders').get()
  await vi.waitFor(() => expect(server.asked.length).toBe(37 + 36), { timeout: 30_000 })
  server.answer({ status: 200, json: { name: 'orders' } })
  // The server works again when the one retry a second is let through.
  expect(await call).toEqual({ name: 'orders' })
})

test('adaptive mode delays requests after a throttled answer, or refuses them', async () => {
  server.answer(errorAnswer(429, 'rate_limited'), { status: 200, json: {} })
  const fantail = client({ retryMode: 'adaptive', reachedRate: 'fail', maxAttempts: 1 })
  // After 2 s a token is available. A busy machine could take longer than that for two calls.
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    await failureOf(fantail.topics('orders').get())
    await expect(fantail.topics('orders').get()).rejects.toMatchObject({ code: 'rate_reached', attempts: 0 })
  } finally {
    vi.useRealTimers()
  }
  expect(server.asked.length).toBe(1)
  const standard = client({ retryMode: 'legacy', maxAttempts: 1 })
  server.answer(errorAnswer(429, 'rate_limited'), { status: 200, json: {} })
  await failureOf(standard.topics('orders').get())
  expect(await standard.topics('orders').get()).toEqual({})
})

test('after a transient failure the retry closes its connection', async () => {
  server.answer(errorAnswer(503, 'storage_unavailable'), RECEIPT)
  await publish()
  expect(server.asked.map(({ headers }) => headers.connection)).toEqual(['keep-alive', 'close'])
  server.answer(errorAnswer(429, 'rate_limited'), RECEIPT)
  await publish()
  expect(server.asked.map(({ headers }) => headers.connection)).toEqual(['keep-alive', 'keep-alive'])
})

test('an answer that is none of the API is refused, and a done request is not repeated', async () => {
  server.answer({ status: 200, json: undefined, headers: { 'Content-Length': '0' } })
  await expect(client().topics('orders').get()).rejects.toMatchObject({
    code: 'unexpected_answer',
    attempts: 1,
  })
  server.answer({ status: 301, headers: { Location: 'http://127.0.0.1:1/' } })
  await expect(publish()).rejects.toMatchObject({ code: 'unexpected_answer', status: 301, attempts: 1 })
})

test('traceparent, own headers and a key that changes go with each attempt', async () => {
  server.answer(errorAnswer(500, 'internal'), RECEIPT)
  const keys = ['ft_1_old', 'ft_2_new']
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await publish({
    apiKey: async () => keys.shift() ?? '',
    headers: { 'X-Csrf': '1' },
    traceparent: () => traceparent,
  })
  expect(server.asked.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer ft_1_old',
    'Bearer ft_2_new',
  ])
  expect(server.asked[1]?.headers).toMatchObject({ traceparent, 'x-csrf': '1' })
})

test('a list is read page by page as it is walked through', async () => {
  const page = (names: string[], nextCursor: string | null) => ({
    status: 200,
    json: { topics: names.map((name) => ({ name })), nextCursor },
  })
  server.answer(page(['a', 'b'], 'c-1'), page(['c'], null))
  const names: string[] = []
  for await (const { name } of client().topics.list({ prefix: 'x', limit: 2 })) names.push(name)
  expect(names).toEqual(['a', 'b', 'c'])
  expect(server.asked.map(({ url }) => url)).toEqual([
    '/v1/topics?prefix=x&limit=2',
    '/v1/topics?prefix=x&limit=2&cursor=c-1',
  ])
})
