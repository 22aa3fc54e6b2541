import { createHttpSender } from '@fantail/delivery'
import {
  PushConsumerRecords,
  type PushConsumerSettings,
  SHARD_COUNT,
  shardBase,
  shardOf,
  WAKE_PUSH_CONSUMERS,
} from '@fantail/store'
import {
  type Receiver,
  skewKey,
  startCountingProxy,
  startFairTimer,
  startReceiver,
  waitFor,
} from '@fantail/test-kit'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createFakeSender, createFixture, type Fixture } from '../fixtures/worker.fixture.ts'
import type { DeliveryWorkerOptions } from '../wiring/worker-options.ts'

const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:jobs'
const ORDERED = 'arn:aws:sqs:us-east-1:000000000000:jobs.fifo'
let fixture: Fixture
let consumers: PushConsumerRecords
let hook: Receiver

beforeAll(async () => {
  fixture = await createFixture()
  consumers = new PushConsumerRecords(fixture.redis)
})
beforeEach(async () => {
  hook = await startReceiver()
  await fixture.queues.put(QUEUE, {})
  await fixture.queues.put(ORDERED, {})
})
afterEach(async () => {
  await fixture.reset()
  await hook.close()
})
afterAll(() => fixture.stop())

const startWorker = (options: Partial<DeliveryWorkerOptions> = {}) => {
  const own = createHttpSender({ allowPrivate: true, timeoutMs: 5_000 })
  return fixture.startWorker(createFakeSender(), { sender: own, ...options })
}
const consume = (set: Partial<PushConsumerSettings> = {}, queue = QUEUE) =>
  consumers.put(queue, 'hook', { url: `${hook.url}/in`, timeoutSeconds: 5, ...set })
const send = (bodies: string[], queue = QUEUE) =>
  fixture.queues.send(
    queue,
    bodies.map((body) => ({
      body,
      ...(queue === ORDERED && { groupId: body.charAt(0), deduplicationId: body }),
    })),
  )
async function later(ms: number): Promise<void> {
  const pipeline = fixture.redis.pipeline()
  for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.set(skewKey(shardBase(shard)), ms)
  await pipeline.exec()
}

interface EventRecord {
  messageId: string
  body: string
  attributes: Record<string, string>
}
const recordsOf = (text: string) => (JSON.parse(text) as { Records: EventRecord[] }).Records
/** Bodies that were pushed, request by request. */
const pushed = (path = '/in') =>
  hook.requestsTo(path).map(({ text }) => recordsOf(text).map(({ body }) => body))
const left = async (queue = QUEUE) => (await fixture.queues.getWithCounts(queue))?.counts
const empty = (queue = QUEUE) =>
  waitFor(async () => {
    const { visible = 1, inFlight = 1, delayed = 1 } = (await left(queue)) ?? {}
    return visible + inFlight + delayed === 0
  })

test('messages that are there, and those that come, are pushed at once and deleted', async () => {
  await send(['before'])
  await consume()
  await startWorker()
  await hook.waitForRequests(1)
  await empty()
  const took = startFairTimer(fixture.server.pid())
  await send(['after'])
  await hook.waitForRequests(2)
  expect(took()).toBeLessThan(1_000)
  await empty()
  expect(pushed()).toEqual([['before'], ['after']])
  const [request] = hook.requests
  expect(request?.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Fantail' })
  expect(recordsOf(request?.text ?? '')[0]).toMatchObject({
    eventSource: 'aws:sqs',
    eventSourceARN: QUEUE,
    attributes: { ApproximateReceiveCount: '1', SenderId: '000000000000' },
  })
})

test('a consumer that is made, changed, stopped and removed is followed at once', async () => {
  await startWorker()
  await consume()
  await send(['1'])
  await hook.waitForRequests(1, '/in')
  await consumers.patch(QUEUE, 'hook', { url: `${hook.url}/other` })
  await send(['2'])
  await hook.waitForRequests(1, '/other')
  await consumers.patch(QUEUE, 'hook', { enabled: false })
  await send(['3'])
  await consumers.patch(QUEUE, 'hook', { enabled: true, url: `${hook.url}/again` })
  await hook.waitForRequests(1, '/again')
  await empty()
  await consumers.delete(QUEUE, 'hook')
  await send(['4'])
  await consumers.put(QUEUE, 'next', { url: `${hook.url}/next` })
  await hook.waitForRequests(1, '/next')
  expect([pushed('/in'), pushed('/other'), pushed('/again'), pushed('/next')]).toEqual([
    [['1']],
    [['2']],
    [['3']],
    [['4']],
  ])
})

test('a batch holds as many messages as the consumer wants', async () => {
  const bodies = Array.from({ length: 250 }, (_, i) => `${i}`)
  await send(bodies)
  await consume({ batchSize: 200 })
  await startWorker()
  await hook.waitForRequests(2)
  await empty()
  expect(pushed().map((batch) => batch.length)).toEqual([200, 50])
  expect(pushed().flat()).toEqual(bodies)
})

test('a batch window gathers what comes meanwhile', async () => {
  await consume({ batchSize: 3, batchWindowSeconds: 30 })
  await startWorker()
  for (const body of ['a', 'b', 'c']) await send([body])
  await hook.waitForRequests(1)
  await consumers.patch(QUEUE, 'hook', { batchWindowSeconds: 1 })
  const from = performance.now()
  await send(['d'])
  await hook.waitForRequests(2)
  expect(performance.now() - from).toBeGreaterThan(700)
  expect(pushed()).toEqual([['a', 'b', 'c'], ['d']])
})

test('all workers together make as many requests at a time as the consumer allows', async () => {
  let open = () => undefined as unknown
  const gate = new Promise((resolve) => {
    open = () => resolve(undefined)
  })
  hook.respond('/in', { until: gate })
  await send(Array.from({ length: 40 }, (_, i) => `${i}`))
  await Promise.all([startWorker(), startWorker(), startWorker()])
  await consume({ concurrency: 4, batchSize: 1, timeoutSeconds: 60 })
  await waitFor(() => hook.inFlight('/in') === 4)
  await send(['one more'])
  await waitFor(async () => (await left())?.visible === 37)
  open()
  await empty()
  expect(hook.inFlightMax('/in')).toBe(4)
  expect(pushed().flat()).toHaveLength(41)
})

test('a batch that fails comes back when its visibility timeout is over', async () => {
  hook.respond('/in', (_, n) => ({ status: n === 1 ? 500 : 200 }))
  await send(['a', 'b'])
  await consume()
  await startWorker()
  await hook.waitForRequests(1)
  expect(await left()).toMatchObject({ visible: 0, inFlight: 2 })
  await later(31_000)
  // It wakes the consumer. If the pause after the failure has ended just now, the consumer has polled before it came.
  await send(['c'])
  await empty()
  const [first, ...others] = hook.requests.map(({ text }) => recordsOf(text))
  const pushedAgain = others.flat()
  expect(pushedAgain.map(({ body }) => body).sort()).toEqual(['a', 'b', 'c'])
  const again = pushedAgain.find(({ messageId }) => messageId === first?.[0]?.messageId)
  expect(again?.attributes.ApproximateReceiveCount).toBe('2')
})

test('an endpoint that is down is asked less and less often, and costs the others nothing', async () => {
  await consumers.put(QUEUE, 'down', { url: 'http://127.0.0.1:1/', batchSize: 1 })
  await send(Array.from({ length: 30 }, (_, i) => `${i}`))
  await startWorker()
  await fixture.queues.put(`${QUEUE}-2`, {})
  await consumers.put(`${QUEUE}-2`, 'hook', { url: `${hook.url}/in` })
  await send(['good'], `${QUEUE}-2`)
  await hook.waitForRequests(1)
  const from = performance.now()
  await waitFor(() => performance.now() - from > 1_000)
  expect((await left())?.visible).toBeGreaterThan(20)
})

test('messages that are named as failed stay, the others are deleted', async () => {
  hook.respond('/in', ({ text }) => ({
    body: JSON.stringify({
      batchItemFailures: recordsOf(text)
        .filter(({ body }) => body.startsWith('bad'))
        .map(({ messageId }) => ({ itemIdentifier: messageId })),
    }),
  }))
  await send(['good 1', 'bad', 'good 2'])
  await consume({ reportBatchItemFailures: true })
  const worker = await startWorker()
  await waitFor(async () => (await left())?.inFlight === 1)
  await worker.stop()
  await later(31_000)
  const [message] = await fixture.queues.receive(QUEUE, { maxMessages: 10 })
  expect(message?.body).toBe('bad')
})

test('every group of a FIFO queue is pushed in order, one batch at a time', async () => {
  const seen: string[] = []
  const open = new Set<string>()
  hook.respond('/in', ({ text }) => {
    const bodies = recordsOf(text).map(({ body }) => body)
    const groups = new Set(bodies.map((body) => body.charAt(0)))
    for (const group of groups) expect(open.has(group)).toBe(false)
    for (const group of groups) open.add(group)
    seen.push(...bodies)
    const close = () => {
      for (const group of groups) open.delete(group)
    }
    return { until: new Promise((resolve) => setTimeout(resolve, 20)).then(close) }
  })
  const sent = Array.from({ length: 60 }, (_, i) => `${'abcdef'.charAt(i % 6)}${Math.floor(i / 6)}`)
  await send(sent, ORDERED)
  await consume({ concurrency: 4, batchSize: 3 }, ORDERED)
  await Promise.all([startWorker(), startWorker()])
  await empty(ORDERED)
  for (const group of 'abcdef') {
    const of = (bodies: string[]) => bodies.filter((body) => body.startsWith(group))
    expect(of(seen)).toEqual(of(sent))
  }
})

test('nothing behind a failed message of a FIFO queue is deleted before it', async () => {
  const failures = (ids: string[]) => ({
    batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
  })
  hook.respond('/in', ({ text }, n) => {
    const failed = recordsOf(text).filter(({ body }) => body === 'a1')
    return { body: n === 1 ? JSON.stringify(failures(failed.map(({ messageId }) => messageId))) : '' }
  })
  await send(['a0', 'a1', 'a2', 'b0'], ORDERED)
  await consume({ reportBatchItemFailures: true }, ORDERED)
  await startWorker()
  await hook.waitForRequests(1)
  await waitFor(async () => (await left(ORDERED))?.inFlight === 2)
  await later(31_000)
  await send(['a3'], ORDERED)
  await empty(ORDERED)
  expect(pushed().slice(1).flat()).toEqual(['a1', 'a2', 'a3'])
})

test('a message that was received too often goes to the dead-letter queue', async () => {
  const dead = `${QUEUE}-dead`
  await fixture.queues.put(dead, {})
  await fixture.queues.put(QUEUE, { redrivePolicy: { deadLetterTargetArn: dead, maxReceiveCount: 1 } })
  hook.respond('/in', { status: 500 })
  await send(['poison'])
  await consume()
  await startWorker()
  await hook.waitForRequests(1)
  await later(31_000)
  await consumers.patch(QUEUE, 'hook', { batchSize: 5 })
  await waitFor(async () => (await left(dead))?.visible === 1)
  expect(hook.requests).toHaveLength(1)
})

test('a worker that stops lets its requests end and settles them, and leaves the rest to others', async () => {
  let answer = () => undefined as unknown
  const answered = new Promise((resolve) => {
    answer = () => resolve(undefined)
  })
  hook.respond('/in', (_, n) => (n === 1 ? { until: answered } : {}))
  await send(['a', 'b'])
  await consume({ batchSize: 1 })
  const first = await startWorker()
  await hook.waitForRequests(1)
  await startWorker()
  const stopped = first.stop()
  answer()
  await stopped
  await hook.waitForRequests(2)
  await empty()
  expect(pushed()).toEqual([['a'], ['b']])
})

test('a late request does not delete messages that another receiver has got since', async () => {
  let answer = () => undefined as unknown
  const answered = new Promise((resolve) => {
    answer = () => resolve(undefined)
  })
  hook.respond('/in', { until: answered })
  await send(['a'])
  await consume()
  const worker = await startWorker()
  await hook.waitForRequests(1)
  const stopped = worker.stop()
  await later(31_000)
  const [message] = await fixture.queues.receive(QUEUE, { maxMessages: 1 })
  expect(message).toMatchObject({ body: 'a', receiveCount: 2 })
  answer()
  await stopped
  expect(await left()).toMatchObject({ visible: 0, inFlight: 1 })
})

test('consumers of a queue that is deleted end, and those of its successor are others', async () => {
  await consume()
  await startWorker()
  await send(['1'])
  await hook.waitForRequests(1)
  await fixture.queues.delete(QUEUE)
  await fixture.queues.put(QUEUE, {})
  await send(['2'])
  await consume({ url: `${hook.url}/new` })
  await hook.waitForRequests(1, '/new')
  expect([pushed('/in'), pushed('/new')]).toEqual([[['1']], [['2']]])
})

/** Waits for ticks of the worker, one a second, among the commands that it has sent. */
async function tick(sent: string[][], count: number): Promise<void> {
  const ticks = () => sent.filter(([, key]) => key === 'ft:{hints}:busy').length
  const before = ticks()
  await waitFor(() => ticks() >= before + count, { what: 'ticks of the worker' })
}

test('a queue whose consumers cannot be read is asked for them with pauses, and stops no other', async () => {
  const sent: string[][] = []
  const proxy = await startCountingProxy(fixture.server.port, (written) => sent.push(...written))
  await consume()
  const worker = await startWorker({ redisUrl: proxy.url })
  await send(['1'])
  await empty()
  const key = `${shardBase(shardOf(QUEUE))}q:${(await fixture.queues.get(QUEUE))?.uid}:push-consumers`
  await fixture.redis.del(key)
  await fixture.redis.set(key, 'x')
  const before = sent.length
  await fixture.redis.publish(WAKE_PUSH_CONSUMERS, QUEUE)
  await consume({}, ORDERED)
  await send(['a1'], ORDERED)
  await empty(ORDERED)
  await tick(sent, 2)
  const asked = sent.slice(before).filter((words) => words.includes(QUEUE)).length
  await worker.stop()
  proxy.stop()
  expect([asked > 0, asked < 20]).toEqual([true, true])
})

test('consumers that wait send no command', async () => {
  const arns = Array.from({ length: 20 }, (_, i) => `${QUEUE}-${i}`)
  for (const arn of arns) {
    await fixture.queues.put(arn, {})
    await consumers.put(arn, 'hook', { url: `${hook.url}/in` })
  }
  const sent: string[][] = []
  const proxy = await startCountingProxy(fixture.server.port, (written) => sent.push(...written))
  const worker = await startWorker({ redisUrl: proxy.url })
  await Promise.all(arns.map((arn) => send(['x'], arn)))
  await hook.waitForRequests(20)
  for (const arn of arns) await empty(arn)
  // A batch that has ended gives its lease back with the consumer's next receive.
  await waitFor(async () => (await fixture.redis.keys('ft:*:push-leases:*')).length === 0)
  const seconds = (count: number) => tick(sent, count)
  await seconds(1)
  const before = sent.length
  await seconds(3)
  const named = sent.slice(before).flatMap((words) => words.filter((word) => word.startsWith(QUEUE)))
  await worker.stop()
  proxy.stop()
  expect(named).toEqual([])
})
