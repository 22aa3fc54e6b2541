/** Tests each main promise of Fantail once, on a real cluster of three masters. */
import { masterOfShard, mastersOf, SHARD_COUNT, shardOf } from '@fantail/store'
import { canSpawnRedis, startReceiver, waitFor } from '@fantail/test-kit'
import { test as anyTest, expect } from 'vitest'
import { mostInWindow } from '../harness/ledgers/figures.ts'
import { sendTimes } from '../harness/receivers/send-times.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { notification, publish, retries, subscribe } from '../harness/receivers/webhooks.ts'
import { listenTo } from '../harness/services/event-stream.ts'
import { useStack } from '../harness/services/stack.ts'

const test = anyTest.skipIf(!canSpawnRedis())

const stack = useStack({
  place: 'cluster',
  redrive: true,
  workers: 2,
  env: { FANTAIL_RETRY_JITTER: '0', FANTAIL_MIN_REPLICAS: '1', FANTAIL_LOG_LEVEL: 'debug' },
})
const receiver = useReceiver()
const hook = (path: string) => `${receiver().url}${path}`

interface Received {
  receiptHandle: string
  body: string
}

const receive = async (queue: string, options: Record<string, number> = {}) =>
  (await stack().client.post<{ messages: Received[] }>(`/v1/queues/${queue}/receive`, options)).messages

test('the shards are spread evenly over the masters, and messages of all of them arrive', async () => {
  const masters = Array.from({ length: SHARD_COUNT }, (_, shard) => masterOfShard(stack().connection, shard))
  const counts = [...Map.groupBy(masters, String).values()].map((shards) => shards.length)
  expect(counts).toEqual([SHARD_COUNT / 3, SHARD_COUNT / 3, SHARD_COUNT / 3])
  const topics = Array.from({ length: 12 }, (_, n) => `spread-${n}`)
  expect(new Set(topics.map((topic) => masters[shardOf(topicArnOf(topic))])).size).toBe(3)
  for (const topic of topics) await subscribe(stack(), topic, { endpoint: hook(`/spread/${topic}`) })
  await Promise.all(topics.map((topic) => publish(stack(), topic, `to ${topic}`)))
  await waitFor(() => topics.every((topic) => receiver().requestsTo(`/spread/${topic}`).length === 1))
  const listed = await stack().client.get<{ topics: { name: string }[] }>('/v1/topics?prefix=spread-')
  expect(listed.topics.map(({ name }) => name)).toEqual(topics.toSorted())
})

test('a message goes to webhooks and to queues', async () => {
  const { client } = stack()
  await client.put('/v1/queues/inbox')
  await subscribe(stack(), 'both', { endpoint: hook('/both') })
  await client.post('/v1/topics/both/subscriptions', {
    endpoint: queueArnOf('inbox'),
    rawMessageDelivery: true,
  })
  await publish(stack(), 'both', 'hello')
  const [request] = await receiver().waitForRequests(1, '/both')
  expect(request && notification(request).Message).toBe('hello')
  const [message] = await receive('inbox', { waitSeconds: 5 })
  expect(message?.body).toBe('hello')
  const ack = await client.post('/v1/queues/inbox/ack', { receiptHandles: [message?.receiptHandle] })
  expect(ack).toEqual({ results: [{ ok: true }] })
})

test('a large batch is cut into parts, which leave nothing behind', async () => {
  // Without filters there would be 6,000 deliveries, so the batch is cut. With them there are 2,500, in two parts.
  const [subscriptions, matching, batch] = [60, 25, 100]
  for (let i = 0; i < subscriptions; i++) {
    const filterPolicy = i < matching ? null : { kind: ['other'] }
    await subscribe(stack(), 'wide', { endpoint: hook(`/wide/${i}`), rawMessageDelivery: true, filterPolicy })
  }
  const messages = Array.from({ length: batch }, (_, i) => ({ message: `wide ${i}` }))
  await stack().client.post('/v1/topics/wide/messages', { messages })
  const arrived = () => receiver().requests.filter(({ path }) => path.startsWith('/wide/'))
  await waitFor(() => arrived().length === matching * batch, { timeoutMs: 30_000, what: 'all parts' })
  expect(new Set(arrived().map(({ path, text }) => `${path} ${text}`)).size).toBe(matching * batch)
  const cuts = [0, 1].flatMap((i) => stack().worker(i).logLines()).filter(({ msg }) => msg === 'dispatch.cut')
  expect(cuts).toEqual([expect.objectContaining({ messages: batch, parts: 2 })])
  const jobs = async () => {
    const keys = await Promise.all(
      mastersOf(stack().connection).map((master) => master.keys('ft:{dispatch-*')),
    )
    return keys.flat().filter((key) => /:dispatch-\d+:(\d|active$|wait$|waiting-children$)/.test(key))
  }
  await waitFor(async () => (await jobs()).length === 0, { what: 'the job to be gone' })
}, 60_000)

test('a throttle is kept by two workers', async () => {
  const rate = 20
  const deliveryPolicy = { throttlePolicy: { maxReceivesPerSecond: rate } }
  const { id } = await subscribe(stack(), 'paced', { endpoint: hook('/paced'), deliveryPolicy })
  await Promise.all(Array.from({ length: 3 * rate }, (_, n) => publish(stack(), 'paced', String(n))))
  const sent = () => sendTimes(stack()).get(id) ?? []
  await waitFor(() => sent().length === 3 * rate, { timeoutMs: 20_000, what: 'every request' })
  expect(mostInWindow(sent(), 1_000)).toBeLessThanOrEqual(1.1 * rate + 1)
})

test('a failing delivery is retried, then dead-lettered, and a redrive brings it back', async () => {
  const { client } = stack()
  await client.put('/v1/queues/dead')
  receiver().respond('/broken', { status: 503 })
  const policy = { deliveryPolicy: retries(1), redrivePolicy: { deadLetterTargetArn: 'dead' } }
  await subscribe(stack(), 'broken', { endpoint: hook('/broken'), rawMessageDelivery: true, ...policy })
  const messageId = await publish(stack(), 'broken', 'rise again')
  type Peeked = { messages: { body: string; deadLetter: { reason: string; attempts: number } }[] }
  const peek = () => client.get<Peeked>('/v1/queues/dead/messages')
  await waitFor(async () => (await peek()).messages.length === 1, { timeoutMs: 10_000 })
  expect((await peek()).messages[0]?.deadLetter).toMatchObject({ reason: 'retriesExhausted', attempts: 2 })
  type Log = { deliveries?: { state: string; attempts: number }[] }
  const log = async () => (await client.call<Log>('GET', `/v1/messages/${messageId}/deliveries`)).body
  await waitFor(async () => (await log()).deliveries?.[0]?.state === 'deadLettered')
  receiver().respond('/broken', { status: 200 })
  const { id } = await client.post<{ id: string }>('/v1/redrives', { source: 'dead' })
  const task = () => client.get<{ status: string; moved: number }>(`/v1/redrives/${id}`)
  await waitFor(async () => (await task()).status === 'completed', { timeoutMs: 10_000 })
  expect((await task()).moved).toBe(1)
  await waitFor(() => receiver().requestsTo('/broken').at(-1)?.answered === 200)
  await waitFor(async () => (await log()).deliveries?.some(({ state }) => state === 'delivered'))
})

test('groups of a FIFO topic arrive in their order, duplicates once', async () => {
  const { client } = stack()
  await subscribe(stack(), 'ordered.fifo', { endpoint: hook('/ordered'), rawMessageDelivery: true })
  const path = '/v1/topics/ordered.fifo/messages'
  type Sent = { messageId: string; sequenceNumber: string }
  const sent: Sent[] = []
  for (const n of [0, 1, 2, 3, 4, 5]) {
    const body = { message: `${n}`, groupId: `g${n % 2}`, deduplicationId: `d${n}` }
    sent.push(await client.post<Sent>(path, body))
  }
  const again = await client.post<Sent>(path, { message: '0', groupId: 'g0', deduplicationId: 'd0' })
  expect(again.messageId).toBe(sent[0]?.messageId)
  const requests = await receiver().waitForRequests(6, '/ordered')
  const texts = requests.map(({ text }) => Number(text))
  expect(texts.filter((n) => n % 2 === 0)).toEqual([0, 2, 4])
  expect(texts.filter((n) => n % 2 === 1)).toEqual([1, 3, 5])
})

test('an idempotency key stores one message', async () => {
  const { client } = stack()
  await subscribe(stack(), 'once', { endpoint: hook('/once'), rawMessageDelivery: true })
  const call = (message: string) =>
    client.call('POST', '/v1/topics/once/messages', {
      body: { message },
      headers: { 'idempotency-key': 'key-1' },
    })
  const [one, two] = [await call('first'), await call('first')]
  expect(two.body).toEqual(one.body)
  expect(two.headers['idempotent-replayed']).toBe('true')
  expect((await call('other')).status).toBe(409)
  await publish(stack(), 'once', 'last')
  const texts = (await receiver().waitForRequests(2, '/once')).map(({ text }) => text)
  expect(texts.toSorted()).toEqual(['first', 'last'])
})

test('kept messages are sent again from every master, with their attempts and live events', async () => {
  const { client } = stack()
  const topics = Array.from({ length: 6 }, (_, n) => `kept-${n}`)
  const masters = topics.map((topic) => String(masterOfShard(stack().connection, shardOf(topicArnOf(topic)))))
  expect(new Set(masters).size).toBe(3)
  const stream = await listenTo(`${stack().api.url}/v1/events?type=attempt,delivered`)
  const sendThrice = async (topic: string) => {
    const { id } = await subscribe(stack(), topic, { endpoint: hook(`/${topic}`), rawMessageDelivery: true })
    const settings = { keepMessages: { seconds: 600, bytes: 1_048_576 }, recordAttempts: 'all' }
    await client.call('PATCH', `/v1/topics/${topic}`, { body: settings })
    const content = { message: `to ${topic}`, attributes: { color: 'red' } }
    const { messageId } = await client.post<{ messageId: string }>(`/v1/topics/${topic}/messages`, content)
    type Body = { from?: string; message?: string }
    const body = async () => (await client.call<Body>('GET', `/v1/messages/${messageId}/body`)).body
    await waitFor(async () => (await body()).from === 'kept', { what: `${topic} to keep its message` })
    expect((await body()).message).toBe(`to ${topic}`)
    await client.post(`/v1/messages/${messageId}/resend`, { subscription: id })
    await receiver().waitForRequests(2, `/${topic}`)
    const since = new Date(Date.now() - 600_000).toISOString()
    await client.post(`/v1/subscriptions/${id}/resend`, { since })
    await receiver().waitForRequests(3, `/${topic}`)
    const tried = await client.post<{ matched: number }>('/v1/filter-policies/replay', {
      ...{ topic, filterPolicy: { kind: [{ exists: false }] }, last: 10 },
    })
    expect(tried.matched).toBe(1)
    const path = `/v1/messages/${messageId}/deliveries/${id}/attempts`
    const attempts = async () => (await client.get<{ attempts: unknown[] }>(path)).attempts.length
    await waitFor(async () => (await attempts()) === 3, { what: `the attempts of ${topic}` })
  }
  await Promise.all(topics.map(sendThrice))
  await stream.until('attempt', 3 * topics.length)
  await stream.until('delivered', 3 * topics.length)
  stream.close()
})

test('a dead letter is edited and sent again, and the audit log and the figures of all masters are shown', async () => {
  const { client } = stack()
  await client.put('/v1/queues/edited', { leaseSeconds: 600 })
  receiver().respond('/mended', { status: 404 })
  const redrivePolicy = { deadLetterTargetArn: 'edited' }
  await subscribe(stack(), 'mended', {
    endpoint: hook('/mended'),
    rawMessageDelivery: true,
    redrivePolicy,
  })
  await publish(stack(), 'mended', 'wrong')
  type Peeked = { messages: { messageId: string }[] }
  const letters = async () => (await client.get<Peeked>('/v1/queues/edited/messages')).messages
  await waitFor(async () => (await letters()).length === 1, { what: 'the dead letter' })
  receiver().respond('/mended', { status: 200 })
  const [letter] = await letters()
  await client.post(`/v1/queues/edited/messages/${letter?.messageId}/redrive`, { message: 'right' })
  await waitFor(() => receiver().requestsTo('/mended').at(-1)?.text === 'right')
  await waitFor(async () => (await letters()).length === 0, { what: 'the letter to be gone' })
  type Audit = { entries: { resource?: string }[] }
  const audited = async () => JSON.stringify((await client.get<Audit>('/v1/audit')).entries)
  await waitFor(async () => (await audited()).includes('edited'), { what: 'the audit log' })
  for (const path of ['overview', 'lanes', 'services', 'stats?range=1h', 'messages?topic=mended', 'redrives'])
    expect((await client.call('GET', `/v1/${path}`)).status, path).toBe(200)
})

test('every process says that it is ready, and none has complained', async () => {
  for (const service of stack().services()) expect(await service.isReady()).toBe(true)
  const complaints = stack()
    .services()
    .flatMap((service) => service.logLines())
    .filter(({ level }) => level === 'error')
  expect(complaints).toEqual([])
})

// Its attempts go on for a moment, so no test of live events follows.
test('a deleted topic takes its subscriptions of all masters, and what waits, with it', async () => {
  const { client } = stack()
  const closed = await startReceiver()
  const endpoints = Array.from({ length: 520 }, (_, n) => `${closed.url}/gone/${n}`)
  await client.put('/v1/topics/gone')
  for (let at = 0; at < endpoints.length; at += 40) {
    const some = endpoints.slice(at, at + 40)
    await Promise.all(some.map((endpoint) => client.post('/v1/topics/gone/subscriptions', { endpoint })))
  }
  type Topic = { subscriptions: { active: number } }
  expect((await client.get<Topic>('/v1/topics/gone')).subscriptions.active).toBe(endpoints.length)
  await closed.close()
  await publish(stack(), 'gone', 'nobody there')
  await client.delete('/v1/topics/gone')
  const left = async () =>
    (await client.get<{ subscriptions: unknown[] }>('/v1/subscriptions?topic=gone')).subscriptions.length
  await waitFor(async () => (await left().catch(() => 0)) === 0)
  expect((await client.call('GET', '/v1/topics/gone')).status).toBe(404)
})

function topicArnOf(name: string): string {
  return `arn:aws:sns:us-east-1:000000000000:${name}`
}

function queueArnOf(name: string): string {
  return `arn:aws:sqs:us-east-1:000000000000:${name}`
}
