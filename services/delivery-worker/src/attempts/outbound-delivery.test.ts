/** Endpoints with secrets: from the stored record to the request that the endpoint receives. */
import {
  createHttpSender,
  hideCredentials,
  keepOutbound,
  keepPushConsumer,
  type OutboundOptions,
} from '@fantail/delivery'
import { createLogger } from '@fantail/runtime'
import { deliveryId, PushConsumerRecords } from '@fantail/store'
import { type Receiver, startProxy, startReceiver, waitFor } from '@fantail/test-kit'
import { createMasterKeyText, createVault, parseMasterKey, type Vault } from '@fantail/vault'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  createFakeSender,
  createFixture,
  createMessage,
  DLQ,
  type Fixture,
  TOPIC,
} from '../fixtures/worker.fixture.ts'

type NewSubscription = Parameters<Fixture['subscribe']>[1]

let fixture: Fixture
let hook: Receiver
let vault: Vault

beforeAll(async () => {
  fixture = await createFixture()
})
beforeEach(async () => {
  await fixture.reset()
  hook = await startReceiver()
  vault = newVault()
})
afterEach(() => hook.close())
afterAll(() => fixture.stop())

function newVault(): Vault {
  const key = parseMasterKey(createMasterKeyText())
  if (!key) throw new Error('a new key must be readable')
  return createVault([key])
}

const startWorker = (using: Vault | undefined) =>
  fixture.startWorker(createFakeSender(), {
    sender: createHttpSender({ allowPrivate: true, timeoutMs: 3_000 }),
    vault: using,
    credentialProbeMs: 200,
  })

async function subscribe(url: string, options: OutboundOptions, set: NewSubscription = {}) {
  const endpoint = await hideCredentials(url)
  const kept = keepOutbound({ url, ...options }, { topicArn: TOPIC, endpoint }, vault)
  const healthyRetryPolicy = { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 20 }
  return fixture.subscribe('unused', { endpoint, ...kept, deliveryPolicy: { healthyRetryPolicy }, ...set })
}

test('credentials and headers reach the endpoint, at the first attempt and from the lane', async () => {
  hook.respond('/', (_, n) =>
    n === 1
      ? { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="x"' } }
      : { status: n === 2 ? 503 : 200 },
  )
  await subscribe(hook.url.replace('//', '//user:word@'), { headers: { 'X-Api-Key': 'k' } })
  await startWorker(vault)
  await fixture.publish('hello')
  const requests = await hook.waitForRequests(3)
  expect(requests.map(({ headers }) => headers['x-api-key'])).toEqual(['k', 'k', 'k'])
  const basic = `Basic ${btoa('user:word')}`
  expect(requests.map(({ headers }) => headers.authorization)).toEqual([undefined, basic, basic])
})

test('deliveries whose secrets cannot be opened wait for the key, cost no attempt and are not dead-lettered', async () => {
  await fixture.queues.put(DLQ, {})
  const once = { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 0 }
  const set = { redrivePolicy: { deadLetterTargetArn: DLQ }, deliveryPolicy: { healthyRetryPolicy: once } }
  const { id } = await subscribe(hook.url, { headers: { 'X-Api-Key': 'k' } }, set)
  const isBlocked = async () => (await figures(id)).isBlocked
  const keyless = await startWorker(undefined)
  const messageId = await fixture.publish('hello')
  await waitFor(isBlocked, { what: 'the lane to be blocked without a key' })
  await keyless.stop()
  const stranger = await startWorker(newVault())
  await fixture.publish('again')
  const row = async () => (await fixture.outcomes.deliveries(messageId))?.[0]
  await waitFor(async () => (await figures(id)).waiting === 2)
  // While a probe is due, the delivery waits for nothing.
  const waiting = await waitFor(async () => {
    const found = await row()
    return found?.state === 'waiting' && found.cause !== null ? found : undefined
  })
  expect(waiting).toMatchObject({ attempts: 0, cause: 'misconfigured', lastError: 'misconfigured' })
  await waitFor(async () => (await figures(id)).lastFailure?.error === 'misconfigured')
  await stranger.stop()
  expect(hook.requests).toEqual([])
  await startWorker(vault)
  await hook.waitForRequests(2)
  expect(new Set(hook.requests.map(({ headers }) => headers['x-api-key']))).toEqual(new Set(['k']))
  expect((await fixture.queues.peek(DLQ, { limit: 1 })).items).toEqual([])
})

/** A token server at `/token` of the endpoint's own receiver, and the tokens that the endpoint accepts. */
function withTokens(accepts: (token: string) => boolean = () => true) {
  const server = { status: 200 }
  hook.respond('/token', (_, n) => ({
    status: server.status,
    body: JSON.stringify({ access_token: `tok-${n}`, token_type: 'Bearer', expires_in: 3_600 }),
  }))
  hook.respond('/', ({ headers }) => {
    return { status: accepts(String(headers.authorization).replace('Bearer ', '')) ? 200 : 401 }
  })
  const oauth = { tokenUrl: `${hook.url}/token`, clientId: 'client', clientSecret: 's3cret' }
  const asked = () => hook.requestsTo('/token').length
  return { server, oauth, asked }
}

const WITHOUT_RETRIES = {
  deliveryPolicy: { healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 0 } },
}
const rowOf = async (messageId: string) => (await fixture.outcomes.deliveries(messageId))?.[0]

test('an access token goes with every request, and a worker asks once for all subscriptions with its client', async () => {
  const { oauth, asked } = withTokens()
  for (const path of ['a', 'b', 'c']) await subscribe(`${hook.url}/?${path}`, { oauth })
  await Promise.all([startWorker(vault), startWorker(vault)])
  await fixture.publishAll(Array.from({ length: 20 }, (_, n) => `number ${n}`))
  const requests = await hook.waitForRequests(60, ({ path }) => path !== '/token')
  const sent = new Set(requests.map(({ headers }) => headers.authorization))
  expect([...sent].every((text) => text?.startsWith('Bearer tok-'))).toBe(true)
  expect(asked()).toBe(sent.size)
  expect(sent.size).toBeLessThanOrEqual(2)
})

test.each([
  ['at once', {}],
  ['at its own send time under a throttle', { throttlePolicy: { maxReceivesPerSecond: 2 } }],
])('a token that the endpoint refuses is replaced within the attempt, %s', async (_when, throttle) => {
  let oldest = 1
  const { oauth, asked } = withTokens((token) => Number(token.slice(4)) >= oldest)
  const { healthyRetryPolicy } = WITHOUT_RETRIES.deliveryPolicy
  await subscribe(hook.url, { oauth }, { deliveryPolicy: { healthyRetryPolicy, ...throttle } })
  await startWorker(vault)
  const isDelivered = async (id: string) => (await rowOf(id))?.state === 'delivered'
  const first = await fixture.publish('first')
  await waitFor(() => isDelivered(first), { what: 'the first delivery' })
  oldest = 2
  const second = await fixture.publish('second')
  await waitFor(() => isDelivered(second), { what: 'the second delivery' })
  expect(await rowOf(second)).toMatchObject({ attempts: 1 })
  expect(asked()).toBe(2)
  const [refused = 0, accepted = 0] = hook
    .requestsTo('/')
    .slice(-2)
    .map(({ at }) => at)
  if ('throttlePolicy' in throttle) expect(accepted - refused).toBeGreaterThan(150)
})

test('an endpoint that refuses a fresh token too has failed, and is asked no more', async () => {
  await fixture.queues.put(DLQ, {})
  const { oauth, asked } = withTokens(() => false)
  const set = { redrivePolicy: { deadLetterTargetArn: DLQ }, ...WITHOUT_RETRIES }
  await subscribe(hook.url, { oauth }, set)
  await startWorker(vault)
  await fixture.publishAll(['one', 'two', 'three'])
  const letters = async () => (await fixture.queues.peek(DLQ, { limit: 10 })).items
  await waitFor(async () => (await letters()).length === 3, { what: 'the dead letters' })
  expect(await letters()).toMatchObject(Array(3).fill({ deadLetter: { statusCode: 401, attempts: 1 } }))
  expect(asked()).toBe(2)
})

test('deliveries wait for a token server that is away as noToken, and cost no attempt', async () => {
  await fixture.queues.put(DLQ, {})
  const { server, oauth } = withTokens()
  server.status = 503
  const set = { redrivePolicy: { deadLetterTargetArn: DLQ }, ...WITHOUT_RETRIES }
  const { id } = await subscribe(hook.url, { oauth }, set)
  const lines: string[] = []
  await fixture.startWorker(createFakeSender(), {
    sender: createHttpSender({ allowPrivate: true, timeoutMs: 3_000 }),
    ...{ vault, credentialProbeMs: 200 },
    log: createLogger({
      service: 'test',
      level: 'debug',
      destination: { write: (line) => void lines.push(line) },
    }),
  })
  const messageIds = await fixture.publishAll(['one', 'two'])
  const causes = async () => (await Promise.all(messageIds.map(rowOf))).map((row) => row?.cause)
  await waitFor(async () => (await causes()).join() === 'noToken,noToken', { what: 'both to say so' })
  // While the token server is asked again, one of them does not wait.
  await expect.poll(() => figures(id)).toMatchObject({ waiting: 2, isBlocked: true, lacksToken: true })
  await expect.poll(() => rowOf(messageIds[0] ?? '')).toMatchObject({ attempts: 0, state: 'waiting' })
  server.status = 200
  await hook.waitForRequests(2, '/')
  await waitFor(async () => (await figures(id)).isBlocked === false, { what: 'the lane to continue' })
  expect(lines.some((line) => line.includes('credential.broken') && line.includes('answered 503'))).toBe(true)
  expect(lines.join('')).not.toMatch(/s3cret|tok-/)
  expect((await fixture.queues.peek(DLQ, { limit: 1 })).items).toEqual([])
})

test('a push consumer is reached with its own headers and credentials, through its proxy', async () => {
  const queueArn = 'arn:aws:sqs:us-east-1:000000000000:jobs'
  const proxy = await startProxy()
  try {
    await fixture.queues.put(queueArn, {})
    const reached = {
      url: hook.url.replace('localhost', '127.0.0.1'),
      headers: { 'X-Api-Key': 'k' },
      proxy: proxy.url.replace('//', '//user:word@'),
    }
    const consumer = { queueArn, name: 'hook' }
    await new PushConsumerRecords(fixture.redis).put(
      queueArn,
      'hook',
      keepPushConsumer(reached, consumer, vault),
    )
    await startWorker(vault)
    await fixture.queues.send(queueArn, [{ body: 'job' }])
    const [request] = await hook.waitForRequests(1)
    expect(request?.headers['x-api-key']).toBe('k')
    expect(request?.text).toContain('"body":"job"')
    expect(proxy.authorizations).toEqual([`Basic ${btoa('user:word')}`])
    await waitFor(async () => (await fixture.queues.getWithCounts(queueArn))?.counts.inFlight === 0)
  } finally {
    await proxy.close()
  }
})

test('failures of every kind are logged without a secret', async () => {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  hook.respond('/', { status: 500, body: 'no' })
  const options = {
    headers: { 'X-Api-Key': 's3cret' },
    clientCertificate: { certificate: 'no certificate', privateKey: 's3cret' },
  }
  const url = hook.url.replace('//', '//user:s3cret@')
  const ids = [
    await subscribe(url, { headers: options.headers }),
    await subscribe(url.replace('http:', 'https:'), options),
    await subscribe(`${url}/proxied`, { proxy: 'http://user:s3cret@127.0.0.1:1' }),
  ].map(({ id }) => id)
  await fixture.startWorker(createFakeSender(), {
    sender: createHttpSender({ allowPrivate: true, timeoutMs: 3_000 }),
    vault,
    log: createLogger({ service: 'test', level: 'debug', destination }),
  })
  const messageId = await fixture.publish('hello')
  const told = () => lines.filter((line) => line.includes('delivery.attempted'))
  await waitFor(() => ids.every((id) => told().some((line) => line.includes(id))), { what: 'all to be told' })
  const outcomes = JSON.stringify(await fixture.outcomes.deliveries(messageId))
  for (const text of [lines.join(''), outcomes]) expect(text).not.toMatch(/s3cret|dXNlcjpzM2NyZXQ/)
})

test('nothing that goes out is led inside: notifications, confirmations, push consumers', async () => {
  const guarded = createHttpSender({ allowPrivate: false, timeoutMs: 3_000 })
  const { id } = await fixture.subscribe('unused', {
    ...{
      endpoint: `${hook.url}/confirm`,
      confirmation: 'handshake',
      token: 't',
      tokenExpiresAt: Date.now() + 60_000,
    },
  })
  await subscribe(`${hook.url}/notify`, {})
  const queue = 'arn:aws:sqs:us-east-1:000000000000:jobs'
  await fixture.queues.put(queue, {})
  await new PushConsumerRecords(fixture.redis).put(queue, 'hook', { url: `${hook.url}/push` })
  await fixture.queues.send(queue, [{ body: 'hello' }])
  await fixture.startWorker(createFakeSender(), { sender: guarded })
  const messageId = await fixture.publish('hello')
  const asked = createMessage('please', TOPIC)
  const confirmation = {
    ...asked,
    kind: 'SubscriptionConfirmation',
    token: 't',
    publicUrl: 'http://localhost:4100',
  }
  const { shard = -1 } = (await fixture.subscriptions.locate(id)) ?? {}
  const entry = {
    subscriptionId: id,
    delivery: deliveryId(asked.messageId),
    message: 0,
    park: { as: 'fresh' as const },
  }
  await fixture.lanes.park(shard, {
    messages: [{ id: entry.delivery, body: JSON.stringify(confirmation) }],
    jobs: [{ jobName: '', fence: 0, fields: [], entries: [entry] }],
  })
  const outcomes = async () => (await fixture.outcomes.deliveries(messageId)) ?? []
  await waitFor(async () => (await outcomes()).some(({ lastError }) => lastError === 'forbidden_address'))
  await waitFor(async () => (await figures(id)).waiting + (await figures(id)).inFlight === 0)
  await waitFor(async () => (await fixture.queues.peek(queue, { limit: 1 })).items[0]?.receiveCount === 1)
  expect(hook.connections().accepted).toBe(0)
})

async function figures(id: string) {
  const place = await fixture.subscriptions.locate(id)
  const [found] = await fixture.lanes.figures([{ subscriptionId: id, shard: place?.shard ?? -1 }])
  if (!found) throw new Error('no such lane')
  return found
}
