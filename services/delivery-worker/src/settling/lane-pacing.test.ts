/** Retry modes and circuit breakers, from an endpoint's answers to the requests that it gets. */
import { laneKey, shardBase } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createFakeSender, createFixture, DLQ, type Fixture, urlOf } from '../fixtures/worker.fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
beforeEach(() => fixture.reset())
afterAll(() => fixture.stop())

const deliveryPolicy = (numRetries: number) => ({
  healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries },
})
const redrivePolicy = { deadLetterTargetArn: DLQ }

async function laneOf(id: string) {
  const { shard = -1 } = (await fixture.subscriptions.locate(id)) ?? {}
  return { key: laneKey(shardBase(shard), id), lane: { subscriptionId: id, shard } }
}
async function figures(id: string) {
  const [found] = await fixture.lanes.figures([(await laneOf(id)).lane])
  if (!found) throw new Error('no such lane')
  return found
}
const deadLetters = async () => (await fixture.queues.getWithCounts(DLQ))?.counts.visible ?? 0
const textsTo = (sender: ReturnType<typeof createFakeSender>, name: string) =>
  sender.sent.filter(({ url }) => url === urlOf(name)).map(({ body }) => body)

test('an open circuit sends one probe at a time and dead-letters nothing, however few retries there are', async () => {
  await fixture.queues.put(DLQ, {})
  const circuitBreaker = { failures: 2, probeSeconds: 1 }
  const set = { circuitBreaker, redrivePolicy, deliveryPolicy: deliveryPolicy(3) }
  const { id } = await fixture.subscribe('dead', set)
  await fixture.subscribe('well')
  const sender = createFakeSender()
  let up = false
  sender.answer = (url) => (url === urlOf('dead') && !up ? 503 : 200)
  await fixture.startWorker(sender)
  await fixture.publishAll(['a', 'b'])
  await waitFor(async () => (await figures(id)).circuitOpenUntil !== null, { what: 'the circuit to open' })
  const before = textsTo(sender, 'dead').length
  await fixture.publishAll(Array.from({ length: 20 }, (_, i) => `m${i}`))
  await waitFor(() => textsTo(sender, 'well').length === 22, { what: 'the neighbour to get all' })
  await waitFor(() => textsTo(sender, 'dead').length >= before + 6, { what: 'more probes than retries' })
  expect(sender.inFlightMax.get(urlOf('dead'))).toBeLessThanOrEqual(2)
  expect(await figures(id)).toMatchObject({ waiting: expect.any(Number), lastFailure: { statusCode: 503 } })
  up = true
  await waitFor(async () => (await figures(id)).waiting + (await figures(id)).inFlight === 0, {
    what: 'all to be delivered',
  })
  expect((await figures(id)).circuitOpenUntil).toBeNull()
  expect(new Set(textsTo(sender, 'dead')).size).toBe(22)
  expect(await deadLetters()).toBe(0)
})

test('a delivery that an open circuit delayed says so, while it waits and when it has been delivered', async () => {
  const circuitBreaker = { failures: 1, probeSeconds: 2 }
  // A status that this policy's `retryOn` adds opens the circuit like any other failure.
  const { healthyRetryPolicy } = deliveryPolicy(3)
  const set = {
    circuitBreaker,
    deliveryPolicy: { healthyRetryPolicy: { ...healthyRetryPolicy, retryOn: [404] } },
  }
  const { id } = await fixture.subscribe('dead', set)
  const sender = createFakeSender()
  let up = false
  sender.answer = () => (up ? 200 : 404)
  await fixture.startWorker(sender)
  const row = async (messageId: string) => (await fixture.outcomes.deliveries(messageId))?.[0]
  const first = await fixture.publish('opens it')
  await waitFor(async () => (await figures(id)).circuitOpenUntil !== null, { what: 'the circuit to open' })
  const behind = await fixture.publish('waits behind it')
  const waiting = await waitFor(async () => {
    const found = await row(behind)
    return found?.state === 'waiting' ? found : undefined
  })
  expect(waiting).toMatchObject({ cause: 'circuitOpen', delayMs: 2_000, attempts: 0 })
  up = true
  const ends = await waitFor(async () => {
    const rows = await Promise.all([row(first), row(behind)])
    return rows.every((found) => found?.state === 'delivered') ? rows : undefined
  })
  expect(ends.map((end) => end?.cause)).toContain('circuitOpen')
  expect(ends[1]).toMatchObject({ cause: 'circuitOpen', attempts: 1, lastStatusCode: 200 })
  expect(ends[1]?.delayMs).toBeGreaterThan(0)
})

test('deliveries behind an open circuit are tried again by their policy, not at once and for ever', async () => {
  const circuitBreaker = { failures: 1, probeSeconds: 1 }
  const { id } = await fixture.subscribe('sealed', { circuitBreaker, deliveryPolicy: deliveryPolicy(100) })
  const sender = createFakeSender()
  const locked = {
    kind: 'failure',
    error: 'storage',
    detail: 'no answer of Redis',
    durationMs: 0,
    permanent: false,
  } as const
  sender.answer = (_, n) => (n === 1 ? 503 : locked)
  await fixture.startWorker(sender)
  await fixture.publish('a')
  await waitFor(() => sender.sent.length >= 4, { what: 'three tries without Redis' })
  const gaps = sender.sent.slice(2).map(({ at }, i) => at - (sender.sent[i + 1]?.at ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThan(500)
  expect(await figures(id)).toMatchObject({ circuitOpenUntil: expect.any(Number) })
})

test('a retry without quota is late and not lost', async () => {
  await fixture.queues.put(DLQ, {})
  const { id } = await fixture.subscribe('slow', {
    retryMode: 'standard',
    redrivePolicy,
    deliveryPolicy: deliveryPolicy(10),
  })
  const { key } = await laneOf(id)
  await fixture.redis.hset(key, 'mq', 0)
  const sender = createFakeSender()
  sender.answer = (_, n) => (n <= 3 ? 500 : 200)
  await fixture.startWorker(sender)
  await fixture.publishAll(['a', 'b', 'c'])
  await waitFor(async () => sender.sent.length >= 6 && (await figures(id)).waiting === 0, {
    what: 'all to be delivered',
  })
  const late = sender.sent.slice(3)
  const gaps = late.slice(1).map(({ at }, i) => at - (late[i]?.at ?? 0))
  expect(sender.sent).toHaveLength(6)
  // The first success gives the quota tokens for one of the others.
  expect(Math.min(...gaps)).toBeLessThan(1_500)
  expect((await figures(id)).retryQuota).toBeGreaterThan(0)
  expect(await deadLetters()).toBe(0)
})

test('a busy endpoint gets less, which the lane shows, and more again when it is not', async () => {
  const { id } = await fixture.subscribe('busy', {
    retryMode: 'adaptive',
    deliveryPolicy: deliveryPolicy(100),
  })
  const sender = createFakeSender()
  let busy = false
  sender.answer = () => (busy ? 429 : 200)
  await fixture.startWorker(sender)
  for (let i = 0; i < 6; i++) {
    const n = sender.sent.length
    await fixture.publishAll(Array.from({ length: 20 }, (_, at) => `${i}.${at}`))
    await waitFor(() => sender.sent.length >= n + 20)
    await waitFor(async () => (await figures(id)).waiting === 0)
  }
  expect((await figures(id)).rate).toBeNull()
  busy = true
  await fixture.publishAll(['x', 'y', 'z'])
  await waitFor(async () => (await figures(id)).rate !== null, { what: 'a rate' })
  const slowed = await waitFor(async () => {
    const { rate } = await figures(id)
    return rate !== null && rate < 10 ? rate : undefined
  })
  busy = false
  await waitFor(async () => (await figures(id)).waiting === 0, { what: 'what waits to be delivered' })
  await waitFor(
    async () => {
      await fixture.publish('more')
      return ((await figures(id)).rate ?? 0) > slowed
    },
    { what: 'the rate to recover' },
  )
})

test('a lane without a mode has its first attempt at once, and no state', async () => {
  const { id } = await fixture.subscribe('plain')
  const sender = createFakeSender()
  await fixture.startWorker(sender)
  await fixture.publishAll(['a', 'b'])
  await waitFor(() => sender.sent.length === 2)
  expect(await figures(id)).toMatchObject({ retryQuota: null, circuitOpenUntil: null, rate: null })
})
