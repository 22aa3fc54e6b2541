/** Checks how many messages a consumer requests from its queue, depending on the results of its batches. */
import type { ConsumerRecord, QueueMessage } from '@fantail/contracts'
import { createLogger } from '@fantail/runtime'
import type { Received } from '@fantail/store'
import { createMetrics, NO_SPANS } from '@fantail/telemetry'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { ConsumerShares } from './consumer-shares.ts'
import { createConsumerMetrics } from './push-batch.ts'
import { PushCapacity } from './push-capacity.ts'
import { PushConsumer } from './push-consumer.ts'

const RECORD: ConsumerRecord = {
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

test('while our own configuration keeps requests back, a probe takes one message and not a batch', async () => {
  const asked: number[] = []
  const metrics = createMetrics()
  const log = createLogger({ service: 'test', level: 'silent' })
  const queues = {
    ack: () => Promise.reject(new Error('nothing is done')),
    receiveOnce: async (_: string, { maxMessages = 0 }: { maxMessages?: number }) => {
      asked.push(maxMessages)
      const message = { ...MESSAGE, firstReceivedAt: 0 } as QueueMessage
      return { messages: [message], nextVisibleInMs: null } as unknown as Received
    },
  }
  const consumer = new PushConsumer(
    {
      tools: {
        queues,
        sender: { send: () => undefined },
        functions: undefined,
        vault: undefined,
        metrics: createConsumerMetrics(metrics),
        spans: NO_SPANS,
        log,
      },
      queues,
      capacity: new PushCapacity(),
      shares: new ConsumerShares({ consumers: { keep: async () => [] }, log }),
      reportStorage: () => undefined,
      onChanged: () => undefined,
    },
    { ...RECORD, concurrency: 1 },
  )
  consumer.look()
  const returned = metrics.consumerMessages.of({ queue: 'jobs', consumer: 'worker', result: 'returned' })
  await waitFor(() => returned.value === 1 && consumer.batches === 0)
  // A changed record is tried at once.
  consumer.configure({ ...RECORD, concurrency: 1, revision: '2' })
  await waitFor(() => asked.length === 2)
  consumer.close()
  await consumer.whenIdle()
  expect(asked).toEqual([10, 1])
})
