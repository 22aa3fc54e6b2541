import { createLogger } from '@fantail/runtime'
import { type AttemptNote, drainOf, shardOf } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { createFakeSender, TOPIC, urlOf, useFixture } from '../fixtures/worker.fixture.ts'
import { LaneFigureWriter } from './lane-figure-writer.ts'

const fixture = await useFixture()
const log = createLogger({ service: 'test', level: 'silent' })
const subscription = (id: string) => ({ shard: 0, record: { id } })

async function figuresOf(subscriptionId: string) {
  const [figures] = await fixture.lanes.figures([{ subscriptionId, shard: shardOf(TOPIC) }])
  if (!figures) throw new Error('a lane has figures')
  return figures
}

test('however many attempts end, a shard has few notes, and stopping writes what waits', async () => {
  const written: AttemptNote[][] = []
  const notes = new LaneFigureWriter({ noteAttempts: async (_, batch) => void written.push(batch) }, log)
  for (let i = 0; i < 500; i++) notes.delivered(subscription('a'))
  await waitFor(() => written.length === 1, { what: 'the first note' })
  expect(written[0]).toMatchObject([{ subscriptionId: 'a', attempts: 500, successes: 500, failed: null }])
  for (let i = 0; i < 500; i++) notes.delivered(subscription('a'), 2)
  const result = { kind: 'response', statusCode: 503, durationMs: 1 } as const
  notes.failed(subscription('b'), result)
  await notes.stop()
  expect(written).toHaveLength(2)
  expect(written[1]).toMatchObject([
    { subscriptionId: 'a', attempts: 1_000, successes: 1_000 },
    { subscriptionId: 'b', attempts: 1, successes: 0, succeededMs: null, failed: { statusCode: 503 } },
  ])
})

test('writes of many subscriptions are further apart', async () => {
  const wroteAt: number[] = []
  const notes = new LaneFigureWriter({ noteAttempts: async () => void wroteAt.push(performance.now()) }, log)
  const noteAll = () => {
    for (let i = 0; i < 300; i++) notes.delivered(subscription(`s${i}`))
  }
  noteAll()
  await waitFor(() => wroteAt.length === 1, { what: 'the first write' })
  noteAll()
  await waitFor(() => wroteAt.length === 2, { what: 'the second write' })
  await notes.stop()
  const [first = 0, second = 0] = wroteAt
  expect(second - first).toBeGreaterThan(1_400)
})

test('a failed write is logged and not repeated', async () => {
  const tries: number[] = []
  const noteAttempts = async () => {
    tries.push(1)
    throw new Error('away')
  }
  const notes = new LaneFigureWriter({ noteAttempts }, log)
  notes.delivered(subscription('a'))
  await notes.stop()
  expect(tries).toHaveLength(1)
})

test('an endpoint that works again shows a success later than its last failure, also of first attempts', async () => {
  const { id } = await fixture.subscribe('mended')
  const sender = createFakeSender()
  sender.answer = () => 404
  await fixture.startWorker(sender)
  await fixture.publish('refused')
  await waitFor(async () => (await figuresOf(id)).lastFailure?.statusCode === 404, { what: 'the failure' })
  expect((await figuresOf(id)).lastSuccessAt).toBeNull()
  sender.answer = () => 204
  await fixture.publish('taken')
  await waitFor(async () => (await figuresOf(id)).lastSuccessAt !== null, { what: 'the success' })
  const { lastFailure, lastSuccessAt } = await figuresOf(id)
  expect(lastSuccessAt).toBeGreaterThan(lastFailure?.at ?? Number.POSITIVE_INFINITY)
})

test('the time to drain counts attempts that fail, and is unknown where all do', async () => {
  const set = { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 10 } } }
  const { id } = await fixture.subscribe('flaky', set)
  const sender = createFakeSender()
  let failsAll = true
  sender.answer = (_, n) => (failsAll || n % 2 === 0 ? 503 : 200)
  await fixture.startWorker(sender)
  await fixture.publishAll(Array.from({ length: 60 }, (_, i) => `m${i}`))
  await waitFor(async () => (await figuresOf(id)).lately.attempts >= 2, { what: 'attempts to be noted' })
  expect(drainOf(await figuresOf(id), { paused: false, now: Date.now() })).toEqual({
    seconds: null,
    unknown: 'nothingSucceeds',
  })
  failsAll = false
  await waitFor(async () => (await figuresOf(id)).lately.successes >= 2, { what: 'successes to be noted' })
  const figures = await figuresOf(id)
  const { seconds } = drainOf(figures, { paused: false, now: Date.now() })
  expect(figures.waiting).toBeGreaterThan(0)
  // At the rate of the throttle alone, the waiting deliveries would take this long.
  expect(seconds).toBeGreaterThan(figures.waiting / 10)
  expect(sender.sent.every(({ url }) => url === urlOf('flaky'))).toBe(true)
})
