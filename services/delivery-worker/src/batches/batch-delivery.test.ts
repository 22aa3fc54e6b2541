/** Deliveries in batches, by a worker on a real Redis. */
import type { AttemptResult } from '@fantail/contracts'
import { laneKey, shardBase, shardOf } from '@fantail/store'
import { leaseKey, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { createFakeSender, DLQ, TOPIC, useFixture } from '../fixtures/worker.fixture.ts'
import { accepted, type BatchAttempter, createBatchAttempter } from './batch-attempter.fixture.ts'

const fixture = await useFixture()
const failed = (statusCode: number): AttemptResult => ({ kind: 'response', statusCode, durationMs: 1 })
const unanswered: AttemptResult = {
  kind: 'failure',
  error: 'timeout',
  detail: 'no answer',
  durationMs: 1_500,
  permanent: false,
}
const textsOf = ({ requests }: BatchAttempter) => requests.flatMap(({ texts }) => texts)
const range = (n: number) => Array.from({ length: n }, (_, i) => `m${String(i).padStart(3, '0')}`)

async function start(attempter: BatchAttempter, settings: object = {}, options: object = {}) {
  const { id } = await fixture.subscribe('', { endpoint: 'http://stream.example/', ...settings })
  const worker = await fixture.startWorker(createFakeSender(), {
    attempters: { http: attempter },
    ...options,
  })
  return { id, worker }
}

const figuresOf = async (subscriptionId: string) =>
  (await fixture.lanes.figures([{ subscriptionId, shard: shardOf(TOPIC) }]))[0]
const isEmpty = (id: string) =>
  waitFor(
    async () => {
      const figures = await figuresOf(id)
      return figures?.waiting === 0 && figures.inFlight === 0
    },
    { what: 'the lane to be empty' },
  )

/** After this its endpoint is proven. */
async function deliverFirst(attempter: BatchAttempter, id: string) {
  await fixture.publish('first')
  await waitFor(() => textsOf(attempter).length === 1, { what: 'the first request' })
  await isEmpty(id)
}

test('a burst goes in few requests, and each record once', async () => {
  const attempter = createBatchAttempter()
  const { id } = await start(attempter)
  await deliverFirst(attempter, id)
  const texts = range(200)
  await fixture.publishAll(texts)
  await waitFor(() => textsOf(attempter).length >= 201, { what: 'all records' })
  await isEmpty(id)
  expect(textsOf(attempter).sort()).toEqual(['first', ...texts].sort())
  for (const { texts } of attempter.requests) expect(texts.length).toBeLessThanOrEqual(50)
  expect(attempter.requests.length).toBeLessThan(40)
})

test('[362] records are settled by their own results: only those that failed are sent again', async () => {
  await fixture.queues.put(DLQ, {})
  const attempter = createBatchAttempter()
  attempter.answer = (text, n) => {
    if (text.startsWith('bad')) return failed(400)
    return text.startsWith('busy') && n === 1 ? failed(503) : accepted
  }
  const policy = { numRetries: 2, minDelayTarget: 1, maxDelayTarget: 1, numNoDelayRetries: 2 }
  const { id } = await start(attempter, {
    redrivePolicy: { deadLetterTargetArn: DLQ },
    deliveryPolicy: { healthyRetryPolicy: policy },
  })
  const messageIds = await fixture.publishAll(['good1', 'bad1', 'busy1', 'good2', 'busy2'])
  await waitFor(() => textsOf(attempter).length >= 7, { what: 'the second attempts' })
  await isEmpty(id)
  expect(textsOf(attempter).sort()).toEqual(['bad1', 'busy1', 'busy1', 'busy2', 'busy2', 'good1', 'good2'])
  const letters = (await fixture.queues.peek(DLQ, { limit: 10 })).items
  expect(letters).toMatchObject([{ body: 'bad1', deadLetter: { reason: 'permanent', statusCode: 400 } }])
  const rows = async () => Promise.all(messageIds.map((id) => fixture.outcomes.deliveries(id)))
  await waitFor(async () => (await rows()).every((row) => row?.[0]?.endedAt), { what: 'the outcomes' })
  expect((await rows()).map((row) => [row?.[0]?.state, row?.[0]?.attempts])).toEqual([
    ['delivered', 1],
    ['deadLettered', 1],
    ['delivered', 2],
    ['delivered', 1],
    ['delivered', 2],
  ])
})

test('[370] requests count against maxInFlight, however many records they have; what waits keeps its order', async () => {
  const attempter = createBatchAttempter({ records: 10 })
  const { id } = await start(attempter, { maxInFlight: 2 })
  await deliverFirst(attempter, id)
  const { promise, resolve } = Promise.withResolvers<void>()
  attempter.released = promise
  await fixture.publishAll(range(60))
  await waitFor(() => attempter.inFlight === 2, { what: 'two requests' })
  await waitFor(async () => {
    const figures = await figuresOf(id)
    return figures && figures.waiting + figures.inFlight === 60
  })
  const sent = textsOf(attempter).length
  const before = (await figuresOf(id))?.waiting ?? 0
  for (const [i, text] of ['x', 'y', 'z'].entries()) {
    await fixture.publish(text)
    await waitFor(async () => ((await figuresOf(id))?.waiting ?? 0) > before + i, { what: `${text} to wait` })
  }
  expect([attempter.inFlight, textsOf(attempter).length]).toEqual([2, sent])
  resolve()
  await waitFor(() => textsOf(attempter).length >= 64, { what: 'all records' })
  await isEmpty(id)
  expect(attempter.inFlightMax).toBe(2)
  expect(new Set(textsOf(attempter)).size).toBe(64)
  expect(textsOf(attempter).filter((text) => text < 'm' || text > 'n')).toEqual(['first', 'x', 'y', 'z'])
})

test('[361][367] a request has no more bytes than allowed, and a record beyond them is alone', async () => {
  const attempter = createBatchAttempter({ bytes: 100 })
  const { id } = await start(attempter)
  await deliverFirst(attempter, id)
  const texts = [...range(60), 'x'.repeat(300)]
  await fixture.publishAll(texts)
  await waitFor(() => textsOf(attempter).length >= 62, { what: 'all records' })
  const large = attempter.requests.filter(({ sizeBytes }) => sizeBytes > 100)
  expect(large.map(({ texts }) => texts)).toEqual([['x'.repeat(300)]])
  await isEmpty(id)
})

test('[367] a batch that is not full waits for others', async () => {
  const attempter = createBatchAttempter({ lingerMs: 300 })
  const { id } = await start(attempter)
  await deliverFirst(attempter, id)
  const publishedAt = performance.now()
  await fixture.publishAll(['a', 'b'])
  await waitFor(() => textsOf(attempter).length === 3, { what: 'both' })
  expect((attempter.requests[1]?.at ?? 0) - publishedAt).toBeGreaterThan(290)
  await isEmpty(id)
})

test('a batch that our own configuration keeps back costs no attempt, and its lane is blocked', async () => {
  const attempter = createBatchAttempter()
  let works = false
  const broken: AttemptResult = { kind: 'misconfigured', credential: 'stream', detail: '403', durationMs: 1 }
  attempter.answer = () => (works ? accepted : broken)
  const { id } = await start(attempter, {}, { credentialProbeMs: 300 })
  const messageIds = await fixture.publishAll(range(5))
  await waitFor(async () => (await figuresOf(id))?.isBlocked, { what: 'the lane to be blocked' })
  works = true
  await isEmpty(id)
  const rows = async () => Promise.all(messageIds.map((id) => fixture.outcomes.deliveries(id)))
  await waitFor(async () => (await rows()).every((row) => row?.[0]?.state === 'delivered'), { what: 'all' })
  expect((await rows()).map((row) => row?.[0]?.attempts)).toEqual(Array(5).fill(1))
})

test('a worker that stops returns what it has gathered', async () => {
  const attempter = createBatchAttempter()
  const { id, worker } = await start(attempter)
  await deliverFirst(attempter, id)
  attempter.limits.lingerMs = 600_000
  await fixture.publishAll(range(3))
  await waitFor(async () => ((await figuresOf(id))?.inFlight ?? 0) > 0, { what: 'some to be gathered' })
  await worker.stop()
  expect(await figuresOf(id)).toMatchObject({ waiting: 3, inFlight: 0 })
  expect(textsOf(attempter)).toEqual(['first'])
})

test('an endpoint that answers late gets whole requests, though it is never proven', async () => {
  const attempter = createBatchAttempter()
  attempter.answer = () => ({ ...accepted, durationMs: 1_200 })
  const { id } = await start(attempter)
  await deliverFirst(attempter, id)
  await fixture.publishAll(range(100))
  await waitFor(() => textsOf(attempter).length >= 101, { what: 'all records' })
  await isEmpty(id)
  expect(textsOf(attempter).sort()).toEqual(['first', ...range(100)].sort())
  expect(attempter.requests.length).toBeLessThan(20)
})

test('an endpoint that gives no answer gets one record in a request', async () => {
  const attempter = createBatchAttempter()
  const policy = { numRetries: 10, minDelayTarget: 1, maxDelayTarget: 1, numNoDelayRetries: 10 }
  const { id } = await start(attempter, { deliveryPolicy: { healthyRetryPolicy: policy } })
  let answers = false
  attempter.answer = () => (answers ? accepted : unanswered)
  await fixture.publishAll(range(20))
  await waitFor(() => attempter.requests.length >= 20, { what: 'many requests' })
  // Claims of one burst, and of takes under way at the same time, may share a request.
  expect(Math.max(...attempter.requests.map(({ texts }) => texts.length))).toBeLessThan(10)
  answers = true
  await isEmpty(id)
})

test('a batch whose claims are all lost while they wait does not hold up those after it', async () => {
  const lingerMs = 1_500
  const attempter = createBatchAttempter()
  const { id } = await start(attempter, {}, { attemptTimeoutMs: 1 })
  await deliverFirst(attempter, id)
  attempter.limits.lingerMs = lingerMs
  await fixture.publish('lost')
  await waitFor(async () => ((await figuresOf(id))?.inFlight ?? 0) === 1, { what: 'a claim to wait' })
  const lostAt = performance.now()
  await fixture.redis.del(leaseKey(shardBase(shardOf(TOPIC)), id))
  await waitFor(() => performance.now() - lostAt > lingerMs + 100, {
    what: 'the time of the batch to be over',
  })
  await fixture.publish('later')
  await waitFor(() => textsOf(attempter).includes('later'), { what: 'a later message' })
  expect(textsOf(attempter)).toEqual(['first', 'later'])
  await isEmpty(id)
})

test('a request that gets no answer makes the endpoint hang, and the records are tried again', async () => {
  const attempter = createBatchAttempter()
  const policy = { numRetries: 1, minDelayTarget: 1, maxDelayTarget: 1, numNoDelayRetries: 1 }
  const { id } = await start(attempter, { deliveryPolicy: { healthyRetryPolicy: policy } })
  await deliverFirst(attempter, id)
  const { promise, resolve } = Promise.withResolvers<void>()
  attempter.released = promise
  attempter.answer = (_, n) => (n === 1 ? unanswered : accepted)
  await fixture.publishAll(range(3))
  const isProven = () => fixture.redis.hget(laneKey(shardBase(shardOf(TOPIC)), id), 'a')
  expect(await isProven()).toBe('1')
  await waitFor(async () => (await isProven()) === null, {
    what: 'the lane to wait in the line of unproven endpoints',
  })
  resolve()
  await waitFor(() => textsOf(attempter).length >= 7, { what: 'the second attempts' })
  await isEmpty(id)
  expect(textsOf(attempter).sort()).toEqual(['first', ...range(3), ...range(3)].sort())
})
