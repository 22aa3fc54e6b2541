/** A subscription that moves to another endpoint. */
import { createMessageId } from '@fantail/contracts'
import { openOutbound } from '@fantail/delivery'
import { connectSubscriber, deliveryId, whenReady } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

const SHORT = { healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 3 } }
const TAKEN = { kind: 'response', statusCode: 204, durationMs: 3 } as const
let api: TestApi
let hosts = 0
beforeAll(async () => {
  api = await startTestApi()
  await api.call('PUT', '/v1/topics/orders')
})
afterAll(() => api.stop())

/** A new host each time, because confirmation requests are bounded by host. */
const newHost = () => `https://host-${++hosts}.example`

async function subscribe(given: object = {}) {
  const endpoint = `${newHost()}/old`
  const body = { endpoint, ...given }
  const answer = await api.call('POST', '/v1/topics/orders/subscriptions', { body })
  expect(answer.status).toBe(201)
  return { ...answer.body, path: `/v1/subscriptions/${answer.body.id}` } as Record<string, string> & {
    id: string
  }
}

const patch = (path: string | undefined, body: object) => api.call('PATCH', path ?? '', { body })

async function stored(id: string) {
  const record = await api.deps.subscriptions.get(id)
  if (!record) throw new Error('no such subscription')
  return record
}

/** Messages in its lane. */
async function park(subscriptionId: string, shard: number, count: number): Promise<void> {
  const messages = Array.from({ length: count }, () => ({
    id: deliveryId(createMessageId(Date.now())),
    body: '{}',
  }))
  const entries = messages.map(({ id: delivery }, message) => ({
    subscriptionId,
    delivery,
    message,
    park: { as: 'fresh' as const },
  }))
  await api.lanes.park(shard, { messages, jobs: [{ jobName: '', fence: 0, fields: [], entries }] })
}

const reached = async (id: string) => openOutbound(await stored(id), api.deps.vault)

/** The confirmation request that the API itself has sent to this URL. */
async function question(url: string): Promise<{ Token: string; Type: string }> {
  const sent = () => api.attempts.filter((attempt) => attempt.url === url).at(-1)
  const { body } = await waitFor(sent, { what: `a request to ${url}` })
  return JSON.parse(body) as { Token: string; Type: string }
}

test('moves at once: id, keys, policies and what waits stay, what was learnt starts again', async () => {
  const settings = {
    deliveryPolicy: { healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 2 } },
    filterPolicy: { color: ['red'] },
    circuitBreaker: { failures: 2, probeSeconds: 9 },
  }
  const before = await subscribe(settings)
  const { id, path, endpoint } = before
  await api.call('POST', `${path}/webhook-keys`, { body: {} })
  const place = await api.deps.subscriptions.locate(id)
  await park(id, place?.shard ?? 0, 2)
  const lane = (await api.redis.keys(`*lane:${id}`))[0] ?? ''
  await api.redis.hset(lane, { e: 'timeout', h: '503', a: '1', mu: '99999999999999', mc: '2', mq: '1' })
  const moved = await patch(path, { endpoint: `${endpoint}/new` })
  expect([moved.status, moved.body]).toMatchObject([
    200,
    { id, endpoint: `${endpoint}/new`, pendingEndpoint: null, status: 'active', ...settings },
  ])
  expect(moved.body.lane).toMatchObject({
    waiting: 2,
    lastFailure: null,
    lastSuccessAt: null,
    circuit: 'closed',
  })
  const left = await api.redis.hgetall(lane)
  for (const field of ['e', 'h', 'a', 'mu', 'mc', 'mq']) expect(left).not.toHaveProperty(field)
  expect(left.m).toBe('- 2 9000')
  expect((await stored(id)).webhookKeys).toHaveLength(1)
  expect(await api.deps.subscriptions.locate(id)).toEqual(place)
  const again = await api.call('POST', '/v1/topics/orders/subscriptions', { body: { endpoint } })
  expect([again.status, again.body.id === id]).toEqual([201, false])
})

test('workers are notified in the script that moves it', async () => {
  const subscriber = connectSubscriber({ url: api.server.url, name: 'test' })
  const heard: string[][] = []
  subscriber.on('message', (...notice: string[]) => heard.push(notice))
  await whenReady(subscriber)
  await subscriber.subscribe('ft:wake:changes', 'ft:wake:moved')
  try {
    const { id, path, endpoint } = await subscribe()
    heard.length = 0
    await patch(path, { endpoint: `${endpoint}/new` })
    await waitFor(() => heard.length === 2, { what: 'the notices' })
    expect(heard).toEqual([
      ['ft:wake:changes', 'arn:aws:sns:us-east-1:000000000000:orders'],
      ['ft:wake:moved', id],
    ])
  } finally {
    subscriber.disconnect()
  }
})

test('an endpoint that another subscription has is a conflict, and nothing changes', async () => {
  const [one, other] = [await subscribe(), await subscribe({ confirmation: 'handshake' })]
  const third = await subscribe()
  const taken = await patch(one.path, { endpoint: third.endpoint })
  expect([taken.status, taken.body.error.code]).toEqual([409, 'subscription_exists'])
  expect((await stored(one.id)).endpoint).toBe(one.endpoint)
  const pending = await patch(other.path, { endpoint: third.endpoint })
  expect([pending.status, pending.body.error.code]).toEqual([409, 'subscription_exists'])
  expect((await patch(one.path, { endpoint: one.endpoint })).status).toBe(200)
})

test('protocol and order are fixed, other settings are changed by themselves, and outbound rules apply', async () => {
  await api.call('PUT', '/v1/topics/ordered.fifo')
  for (const queue of ['plain', 'ordered.fifo']) await api.call('PUT', `/v1/queues/${queue}`)
  const queue = await api.call('POST', '/v1/topics/ordered.fifo/subscriptions', {
    body: { endpoint: 'plain', protocol: 'sqs' },
  })
  const hook = await subscribe()
  const refusals = [
    await patch(hook.path, { endpoint: 'http://example.com/' }),
    await patch(hook.path, { endpoint: 'arn:aws:sqs:us-east-1:000000000000:plain' }),
    await patch(`/v1/subscriptions/${queue.body.id}`, { endpoint: 'ordered.fifo' }),
    await patch(hook.path, { endpoint: `${newHost()}/`, maxInFlight: 3 }),
    await patch(hook.path, { endpoint: `${newHost()}/`, outbound: { headers: { Host: 'x' } } }),
    await patch(hook.path, { protocol: 'http' }),
  ]
  expect(refusals.map(({ status, body }) => [status, body.error.details?.[0]?.path])).toEqual([
    [400, 'endpoint'],
    [400, 'endpoint'],
    [400, 'endpoint'],
    [400, 'maxInFlight'],
    [400, 'outbound.headers.Host'],
    [400, 'protocol'],
  ])
  expect(refusals[2]?.text).toContain('must be a standard queue')
  api.deps.addressGuard.refusalBeforehand = (host) => (host === 'denied.example' ? 'denied' : undefined)
  const denied = await patch(hook.path, { endpoint: 'https://denied.example/' })
  expect([denied.status, denied.text]).toEqual([400, expect.stringContaining('denied.example is refused')])
  await api.call('PUT', '/v1/queues/other')
  const moved = await patch(`/v1/subscriptions/${queue.body.id}`, { endpoint: 'other' })
  expect(moved.body.endpoint).toBe('arn:aws:sqs:us-east-1:000000000000:other')
})

test('secrets stay within an origin, and do not follow to another one unless they are given again', async () => {
  const host = newHost().replace('https://', '')
  const outbound = { headers: { 'X-Key': 'secret' }, proxy: 'http://proxy.example:3128' }
  const { id, path } = await subscribe({ endpoint: `https://user:pass@${host}/old`, outbound })
  await patch(path, { endpoint: `https://${host}/new` })
  expect(await reached(id)).toEqual({ url: `https://user:pass@${host}/new`, ...outbound })
  const other = newHost()
  const moved = await patch(path, { endpoint: `${other}/in` })
  expect(moved.body.outbound).toMatchObject({ proxy: outbound.proxy, headers: [] })
  expect(await reached(id)).toEqual({ url: `${other}/in`, proxy: outbound.proxy })
  const third = newHost().replace('https://', '')
  const given = { headers: { 'X-Key': 'fresh' }, proxy: null }
  await patch(path, { endpoint: `https://me:mine@${third}/`, outbound: given })
  expect(await reached(id)).toEqual({ url: `https://me:mine@${third}/`, headers: { 'X-Key': 'fresh' } })
})

test('a subscription that has not confirmed yet moves at once, and its new endpoint is asked', async () => {
  const { id, path, endpoint } = await subscribe({ confirmation: 'handshake' })
  const { token } = await stored(id)
  const moved = await patch(path, { endpoint: `${endpoint}/new` })
  expect(moved.body).toMatchObject({ endpoint: `${endpoint}/new`, status: 'pending', lane: { waiting: 1 } })
  expect((await api.call('POST', `${path}/confirm`, { body: { token } })).status).toBe(400)
  const fresh = (await stored(id)).token
  expect((await api.call('POST', `${path}/confirm`, { body: { token: fresh } })).body.status).toBe('active')
})

test('a confirmed subscription stays where it is until the new endpoint has confirmed, too', async () => {
  const { id, path, endpoint } = await subscribe({ confirmation: 'handshake' })
  await api.call('POST', `${path}/confirm`, { body: { token: (await stored(id)).token } })
  const next = `${newHost()}/next`
  const asked = await patch(path, { endpoint: next })
  expect(asked.body).toMatchObject({ endpoint, pendingEndpoint: next, status: 'active' })
  expect(asked.body.confirmationExpiresAt).toMatch(/^\d{4}-/)
  const first = await question(next)
  expect(first.Type).toBe('SubscriptionConfirmation')
  const repeated = await api.call('POST', `${path}/send-confirmation`)
  expect([repeated.status, repeated.body.pendingEndpoint]).toEqual([200, next])
  await waitFor(async () => (await question(next)).Token !== first.Token, { what: 'another request' })
  const { Token: token } = await question(next)
  expect((await api.call('POST', `${path}/confirm`, { body: { token: first.Token } })).status).toBe(400)
  expect((await stored(id)).endpoint).toBe(endpoint)
  expect((await api.deps.subscriptions.findByToken(token))?.id).toBe(id)
  const confirmed = await api.call('POST', `${path}/confirm`, { body: { token } })
  expect(confirmed.body).toMatchObject({ endpoint: next, pendingEndpoint: null, confirmationExpiresAt: null })
  expect((await api.call('POST', `${path}/confirm`, { body: { token } })).body.endpoint).toBe(next)
})

test('a question that fails is asked again by the policy, as the same message, until the endpoint takes it', async () => {
  const { id, path } = await subscribe({ confirmation: 'handshake', deliveryPolicy: SHORT })
  await api.call('POST', `${path}/confirm`, { body: { token: (await stored(id)).token } })
  const next = `${newHost()}/next`
  const asked = () => api.attempts.filter(({ url }) => url === next)
  const detail = 'down for a moment'
  api.attemptResult = {
    kind: 'failure',
    error: 'connection_refused',
    detail,
    durationMs: 1,
    permanent: false,
  }
  try {
    await patch(path, { endpoint: next })
    await waitFor(() => asked().length === 2, { what: 'the second question' })
  } finally {
    api.attemptResult = TAKEN
  }
  const decisions = () =>
    api.events
      .filter(({ event, fields }) => event === 'subscription.move_asked' && fields.subscriptionId === id)
      .map(({ fields: { attempts, decision } }) => [attempts, decision])
  await waitFor(() => decisions().length === 3, { what: 'the third question' })
  expect(decisions()).toEqual([
    [1, 'retry'],
    [2, 'retry'],
    [3, 'delivered'],
  ])
  const messages = asked().map(({ body }) => JSON.parse(body) as { MessageId: string; Token: string })
  expect(new Set(messages.map(({ MessageId }) => MessageId)).size).toBe(1)
  const confirmed = await api.call('POST', `${path}/confirm`, { body: { token: messages[0]?.Token } })
  expect(confirmed.body.endpoint).toBe(next)
})

/** Resolves when the next question has ended. */
function nextQuestion(): Promise<void> {
  const { moveQuestions } = api.deps
  const { promise, resolve } = Promise.withResolvers<void>()
  api.deps.moveQuestions = {
    ask: (...asked) => {
      api.deps.moveQuestions = moveQuestions
      const done = moveQuestions.ask(...asked)
      resolve(done)
      return done
    },
  }
  return promise
}

test.each([
  ['it is refused permanently', 404],
  ['the move is given up', 503],
])('a question is not repeated if %s', async (_, statusCode) => {
  const { id, path, endpoint } = await subscribe({ confirmation: 'handshake', deliveryPolicy: SHORT })
  await api.call('POST', `${path}/confirm`, { body: { token: (await stored(id)).token } })
  const next = `${newHost()}/next`
  const asked = () => api.attempts.filter(({ url }) => url === next)
  const done = nextQuestion()
  api.attemptResult = { kind: 'response', statusCode, durationMs: 3 }
  try {
    await patch(path, { endpoint: next })
    await waitFor(() => asked().length === 1, { what: 'the question' })
    if (statusCode === 503) await patch(path, { endpoint })
    await done
  } finally {
    api.attemptResult = TAKEN
  }
  expect(asked()).toHaveLength(1)
})

test('a move is given up by naming the endpoint that it has', async () => {
  const { id, path, endpoint } = await subscribe({ confirmation: 'handshake' })
  await api.call('POST', `${path}/confirm`, { body: { token: (await stored(id)).token } })
  const next = `${newHost()}/next`
  await patch(path, { endpoint: next })
  const { Token: token } = await question(next)
  expect((await patch(path, { endpoint })).body).toMatchObject({ endpoint, pendingEndpoint: null })
  await api.call('POST', `${path}/confirm`, { body: { token } })
  expect((await stored(id)).endpoint).toBe(endpoint)
})
