/** @fantail/client against the API on a socket. */
import { connect } from 'node:net'
import { Fantail, FantailError } from '@fantail/client'
import { getReadiness, listKeys } from '@fantail/client/api'
import { deliveryId, placeOfSubscription } from '@fantail/store'
import { type RawServer, startRawServer } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { createApp, endpointsOf } from '../server/app.ts'
import { type ApiServer, listen } from '../server/server.ts'

let api: TestApi
let server: ApiServer
let fantail: Fantail
/** Passes connections on to the API. The first `lost` of them are cut as soon as an answer comes. */
let proxy: RawServer
let lost = 0

beforeAll(async () => {
  api = await startTestApi()
  server = await listen(createApp(api.deps), { host: '127.0.0.1', port: 0 })
  fantail = new Fantail({ url: `http://127.0.0.1:${server.port}` })
  proxy = await startRawServer((socket) => {
    const upstream = connect(server.port, '127.0.0.1')
    upstream.on('error', () => socket.destroy())
    upstream.on('data', (answer) => {
      if (lost === 0) return void socket.write(answer)
      lost -= 1
      socket.destroy()
    })
    socket.on('close', () => upstream.destroy())
    socket.pipe(upstream)
  })
})

afterAll(async () => {
  await proxy.close()
  await server.close()
  await api.stop()
})

const publishedTo = async (topic: string) =>
  (await api.published()).filter(({ topicArn }) => topicArn.endsWith(`:${topic}`))

test('a publish whose answers are lost is stored once, and answers the id of then', async () => {
  await fantail.topics('lossy').create()
  const lossy = new Fantail({ url: proxy.url, maxAttempts: 5 })
  lost = 3
  const { messageId } = await lossy.topics('lossy').publish({ order: 7 })
  expect([lost, proxy.accepted()]).toEqual([0, 4])
  expect((await publishedTo('lossy')).map((message) => message.messageId)).toEqual([messageId])
})

test('a publish that failed permanently can be repeated by its key', async () => {
  await fantail.topics('repeated').create()
  const lossy = new Fantail({ url: proxy.url, maxAttempts: 1 })
  lost = 1
  const error = await lossy
    .topics('repeated')
    .publish('hello')
    .catch((thrown) => thrown)
  expect(error).toBeInstanceOf(FantailError)
  const { code, idempotencyKey } = error as FantailError
  expect(code).toBe('network')
  await lossy.topics('repeated').publish('hello', { idempotencyKey })
  expect((await publishedTo('repeated')).length).toBe(1)
})

test('batches whose answers are lost are stored once, and each message has its receipt', async () => {
  await fantail.topics('batched').create()
  const lossy = new Fantail({ url: proxy.url, maxAttempts: 10 })
  const publisher = lossy.topics('batched').batch({ maxMessages: 25, lingerMs: 0 })
  lost = 3
  const numbers = Array.from({ length: 200 }, (_, n) => n)
  const receipts = await Promise.all(numbers.map((n) => publisher.publish(`message ${n}`)))
  await publisher.close()
  const stored = new Map((await publishedTo('batched')).map(({ messageId, message }) => [messageId, message]))
  expect(stored.size).toBe(200)
  expect(receipts.map(({ messageId }) => stored.get(messageId))).toEqual(numbers.map((n) => `message ${n}`))
})

test('a wrong message of a batch is refused alone', async () => {
  await fantail.topics('picky').create()
  const publisher = fantail.topics('picky').batch({ maxMessages: 3 })
  const results = await Promise.allSettled([
    publisher.publish('first'),
    publisher.publish('second', { subject: 'x'.repeat(101) }),
    publisher.publish('third', { deduplicationId: 'd' }),
    publisher.publish('fourth'),
  ])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  // On a slow machine the fourth goes before the first is sent again. Standard topics promise no order.
  const stored = (await publishedTo('picky')).map(({ message }) => message)
  expect(stored.toSorted()).toEqual(['first', 'fourth'])
})

test('topics and subscriptions of every kind are made, changed, listed and deleted', async () => {
  const topic = fantail.topics('shop')
  expect(await topic.create({ displayName: 'Shop' })).toMatchObject({ name: 'shop' })
  expect(await topic.update({ displayName: 'Shop 2' })).toMatchObject({ displayName: 'Shop 2' })
  await fantail.queues('shop-jobs').create()
  const hook = await topic.subscribe({ endpoint: 'http://127.0.0.1:9/hook', name: 'hook' })
  const queue = await topic.subscribe({ protocol: 'sqs', endpoint: 'shop-jobs' })
  const found = await topic.subscriptions({ limit: 1 }).toArray()
  expect(found.map(({ id }) => id).toSorted()).toEqual([hook.id, queue.id].toSorted())
  expect((await fantail.subscriptions.list({ name: 'hook' }).toArray()).length).toBe(1)
  const handle = fantail.subscriptions(hook.id)
  expect(await handle.update({ filterPolicy: { event: ['paid'] } })).toMatchObject({ id: hook.id })
  expect(await handle.pause()).toMatchObject({ status: 'paused' })
  expect(await handle.resume()).toMatchObject({ status: 'active' })
  expect(await handle.test({ message: 'x' })).toMatchObject({ statusCode: 204 })
  expect(await handle.createWebhookKey()).toMatchObject({ secret: expect.stringMatching(/^whsec_/) })
  expect((await handle.webhookKeys()).length).toBe(1)
  await handle.deleteWebhookKeys()
  expect(await handle.retry()).toBeDefined()
  expect(await handle.purge()).toBeDefined()
  await handle.delete()
  await expect(handle.get()).rejects.toMatchObject({ code: 'not_found', status: 404, attempts: 1 })
  await topic.delete()
  expect((await fantail.topics.list({ prefix: 'shop' }).toArray()).length).toBe(0)
})

test('queues take, give and show messages', async () => {
  const queue = fantail.queues('jobs')
  await queue.create({ visibilityTimeoutSeconds: 30 })
  await queue.send({ job: 1 }, { attributes: { kind: 'mail' } })
  expect((await queue.sendAll([{ body: 'two' }, { body: 'three' }])).length).toBe(2)
  const peeked = await queue.peek({ limit: 2 }).toArray()
  expect(peeked.map(({ body }) => body)).toEqual(['{"job":1}', 'two', 'three'])
  const received = await queue.receive({ maxMessages: 10, waitSeconds: 0 })
  expect(received.length).toBe(3)
  const [first, ...others] = received.map(({ receiptHandle }) => receiptHandle)
  expect(await queue.changeVisibility(others, 0)).toEqual([{ ok: true }, { ok: true }])
  expect(await queue.acknowledge([first ?? ''])).toEqual([{ ok: true }])
  expect(await queue.message(others.length ? (received[1]?.messageId ?? '') : '')).toMatchObject({
    body: 'two',
  })
  await queue.deleteMessage(received[1]?.messageId ?? '')
  expect(await queue.purge()).toBeDefined()
  expect(await queue.deadLetters()).toBeDefined()
  expect((await fantail.queues.list({ prefix: 'jobs' }).toArray()).length).toBe(1)
  await queue.delete()
})

test('redrives start, stop and are listed', async () => {
  await fantail.queues('shop-dlq').create()
  await fantail.queues('target').create()
  const settings = { source: 'shop-dlq', destination: 'target' }
  expect(await fantail.redrives.dryRun(settings)).toBeDefined()
  const { id } = await fantail.redrives.start(settings)
  const redrive = fantail.redrives(id)
  expect(await redrive.pause()).toMatchObject({ id })
  expect(await redrive.resume()).toMatchObject({ id })
  expect(await redrive.update({ maxMessagesPerSecond: 5 })).toMatchObject({ id })
  expect((await fantail.redrives.list().toArray()).map((one) => one.id)).toEqual([id])
  expect(await redrive.cancel()).toMatchObject({ id })
  expect(await redrive.get()).toMatchObject({ id })
})

test('a message that nobody knows is not found, with its deliveries', async () => {
  const message = fantail.messages('0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21')
  await expect(message.get()).rejects.toMatchObject({ code: 'not_found' })
  await expect(message.deliveries()).rejects.toMatchObject({ code: 'not_found' })
})

test('every other operation goes through the same client', async () => {
  const { client } = fantail
  expect(await listKeys({ client })).toMatchObject({ keys: [] })
  expect(await getReadiness({ client })).toMatchObject({ status: expect.any(String) })
})

test('every operation that takes an idempotency key gets one, and no other does', async () => {
  const keyed: string[] = []
  const noting = new Fantail({
    url: 'http://127.0.0.1:1',
    fetch: async (_url, init) => {
      if (new Headers(init?.headers).has('idempotency-key')) keyed.push(path)
      return Response.json({})
    },
  })
  const posts = endpointsOf(api.deps).filter(({ method }) => method === 'POST')
  let path = ''
  for (const endpoint of posts) {
    path = endpoint.path
    await noting.client.post({ url: path })
  }
  const takes = posts.filter(({ headers = {} }) => 'Idempotency-Key' in headers)
  expect(keyed.toSorted()).toEqual(takes.map((endpoint) => endpoint.path).toSorted())
})

test('lanes of all topics are listed', async () => {
  await fantail.topics('laned').create()
  const { id } = await fantail.topics('laned').subscribe({ endpoint: 'http://127.0.0.1:9/laned' })
  const delivery = deliveryId('0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21')
  const entry = { subscriptionId: id, delivery, message: 0, park: { as: 'fresh' as const } }
  const jobs = [{ jobName: '', fence: 0, fields: [], entries: [entry] }]
  await api.lanes.park(placeOfSubscription(id)?.shard ?? -1, {
    messages: [{ id: delivery, body: '{}' }],
    jobs,
  })
  const lanes = await fantail.lanes.list({ topic: 'laned' }).toArray()
  expect(lanes).toMatchObject([{ endpoint: 'http://127.0.0.1:9/laned', verdict: expect.anything() }])
})
