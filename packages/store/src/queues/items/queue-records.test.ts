import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { connect, Queues, QueueWaits, queueFigures, whenReady } from '../../index.ts'
import type { QueueUse } from './queue-records.ts'

const ARN = 'arn:aws:sqs:us-east-1:000000000000:'
const [WORK, DEAD, FIFO] = [`${ARN}work`, `${ARN}dead`, `${ARN}work.fifo`]

let queues: Queues
let counted: [string, string, unknown][]
const { server, redis } = await useRedis({ connect })
beforeEach(async () => {
  await redis.flushall()
  counted = []
  queues = new Queues(redis, { use })
})

const note = (what: string) => (arn: string, value?: unknown) =>
  void counted.push([what, arn.slice(ARN.length), value])
const use: QueueUse = {
  sent: note('sent'),
  deduplicated: note('deduplicated'),
  received: note('received'),
  emptyReceive: note('empty'),
  deleted: note('deleted'),
}

test('sends are counted with their sizes, receives and deletions by message, empty receives by call', async () => {
  await queues.put(WORK, {})
  await queues.send(WORK, [
    { body: 'grüße' },
    { body: 'x', attributes: { n: { type: 'Number', value: '12' } } },
  ])
  const messages = await queues.receive(WORK, { maxMessages: 10 })
  const handles = messages.map(({ receiptHandle = '' }) => receiptHandle)
  await queues.ack(WORK, [...handles, 'nonsense'])
  await queues.receive(WORK, { maxMessages: 10 })
  await expect(queues.send(`${ARN}missing`, [{ body: 'x' }])).rejects.toThrow()
  expect(counted).toEqual([
    ['sent', 'work', [7, 10]],
    ['received', 'work', 2],
    ['deleted', 'work', 2],
    ['empty', 'work', undefined],
  ])
})

test('[201] an appended dead letter counts as sent, what maxReceiveCount moves does not', async () => {
  await queues.put(DEAD, {})
  const redrivePolicy = { deadLetterTargetArn: DEAD, maxReceiveCount: 1 }
  await queues.put(WORK, { redrivePolicy, visibilityTimeoutSeconds: 0 })
  await queues.send(WORK, [{ body: 'poison' }])
  await queues.receive(WORK, { maxMessages: 1 })
  await queues.receive(WORK, { maxMessages: 1 })
  expect((await queues.getWithCounts(DEAD))?.counts.visible).toBe(1)
  expect(counted.filter(([what]) => what === 'sent')).toEqual([['sent', 'work', [6]]])
})

test('duplicates in a FIFO queue are counted apart; a repeated append by its id is not counted', async () => {
  await queues.put(FIFO, {})
  await queues.put(WORK, {})
  const item = { body: 'x', groupId: 'g', deduplicationId: 'd' }
  await queues.send(FIFO, [item, { ...item, deduplicationId: 'e' }])
  await queues.send(FIFO, [item])
  const given = { id: '0192f000-0000-8000-8000-000000000000', body: 'x' }
  await queues.send(WORK, [given])
  await queues.send(WORK, [given])
  expect(counted).toEqual([
    ['sent', 'work.fifo', [1, 1]],
    ['deduplicated', 'work.fifo', 1],
    ['sent', 'work', [1]],
  ])
})

test('a long poll without an answer is one empty receive', async () => {
  await queues.put(WORK, {})
  const subscriber = connect({ url: server.url, name: 'test-wakes', commandTimeoutMs: null })
  await whenReady(subscriber)
  const waits = new QueueWaits({ queues, subscriber, use })
  await waits.receiveWaiting(WORK, { maxMessages: 1, waitSeconds: 1 })
  await waits.receiveWaiting(WORK, { maxMessages: 1, waitSeconds: 0 })
  await queues.send(WORK, [{ body: 'x' }])
  await waits.receiveWaiting(WORK, { maxMessages: 1, waitSeconds: 1 })
  expect(counted.map(([what]) => what)).toEqual(['empty', 'empty', 'sent', 'received'])
  waits.close()
  subscriber.disconnect()
})

test('figures are of the first queues by name', async () => {
  for (const name of ['c', 'a', 'b.fifo']) await queues.put(ARN + name, {})
  await queues.send(`${ARN}a`, [{ body: 'x' }, { body: 'y', delaySeconds: 60 }])
  await queues.send(`${ARN}b.fifo`, [{ body: 'x', groupId: 'g', deduplicationId: 'd' }])
  await queues.receive(`${ARN}b.fifo`, { maxMessages: 1 })
  const figures = await queueFigures(redis, queues, 2)
  expect(figures.map(({ queue, counts }) => [queue.name, counts])).toEqual([
    ['a', { visible: 1, inFlight: 0, delayed: 1 }],
    ['b.fifo', { visible: 0, inFlight: 1, delayed: 0, groupsInFlight: 1 }],
  ])
})
