import { createMessageId, type Message } from '@fantail/contracts'
import { FifoLog, shardOf } from '@fantail/store'
import { createMetrics } from '@fantail/telemetry'
import { startFairTimer, waitFor } from '@fantail/test-kit'
import { beforeEach, expect, test } from 'vitest'
import {
  createFakeSender,
  DLQ,
  type FakeSender,
  TOPIC,
  telemetryWith,
  useFixture,
} from '../fixtures/worker.fixture.ts'

const FIFO_TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders.fifo'
const fixture = await useFixture()
let sender: FakeSender
beforeEach(() => {
  sender = createFakeSender()
  sender.answer = () => 400
})

const NATIVE = { origin: 'native', redrivePolicy: { deadLetterTargetArn: DLQ } } as const
const letters = async () => (await fixture.queues.peek(DLQ, { limit: 10 })).items.map(({ body }) => body)

async function figuresOf(subscriptionId: string, topicArn = TOPIC) {
  const [figures] = await fixture.lanes.figures([{ subscriptionId, shard: shardOf(topicArn) }])
  return figures
}

test('a native delivery waits for its missing dead-letter queue, and reaches it once the queue is made again', async () => {
  const { id } = await fixture.subscribe('gone', NATIVE)
  const metrics = createMetrics()
  await fixture.startWorker(sender, { telemetry: telemetryWith(metrics) })
  const messageIds = [await fixture.publish('one'), await fixture.publish('two')]
  const rows = () => Promise.all(messageIds.map(async (id) => (await fixture.outcomes.deliveries(id))?.[0]))
  await waitFor(async () => (await rows()).every((row) => row?.cause === 'dlqMissing'), {
    what: 'both to wait',
  })
  const waiting = { state: 'waiting', reason: 'permanent', attempts: 1 }
  expect(await rows()).toMatchObject([waiting, waiting])
  expect(await figuresOf(id)).toMatchObject({ waiting: 2, isDlqMissing: true })
  expect(metrics.deadLetterQueueMissing.of({ topic: 'orders' }).value).toBeGreaterThan(0)
  expect(await fixture.counts.read()).toEqual({})

  const took = startFairTimer(fixture.server.pid())
  await fixture.queues.put(DLQ, {})
  await waitFor(async () => (await letters()).length === 2, { what: 'both letters' })
  // Without the notice about the queue they would be tried again only after two seconds.
  expect(took()).toBeLessThan(1_900)
  expect((await letters()).sort()).toEqual(['one', 'two'])
  await waitFor(async () => (await figuresOf(id))?.waiting === 0, { what: 'the lane to be empty' })
  expect(await figuresOf(id)).toMatchObject({ isDlqMissing: false })
  expect(sender.sent).toHaveLength(2)
})

test('it is discarded and counted once the topic keeps messages no longer', async () => {
  await fixture.topics.put(TOPIC, { retentionSeconds: 1 })
  await fixture.subscribe('gone', NATIVE)
  await fixture.startWorker(sender)
  await fixture.publish('too late')
  await waitFor(async () => (await fixture.counts.read())['discarded:deadLetterQueueMissing'] === 1, {
    what: 'it to be discarded',
  })
})

test('a FIFO group waits with its message for the queue, while other groups go on', async () => {
  const dead = `${DLQ}.fifo`
  await fixture.topics.put(FIFO_TOPIC, {})
  const { id } = await fixture.subscribe('gone', {
    ...NATIVE,
    topicArn: FIFO_TOPIC,
    redrivePolicy: { deadLetterTargetArn: dead },
  })
  sender.answer = (_, n) => (n === 1 ? 400 : 200)
  await fixture.startWorker(sender)
  await publishOrdered('a1', 'a')
  await waitFor(async () => (await figuresOf(id, FIFO_TOPIC))?.isDlqMissing, { what: 'the group to wait' })
  await publishOrdered('a2', 'a')
  await publishOrdered('b1', 'b')
  await waitFor(() => sender.sent.length === 2, { what: 'the other group' })
  expect(sender.sent.map(({ body }) => body)).toEqual(['a1', 'b1'])
  await fixture.queues.put(dead, {})
  await waitFor(() => sender.sent.length === 3, { what: 'the rest of the group' })
  expect(sender.sent.at(-1)?.body).toBe('a2')
  const { items } = await fixture.queues.peek(dead, { limit: 10 })
  expect(items.map(({ body }) => body)).toEqual(['a1'])
})

async function publishOrdered(text: string, groupId: string) {
  const publishedAt = Date.now()
  const messageId = createMessageId(publishedAt)
  const message: Message = {
    messageId,
    topicArn: FIFO_TOPIC,
    publishedAt,
    message: text,
    groupId,
    deduplicationId: text,
  }
  await new FifoLog(fixture.redis).publish(FIFO_TOPIC, [message])
}
