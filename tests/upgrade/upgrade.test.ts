/**
 * The present stack on data that an earlier release stored (make-data.ts). Records keep their behaviour, what waited is
 * delivered, dead letters are where they were, and keys open what they opened.
 */
import { createHmac } from 'node:crypto'
import { CreateTopicCommand, ListSubscriptionsCommand, PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { connect, whenReady } from '@fantail/store'
import { type ReceivedRequest, type Receiver, startReceiver, startRedis, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { placeOf } from '../harness/services/redis-place.ts'
import { RestClient } from '../harness/services/rest-client.ts'
import { type Stack, startStack } from '../harness/services/stack.ts'
import { MASTER_KEY, readStoredRelease, restore, type StoredView } from './stored-release.ts'

/** Values that an old subscription keeps, even if new subscriptions have other defaults now. */
const KEPT = [
  'createdAt',
  'effectiveDeliveryPolicy',
  'filterPolicy',
  'maxInFlight',
  'protocol',
  'rawMessageDelivery',
  'redrivePolicy',
  'status',
] as const
const TEXT_PLAIN = 'text/plain; charset=UTF-8'

const { release, lines } = readStoredRelease('before-topic-queues.jsonl')
let receiver: Receiver
let stack: Stack
let client: RestClient

beforeAll(async () => {
  receiver = await startReceiver()
  receiver.respond('/later', { status: 503 })
  for (const path of ['/discards', '/aws']) receiver.respond(path, { status: 410 })
  const redis = await startRedis()
  const connection = connect({ url: redis.url, name: 'restore' })
  await whenReady(connection)
  await restore(connection, { release, lines, receiver: receiver.url })
  connection.disconnect()
  stack = await startStack({
    place: placeOf(redis),
    redrive: true,
    env: {
      FANTAIL_MODE: 'server',
      FANTAIL_HOST: '127.0.0.1',
      FANTAIL_MASTER_KEY: MASTER_KEY,
      FANTAIL_ALLOW_PRIVATE_ENDPOINTS: 'true',
      FANTAIL_ALLOW_VOLATILE_REDIS: 'true',
      FANTAIL_RETRY_JITTER: '0',
    },
  })
  client = new RestClient(() => stack.api.url, { authorization: `Bearer ${release.token}` })
}, 120_000)
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(stack.logText())))
afterAll(async () => {
  await client?.close()
  await stack?.stop()
  await receiver?.close()
}, 60_000)

const pathOf = (name: string) => `/v1/subscriptions/${release.subscriptions[name]?.id}`
const texts = (requests: ReceivedRequest[]) =>
  requests.map(({ text }) => (JSON.parse(text) as { Message: string }).Message)
const publish = async (topic: string, message: string, set: object = {}) =>
  (await client.post<{ messageId: string }>(`/v1/topics/${topic}/messages`, { message, ...set })).messageId

/** A publish that the earlier release has answered. */
async function publishAgain(topic: string, body: object) {
  const request = { body, headers: { 'idempotency-key': 'once' } }
  const answer = await client.call<{ messageId: string }>('POST', `/v1/topics/${topic}/messages`, request)
  return [answer.status, answer.body.messageId]
}

/** The end of the only delivery of a message. */
async function endOf(messageId: string) {
  const path = `/v1/messages/${messageId}/deliveries`
  const row = async () =>
    (await client.call<{ deliveries?: Record<string, unknown>[] }>('GET', path)).body.deliveries?.[0]
  await waitFor(async () => (await row())?.endedAt, { what: 'the end of the delivery' })
  return row()
}

test('keys open what they opened, and nothing is open without one', async () => {
  const { status } = await stack.client.call('GET', '/v1/topics/kept')
  expect(status).toBe(401)
  expect(await client.get('/v1/topics/kept')).toMatchObject({ name: 'kept' })
})

test('subscriptions keep policies, status and settings', async () => {
  for (const [name, stored] of Object.entries(release.subscriptions)) {
    const view = await client.get<StoredView>(pathOf(name))
    const of = (record: StoredView) => Object.fromEntries(KEPT.map((member) => [member, record[member]]))
    expect([name, of(view)]).toEqual([name, of(stored)])
    expect(view.endpoint).toBe(stored.endpoint.replace(release.receiver, receiver.url))
  }
})

test('a subscription without a redrive policy discards what fails, and its topic makes no queue', async () => {
  expect(await client.get(pathOf('discards'))).toMatchObject({
    redrivePolicy: null,
    onFailure: expect.stringContaining('discarded'),
  })
  const row = await endOf(await publish('discards', 'refused'))
  expect(row).toMatchObject({ state: 'discarded', reason: 'permanent', lastStatusCode: 410 })
  expect((await client.call('GET', '/v1/queues/discards-dead-letters')).status).toBe(404)
})

test('a delivery that had failed goes on with its curve', async () => {
  const row = await endOf(release.messages.retried ?? '')
  expect(row).toMatchObject({ state: 'discarded', reason: 'retriesExhausted', attempts: 3 })
  const [second, third, ...others] = receiver.requestsTo('/later')
  expect(others).toEqual([])
  expect((third?.at ?? 0) - (second?.at ?? 0)).toBeGreaterThanOrEqual(2_000)
})

test('what waited is delivered with the content type that it had, and a repeated publish adds nothing', async () => {
  await client.post(`${pathOf('held')}/resume`)
  const arrived = await receiver.waitForRequests(4, '/held')
  expect(texts(arrived).toSorted()).toEqual(['held 1', 'held 2', 'held 3', 'undispatched'])
  expect(new Set(arrived.map(({ headers }) => headers['content-type']))).toEqual(new Set([TEXT_PLAIN]))
  expect(await publishAgain('held', { message: 'undispatched' })).toEqual([
    202,
    release.messages.undispatched,
  ])
  await publish('held', 'after')
  await receiver.waitForRequests(5, '/held')
  expect(texts(receiver.requestsTo('/held')).slice(4)).toEqual(['after'])
})

test('dead letters are peeked at and redriven by a task that was paused', async () => {
  const { messages } = await client.get<{ messages: { deadLetter: Record<string, unknown> }[] }>(
    '/v1/queues/letters/messages',
  )
  expect(messages.map(({ deadLetter }) => deadLetter)).toMatchObject(
    [1, 2, 3].map((n) => ({
      reason: 'permanent',
      statusCode: 404,
      publishedMessageId: release.messages[`letter ${n}`],
    })),
  )
  expect(await client.get(`/v1/redrives/${release.redrives.ended}`)).toMatchObject({
    status: 'completed',
    matched: 0,
  })
  const task = `/v1/redrives/${release.redrives.paused}`
  expect(await client.get(task)).toMatchObject({
    status: 'paused',
    matched: 3,
    moved: 0,
    maxMessagesPerSecond: 10,
  })
  await client.post(`${task}/resume`)
  const arrived = await receiver.waitForRequests(3, '/kept')
  expect(texts(arrived).toSorted()).toEqual(['letter 1', 'letter 2', 'letter 3'])
  await waitFor(async () => (await client.get<{ status: string }>(task)).status === 'completed', {
    what: 'its end',
  })
  expect(await client.get(task)).toMatchObject({ moved: 3, skipped: 0 })
})

test('FIFO messages come in order, also one that no worker had seen', async () => {
  await client.post(`${pathOf('ordered.fifo')}/resume`)
  const arrived = texts(await receiver.waitForRequests(4, '/ordered-fifo'))
  expect([arrived.filter((text) => text.startsWith('a')), arrived.length]).toEqual([['a1', 'a2', 'a3'], 4])
  // After 5 minutes the deduplication id is forgotten, the idempotency key is not.
  await stack.connection.del(await stack.connection.keys('*:dedup:*:a3'))
  const again = { message: 'a3', groupId: 'a', deduplicationId: 'a3' }
  expect(await publishAgain('ordered.fifo', again)).toEqual([202, release.messages.a3])
  const counts = async () =>
    (await client.get<{ counts: { visible: number } }>('/v1/queues/ordered.fifo')).counts.visible
  await waitFor(async () => (await counts()) === 4, { what: 'the FIFO queue' })
})

test('queues keep what is in them, received or not, and push it', async () => {
  expect(await client.get('/v1/queues/jobs')).toMatchObject({ counts: { visible: 1, inFlight: 1 } })
  const received = await client.post<{ messages: { body: string }[] }>('/v1/queues/jobs/receive', {
    maxMessages: 10,
  })
  expect(received.messages.map(({ body }) => body)).toEqual([expect.stringMatching(/^job [12]$/)])
  const pushed = () =>
    receiver
      .requestsTo('/pushed')
      .flatMap(({ text }) => (JSON.parse(text) as { Records: { body: string }[] }).Records)
  await waitFor(() => pushed().length === 2, { what: 'the pushed messages' })
  expect(pushed().map(({ body }) => body)).toEqual(['push 1', 'push 2'])
})

test('filters match, and webhook keys sign, as before', async () => {
  await publish('signed', 'blue', { attributes: { color: 'blue' } })
  await publish('signed', 'red', { attributes: { color: 'red' } })
  const [request] = await receiver.waitForRequests(1, '/signed')
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = request?.headers ?? {}
  const secret = Buffer.from(release.webhookSecret.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', secret).update(`${id}.${at}.${request?.text}`).digest('base64')
  expect([texts([request as ReceivedRequest]), signature]).toEqual([['red'], `v1,${expected}`])
})

test('an access key signs, and what it had subscribed discards as in SNS', async () => {
  const sns = new SNSClient({
    endpoint: stack.api.url,
    region: 'us-east-1',
    credentials: release.aws,
    maxAttempts: 1,
  })
  try {
    const { TopicArn } = await sns.send(new CreateTopicCommand({ Name: 'aws' }))
    const { Subscriptions = [] } = await sns.send(new ListSubscriptionsCommand({}))
    const own = Subscriptions.filter((subscription) => subscription.TopicArn === TopicArn)
    expect(own.map(({ Endpoint }) => Endpoint)).toEqual([`${receiver.url}/aws`])
    const { MessageId = '' } = await sns.send(new PublishCommand({ TopicArn, Message: 'over the wire' }))
    expect(await endOf(MessageId)).toMatchObject({ state: 'discarded', reason: 'permanent' })
    expect((await client.call('GET', '/v1/queues/aws-dead-letters')).status).toBe(404)
  } finally {
    sns.destroy()
  }
})
