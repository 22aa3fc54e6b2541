/** Tests deliveries whose attempts the service's own configuration prevents. */
import type { AttemptResult } from '@fantail/contracts'
import { createHttpSender } from '@fantail/delivery'
import { createLogger } from '@fantail/runtime'
import { shardOf } from '@fantail/store'
import { createMetrics } from '@fantail/telemetry'
import { startReceiver, waitFor } from '@fantail/test-kit'
import { beforeEach, expect, test } from 'vitest'
import {
  createFakeSender,
  DLQ,
  type FakeSender,
  TOPIC,
  telemetryWith,
  useFixture,
} from '../fixtures/worker.fixture.ts'

const NAME = 'smtp:mail.example:25'
const PROBE_MS = 250
const PROBES = 5
/** Longer than a test. */
const NEVER_MS = 600_000
const fixture = await useFixture()
let sender: FakeSender
let works: boolean
beforeEach(async () => {
  works = false
  sender = createFakeSender()
  const refused: AttemptResult = { kind: 'misconfigured', credential: NAME, detail: '535', durationMs: 1 }
  sender.answer = () => (works ? 200 : refused)
  await fixture.queues.put(DLQ, {})
})

/** With this policy a single failure would dead-letter. */
const STRICT = {
  redrivePolicy: { deadLetterTargetArn: DLQ },
  deliveryPolicy: { healthyRetryPolicy: { numRetries: 0, minDelayTarget: 1, maxDelayTarget: 1 } },
} as const

/**
 * The most probes that Redis allows since this time. The first request may be late, so the time counts from before it.
 */
const probesMax = (since: number) => Math.floor((performance.now() - since) / PROBE_MS) + 1

const figuresOf = async (ids: string[]) =>
  fixture.lanes.figures(ids.map((subscriptionId) => ({ subscriptionId, shard: shardOf(TOPIC) })))
const rowsOf = async (messageIds: string[]) =>
  (await Promise.all(messageIds.map((id) => fixture.outcomes.deliveries(id)))).flatMap((rows) => rows ?? [])

test('a broken credential dead-letters nothing and costs no attempt, and all workers share its probes', async () => {
  const metrics = createMetrics()
  const options = { credentialProbeMs: PROBE_MS, telemetry: telemetryWith(metrics) }
  const lanes = await Promise.all(['a', 'b', 'c'].map((name) => fixture.subscribe(name, STRICT)))
  const ids = lanes.map(({ id }) => id)
  for (let i = 0; i < 2; i++) await fixture.startWorker(sender, options)
  const publishedAt = performance.now()
  const messageIds = await fixture.publishAll(['one', 'two', 'three', 'four'])
  await waitFor(
    async () => (await figuresOf(ids)).every(({ isBlocked, waiting }) => isBlocked && waiting === 4),
    {
      what: 'all lanes to be blocked',
    },
  )
  const allWait = async () => {
    const rows = await rowsOf(messageIds)
    return rows.every((row) => row.cause === 'misconfigured' && row.state === 'waiting') && rows
  }
  // This is the state between two probes. During a probe, its row is in flight.
  expect(await waitFor(allWait, { what: 'every delivery to say so' })).toMatchObject(
    Array(12).fill({ state: 'waiting', attempts: 0, lastError: 'misconfigured' }),
  )
  const before = sender.sent.length
  await waitFor(() => sender.sent.length >= before + PROBES, { what: 'some probes' })
  // Three lanes and two workers together make one probe at a time.
  expect(sender.sent.length - before).toBeLessThanOrEqual(probesMax(publishedAt))
  await waitFor(async () =>
    (await figuresOf(ids)).some((lane) => lane.lastFailure?.error === 'misconfigured'),
  )
  expect(metrics.attemptsMisconfigured.of({ credential: NAME }).value).toBeGreaterThanOrEqual(4)

  works = true
  await waitFor(async () => (await rowsOf(messageIds)).every(({ state }) => state === 'delivered'), {
    what: 'all to be delivered',
  })
  expect(await rowsOf(messageIds)).toMatchObject(Array(12).fill({ attempts: 1 }))
  expect(await figuresOf(ids)).toMatchObject(Array(3).fill({ waiting: 0, isBlocked: false }))
  expect((await fixture.queues.peek(DLQ, { limit: 1 })).items).toEqual([])
  expect(await fixture.counts.read()).toEqual({})
})

test('a worker that is restarted with a credential that works goes on', async () => {
  const { id } = await fixture.subscribe('a', STRICT)
  const first = await fixture.startWorker(sender, { credentialProbeMs: PROBE_MS })
  const [messageId = ''] = await fixture.publishAll(['one'])
  await waitFor(async () => (await figuresOf([id]))[0]?.isBlocked, { what: 'the lane to be blocked' })
  await first.stop()
  works = true
  await fixture.startWorker(sender, { credentialProbeMs: PROBE_MS })
  await waitFor(async () => (await rowsOf([messageId]))[0]?.state === 'delivered', { what: 'the delivery' })
})

test('waiting deliveries expire with their topic’s retention, and are dead-lettered as expired', async () => {
  await fixture.topics.put(TOPIC, { retentionSeconds: 1 })
  await fixture.subscribe('a', STRICT)
  await fixture.startWorker(sender, { credentialProbeMs: 1_100 })
  await fixture.publish('one')
  const letters = async () => (await fixture.queues.peek(DLQ, { limit: 10 })).items
  await waitFor(async () => (await letters()).length === 1, { what: 'the letter' })
  expect(await letters()).toMatchObject([{ deadLetter: { reason: 'expired', attempts: 0 } }])
})

test('the next deliveries of a blocked lane are parked without an attempt', async () => {
  const { id } = await fixture.subscribe('a', STRICT)
  await fixture.startWorker(sender, { credentialProbeMs: NEVER_MS })
  await fixture.publish('one')
  await waitFor(async () => (await figuresOf([id]))[0]?.isBlocked, { what: 'the lane to be blocked' })
  const attempts = sender.sent.length
  await fixture.publishAll(['two', 'three'])
  await waitFor(async () => (await figuresOf([id]))[0]?.waiting === 3, { what: 'all to wait' })
  expect(sender.sent).toHaveLength(attempts)
})

test('a delivery that a limit of this service keeps back waits, and costs neither an attempt nor a failure', async () => {
  const { id } = await fixture.subscribe('a', STRICT)
  const metrics = createMetrics()
  const kept: AttemptResult = {
    ...{ kind: 'failure', error: 'service_limit', detail: 'its rate', durationMs: 0, permanent: false },
  }
  sender.answer = (_, n) => (n <= 2 ? kept : 200)
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const log = createLogger({ service: 'test', level: 'info', destination })
  await fixture.startWorker(sender, { telemetry: telemetryWith(metrics), log })
  const [messageId = ''] = await fixture.publishAll(['one'])
  await waitFor(async () => (await rowsOf([messageId]))[0]?.state === 'delivered', { what: 'the delivery' })
  expect(sender.sent).toHaveLength(3)
  expect(await rowsOf([messageId])).toMatchObject([{ attempts: 1, lastStatusCode: 200 }])
  expect((await figuresOf([id]))[0]?.lastFailure).toBeNull()
  expect(metrics.attemptSeconds.of({ result: 'retry' }).counts.some((n) => n > 0)).toBe(false)
  // The subscription has no throttle, so the log names none. The first attempt has no line, because it
  // only parks the delivery.
  const waits = lines.map((line) => JSON.parse(line)).filter(({ decision }) => decision === 'wait')
  expect(waits).toMatchObject([{ error: 'service_limit', cause: 'serviceLimit' }])
})

test('versions of a function share a probe while credentials are expired, and run once each afterwards', async () => {
  const service = await startReceiver()
  const expired = { status: 403, headers: { 'x-amzn-errortype': 'ExpiredTokenException' }, body: '{}' }
  service.respond(
    () => true,
    () => (works ? { status: 202 } : expired),
  )
  const functions = { hello: service.url }
  const endpoints = [1, 2, 3, 4].map((n) => `arn:aws:lambda:us-east-1:000000000000:function:hello:${n}`)
  const redrivePolicy = { deadLetterTargetArn: DLQ }
  const lanes = await Promise.all(
    endpoints.map((endpoint) => fixture.subscribe('', { protocol: 'lambda', endpoint, redrivePolicy })),
  )
  const ids = lanes.map(({ id }) => id)
  const http = createHttpSender({ timeoutMs: 3_000, allowPrivate: true })
  await fixture.startWorker(http, { credentialProbeMs: PROBE_MS, protocolSettings: { functions } })
  const publishedAt = performance.now()
  const messageIds = await fixture.publishAll(['a', 'b'])
  await waitFor(
    async () => (await figuresOf(ids)).every(({ isBlocked, waiting }) => isBlocked && waiting === 2),
    {
      what: 'all lanes to be blocked',
    },
  )
  const before = service.requests.length
  await waitFor(() => service.requests.length >= before + PROBES, { what: 'some probes' })
  expect(service.requests.length - before).toBeLessThanOrEqual(probesMax(publishedAt))
  works = true
  await waitFor(async () => (await rowsOf(messageIds)).every(({ state }) => state === 'delivered'), {
    what: 'all functions to be invoked',
  })
  expect(await rowsOf(messageIds)).toMatchObject(Array(8).fill({ attempts: 1 }))
  expect(service.requests.filter(({ answered }) => answered === 202)).toHaveLength(8)
  await service.close()
})
