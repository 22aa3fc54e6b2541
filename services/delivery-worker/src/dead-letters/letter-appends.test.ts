import { topicQueueArns } from '@fantail/store'
import { createMetrics } from '@fantail/telemetry'
import { waitFor } from '@fantail/test-kit'
import { beforeEach, expect, test } from 'vitest'
import {
  createFakeSender,
  type FakeSender,
  TOPIC,
  telemetryWith,
  useFixture,
} from '../fixtures/worker.fixture.ts'

const [OWN = '', NEXT = ''] = topicQueueArns(TOPIC)
const NATIVE = { origin: 'native', deadLetters: 'topicQueue' } as const
const fixture = await useFixture()
let sender: FakeSender
beforeEach(() => {
  sender = createFakeSender()
  sender.answer = () => 400
})

const letters = async (arn: string) => {
  if ((await fixture.queues.get(arn)) === null) return null
  return (await fixture.queues.peek(arn, { limit: 100 })).items
}

test('a failure without a redrive policy is in the queue of its topic, which it makes', async () => {
  const { arn } = await fixture.subscribe('gone', NATIVE)
  const metrics = createMetrics()
  await fixture.startWorker(sender, { telemetry: telemetryWith(metrics) })
  const messageId = await fixture.publish('kept')
  const [letter] = await waitFor(async () => letters(OWN), { what: 'the letter' })
  expect(letter).toMatchObject({
    body: 'kept',
    deadLetter: { reason: 'permanent', subscriptionArn: arn, topicArn: TOPIC, messageId },
  })
  await waitFor(async () => {
    const [row] = (await fixture.outcomes.deliveries(messageId)) ?? []
    return row?.state === 'deadLettered'
  })
  expect(await fixture.counts.read()).toEqual({ deadLettered: 1 })
  expect(metrics.queueSent.of({ QueueName: 'orders-dead-letters' }).value).toBe(1)
})

test('somebody’s queue of that name stays as it is, whatever fails', async () => {
  await fixture.queues.put(OWN, {})
  await fixture.subscribe('gone', NATIVE)
  await fixture.startWorker(sender)
  await fixture.publish('kept')
  await waitFor(async () => letters(NEXT), { what: 'the letter' })
  expect(await letters(OWN)).toEqual([])
})

test('past the share of memory the oldest letters go, and are counted as discarded', async () => {
  await fixture.subscribe('gone', NATIVE)
  const metrics = createMetrics()
  const telemetry = telemetryWith(metrics)
  const redisMemoryBytes = 104_857_600
  await fixture.startWorker(sender, {
    telemetry,
    redisMemoryBytes,
    letterShares: { perQueue: 0.0002, together: 0.2 },
  })
  const texts = Array.from({ length: 40 }, (_, n) => `${n}`.padEnd(1_000, 'x'))
  const published: string[] = []
  for (const text of texts) published.push(await fixture.publish(text))
  await waitFor(async () => (await fixture.counts.read()).deadLettered === 40, { what: 'every letter' })
  const kept = new Set(((await letters(OWN)) ?? []).map(({ deadLetter }) => deadLetter?.messageId))
  const left = kept.size
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThan(10)
  expect(await fixture.counts.read()).toEqual({ deadLettered: 40, 'discarded:deadLetterQuota': 40 - left })
  const { value } = metrics.deliveriesDiscarded.of({ topic: 'orders', cause: 'deadLetterQuota' })
  expect(value).toBe(40 - left)
  const end = {
    state: 'discarded',
    reason: 'deadLetterQuota',
    cause: 'deadLetterQuota',
    lastStatusCode: 400,
  }
  for (const messageId of published.filter((id) => !kept.has(id))) {
    const row = async () => (await fixture.outcomes.deliveries(messageId))?.[0]
    await waitFor(async () => (await row())?.state === 'discarded', { what: 'the end of a removed letter' })
    expect(await row()).toMatchObject(end)
  }
})
