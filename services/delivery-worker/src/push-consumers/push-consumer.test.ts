/** Checks how many messages a consumer requests from its queue, depending on the results of its batches. */
import type { PushConsumerRecord, QueueMessage } from '@fantail/contracts'
import { createLogger } from '@fantail/runtime'
import { type Received, SealKeyError } from '@fantail/store'
import { createMetrics, NO_SPANS } from '@fantail/telemetry'
import { waitFor } from '@fantail/test-kit'
import { afterEach, expect, test, vi } from 'vitest'
import { collectBatch } from './collect-batch.ts'
import { createPushConsumerMetrics } from './push-batch.ts'
import { PushCapacity } from './push-capacity.ts'
import { PushConsumer } from './push-consumer.ts'
import { PushLeases } from './push-leases.ts'

afterEach(() => void vi.useRealTimers())

const RECORD: PushConsumerRecord = {
  name: 'worker',
  queueArn: 'arn:aws:sqs:us-east-1:000000000000:jobs',
  url: 'arn:aws:lambda:us-east-1:000000000000:function:worker',
  batchSize: 10,
  batchWindowSeconds: 0,
  concurrency: 4,
  timeoutSeconds: 7,
  enabled: true,
  reportBatchItemFailures: false,
  revision: '1',
  createdAt: 0,
  modifiedAt: 0,
}
const MESSAGE = { messageId: 'm', receiptHandle: 'h', receiveCount: 1, body: '', attributes: {}, sentAt: 0 }
const ITEM = { ...MESSAGE, firstReceivedAt: 0 } as QueueMessage

interface Queue {
  receiveOnce(arn: string, request: { maxMessages?: number }): Promise<Received>
}

/** A consumer of the queue. Without functions, its configuration keeps requests back. */
function consumerOf({ receiveOnce }: Queue, set: Partial<PushConsumerRecord>) {
  const storage: string[] = []
  const metrics = createMetrics()
  const log = createLogger({ service: 'test', level: 'silent' })
  const answer = { kind: 'response', statusCode: 200, durationMs: 1 } as const
  const queues = { ack: async (_: string, handles: string[]) => handles.map(() => OK), receiveOnce }
  const leases = new PushLeases({ consumers: { keep: async () => [] }, log })
  const consumer = new PushConsumer(
    {
      tools: {
        queues,
        sender: { send: (_, done) => done(answer) },
        functions: undefined,
        vault: undefined,
        metrics: createPushConsumerMetrics(metrics),
        spans: NO_SPANS,
        log,
      },
      queues,
      capacity: new PushCapacity(),
      leases,
      reportStorage: (state) => void storage.push(state),
      onChanged: () => undefined,
    },
    { ...RECORD, ...set },
  )
  const counted = (result: string) =>
    metrics.pushConsumerMessages.of({ queue: 'jobs', consumer: 'worker', result }).value
  return { consumer, counted, leases, storage }
}
const OK = { ok: true } as const

test('while our own configuration keeps requests back, a probe takes one message and not a batch', async () => {
  const asked: number[] = []
  const receiveOnce: Queue['receiveOnce'] = async (_, { maxMessages = 0 }) => {
    asked.push(maxMessages)
    return { messages: [ITEM], nextVisibleInMs: null, overLimit: false }
  }
  const { consumer, counted } = consumerOf({ receiveOnce }, { concurrency: 1 })
  consumer.poll()
  await waitFor(() => counted('returned') === 1 && consumer.batches === 0)
  // A changed record is tried at once.
  consumer.configure({ ...RECORD, concurrency: 1, revision: '2' })
  await waitFor(() => asked.length === 2)
  consumer.close()
  await consumer.whenIdle()
  expect(asked).toEqual([10, 1])
})

test('after a receive of locked messages the consumer gives its lease back and pauses', async () => {
  let receives = 0
  const receiveOnce: Queue['receiveOnce'] = async () => {
    receives += 1
    throw new SealKeyError('there is no key')
  }
  const { consumer, leases, storage } = consumerOf({ receiveOnce }, {})
  consumer.poll()
  await consumer.whenIdle()
  expect(leases.endedOf(RECORD.queueArn, RECORD.name)).toHaveLength(1)
  consumer.wake()
  expect([receives, storage]).toEqual([1, ['up']])
  consumer.close()
  await leases.stop()
})

/** A queue whose receives wait for the test's answers. Each message is a batch. */
function slowQueue(concurrency: number) {
  const open: PromiseWithResolvers<Received>[] = []
  const receiveOnce = () => {
    expect(consumer.batches).toBeLessThanOrEqual(concurrency)
    const receive = Promise.withResolvers<Received>()
    open.push(receive)
    return receive.promise
  }
  const { consumer, counted } = consumerOf(
    { receiveOnce },
    { url: 'http://hook.example/', batchSize: 1, concurrency },
  )
  const answer = (body: string | null, nextVisibleInMs: number | null) => {
    const messages = body === null ? [] : [{ ...ITEM, body }]
    open.shift()?.resolve({ messages, nextVisibleInMs, overLimit: false })
  }
  /** Waits until all pushes have ended, and these receives are under way. */
  const openAre = (count: number) => waitFor(() => open.length === count && consumer.batches === count)
  /** Returns how many receives find nothing until none is under way. */
  const runDry = async () => {
    let receives = 0
    while (consumer.isBusy) {
      await waitFor(() => open.length > 0 || !consumer.isBusy)
      if (open.length > 0) receives += 1
      answer(null, null)
      await Promise.resolve()
    }
    return receives
  }
  return { consumer, counted, answer, openAre, runDry }
}

test('receives run side by side only while more messages wait', async () => {
  const { consumer, counted, answer, openAre, runDry } = slowQueue(100)
  consumer.poll()
  await openAre(1)
  for (const next of [2, 4, 8, 8]) {
    answer('x', 0)
    await openAre(next)
  }
  answer('x', null)
  await openAre(7)
  // One receive begins after the last batch has ended, and gives its lease back.
  expect(await runDry()).toBe(8)
  expect(counted('deleted')).toBe(5)
})

test('receives side by side keep the concurrency, and one follows a wake that came meanwhile', async () => {
  const { consumer, answer, openAre, runDry } = slowQueue(2)
  consumer.poll()
  answer('x', 0)
  await openAre(2)
  consumer.wake()
  expect(await runDry()).toBe(3)
})

test('receives side by side bring about as much as one large batch', async () => {
  const { consumer, answer, openAre, runDry } = slowQueue(100)
  consumer.poll()
  for (const bytes of [1_500_000, 1_500_000, 5_000_000]) {
    answer('x'.repeat(bytes), 0)
    await openAre(bytes > 4_000_000 ? 1 : 2)
  }
  expect(await runDry()).toBe(2)
})

test('a batch behind a distant Redis is sent before it is full, so that its messages stay hidden', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const receiveOnce: Queue['receiveOnce'] = async (_, { maxMessages = 0 }) => {
    vi.advanceTimersByTime(500)
    return { messages: Array(maxMessages).fill(ITEM), nextVisibleInMs: 0, overLimit: false }
  }
  const from = performance.now()
  const asked = { record: { ...RECORD, batchSize: 1_000 }, batch: 'b', ended: [] }
  const { messages, hiddenUntil } = await collectBatch({ receiveOnce }, asked)
  expect([messages.length, hiddenUntil - from]).toEqual([110, 12_000])
})
