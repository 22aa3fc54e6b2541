import { shardOf } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { beforeEach, expect, test } from 'vitest'
import { createFakeSender, DLQ, type FakeSender, TOPIC, useFixture } from '../fixtures/worker.fixture.ts'

const fixture = await useFixture()
let sender: FakeSender
let status: number
beforeEach(async () => {
  status = 410
  sender = createFakeSender()
  sender.answer = () => status
  await fixture.queues.put(DLQ, {})
})

/** With this policy a single counted failure would dead-letter. */
const NATIVE = {
  origin: 'native',
  redrivePolicy: { deadLetterTargetArn: DLQ },
  deliveryPolicy: { healthyRetryPolicy: { numRetries: 0, minDelayTarget: 1, maxDelayTarget: 1 } },
} as const

const shard = shardOf(TOPIC)
const figuresOf = async (id: string) => (await fixture.lanes.figures([{ subscriptionId: id, shard }]))[0]
const rowsOf = async (messageIds: string[]) =>
  (await Promise.all(messageIds.map((id) => fixture.outcomes.deliveries(id)))).flatMap((rows) => rows ?? [])
const resume = (id: string) =>
  fixture.subscriptions.update(id, ({ resumes = 0 }) => ({
    status: 'active',
    pausedBecause: null,
    resumes: resumes + 1,
  }))
const whenPaused = (id: string) =>
  waitFor(async () => (await fixture.subscriptions.get(id))?.pausedBecause === 'gone', { what: 'the pause' })
const whenWaiting = (id: string, count: number) =>
  waitFor(
    async () => {
      const lane = await figuresOf(id)
      return lane?.waiting === count && lane.inFlight === 0
    },
    { what: `${count} deliveries to wait` },
  )

test.each([
  ['plain', {}],
  ['with a circuit breaker', { circuitBreaker: { failures: 1, probeSeconds: 60 } }],
  ['with a retry mode', { retryMode: 'adaptive' }],
  ['with a throttle', { throttle: { maxReceivesPerSecond: 1_000 } }],
] as const)(
  'a 410 pauses a subscription %s, which loses nothing and begins again with one probe',
  async (_what, set) => {
    const { throttle, ...rest } = { throttle: undefined, ...set }
    const deliveryPolicy = { ...NATIVE.deliveryPolicy, ...(throttle && { throttlePolicy: throttle }) }
    const { id } = await fixture.subscribe('a', { ...NATIVE, ...rest, deliveryPolicy })
    await fixture.startWorker(sender)
    const messageIds = await fixture.publishAll(['one', 'two', 'three', 'four', 'five', 'six'])
    await whenPaused(id)
    await whenWaiting(id, 6)
    const allSay = async () => {
      const rows = await rowsOf(messageIds)
      return rows.length === 6 && rows.every(({ cause }) => cause === 'gone') && rows
    }
    expect(await waitFor(allSay, { what: 'every delivery to say so' })).toMatchObject(
      Array(6).fill({ state: 'waiting', attempts: 0, nextAttemptAt: null }),
    )

    const before = sender.sent.length
    await resume(id)
    await whenPaused(id)
    await whenWaiting(id, 6)
    expect(sender.sent.length - before).toBe(1)

    status = 200
    await resume(id)
    await waitFor(async () => (await rowsOf(messageIds)).every(({ state }) => state === 'delivered'), {
      what: 'all to be delivered',
    })
    expect(await rowsOf(messageIds)).toMatchObject(Array(6).fill({ attempts: 1 }))
    expect(await fixture.subscriptions.get(id)).toMatchObject({ status: 'active' })
    expect(await figuresOf(id)).toMatchObject({ waiting: 0, isBlocked: false })
    expect((await fixture.queues.peek(DLQ, { limit: 1 })).items).toEqual([])
  },
)

test.each([
  ['that an AWS protocol made', { origin: undefined }],
  ['whose setting says so', { onGone: 'deadLetter' }],
] as const)('a 410 of a subscription %s is a dead letter', async (_what, set) => {
  const { origin, ...native } = NATIVE
  const { id } = await fixture.subscribe('a', { ...native, ...('origin' in set ? {} : { origin, ...set }) })
  await fixture.startWorker(sender)
  const [messageId = ''] = await fixture.publishAll(['one'])
  await waitFor(async () => (await rowsOf([messageId]))[0]?.state === 'deadLettered', {
    what: 'the dead letter',
  })
  expect(await fixture.subscriptions.get(id)).toMatchObject({ status: 'active' })
})

test('an attempt that began before its subscription got another endpoint pauses nothing', async () => {
  const { id, endpoint } = await fixture.subscribe('a', NATIVE)
  const answer = Promise.withResolvers<number>()
  sender.answer = (url) => (url === endpoint ? answer.promise : 200)
  await fixture.startWorker(sender)
  const [messageId = ''] = await fixture.publishAll(['one'])
  await waitFor(() => sender.sent.length === 1, { what: 'the attempt' })
  await fixture.subscriptions.move(id, () => ({ endpoint: `${endpoint}/new` }))
  answer.resolve(410)
  await waitFor(async () => (await rowsOf([messageId]))[0]?.state === 'delivered', { what: 'the delivery' })
  expect(await fixture.subscriptions.get(id)).toMatchObject({ status: 'active' })
})

test('an attempt that began before its subscription was resumed pauses nothing', async () => {
  const { id } = await fixture.subscribe('a', NATIVE)
  const answer = Promise.withResolvers<number>()
  sender.answer = () => (sender.sent.length === 1 ? answer.promise : 200)
  await fixture.startWorker(sender)
  const [messageId = ''] = await fixture.publishAll(['one'])
  await waitFor(() => sender.sent.length === 1, { what: 'the attempt' })
  await fixture.subscriptions.update(id, () => ({ status: 'paused', pausedBecause: 'gone' }))
  await resume(id)
  answer.resolve(410)
  await waitFor(async () => (await rowsOf([messageId]))[0]?.state === 'delivered', { what: 'the delivery' })
  expect(await fixture.subscriptions.get(id)).toMatchObject({ status: 'active' })
})
