import { topicArn } from '@fantail/contracts'
import { fifoKey, logKey, skewKey } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import {
  deliveryId,
  FifoLog,
  FifoReading,
  fifoLogFigures,
  Lanes,
  messageKey,
  ReplicaAcks,
  shardBase,
  shardOf,
  Topics,
  WAKE_LANES,
} from '../index.ts'
import { BUSY_SHARDS, dueKey, topicBytesKey } from '../keys/keys.ts'
import { readMessage } from '../records/message-bodies.ts'
import { FIFO_ARN, fifoMessage, makeFifoTopic } from './fifo.fixture.ts'

const SHARD = shardOf(FIFO_ARN)
const BASE = shardBase(SHARD)
const WINDOW_MS = 300_000

const { redis } = await useRedis()
const log = new FifoLog(redis)
beforeEach(() => redis.flushall())

/** Texts in the topic's log, oldest first. */
async function textsInLog(uid: string): Promise<string[]> {
  const entries = await redis.lrangeBuffer(logKey(BASE, uid), 0, -1)
  const bodies = await Promise.all(
    entries.map((entry) => redis.hget(messageKey(BASE, entry.subarray(0, 16)), 'b')),
  )
  return bodies.map((body) => JSON.parse(body ?? 'null').message)
}

test('stores a batch in its order, numbered in 20 rising digits, each message with its number', async () => {
  const { uid } = await makeFifoTopic(redis)
  const messages = ['x', 'y', 'z'].map((text) => fifoMessage(text))
  const receipts = await log.publish(FIFO_ARN, messages)
  expect(receipts.map(({ messageId }) => messageId)).toEqual(messages.map(({ messageId }) => messageId))
  expect(receipts.map(({ duplicate }) => duplicate)).toEqual([false, false, false])
  const numbers = receipts.map(({ sequenceNumber }) => sequenceNumber)
  for (const number of numbers) expect(number).toMatch(/^\d{20}$/)
  expect(numbers).toEqual(numbers.toSorted())
  expect(new Set(numbers).size).toBe(3)
  expect(await textsInLog(uid)).toEqual(['x', 'y', 'z'])
  const body = await redis.hget(messageKey(BASE, deliveryId(messages[1]?.messageId ?? '')), 'b')
  expect(readMessage(body ?? '')).toEqual({ ...messages[1], sequenceNumber: numbers[1] })
})

test('sequence numbers go on rising where Redis has forgotten the last', async () => {
  const { uid } = await makeFifoTopic(redis)
  const [before] = await log.publish(FIFO_ARN, [fifoMessage('x')])
  await redis.del(fifoKey(BASE, uid))
  await redis.set(skewKey(BASE), 5)
  const [after] = await log.publish(FIFO_ARN, [fifoMessage('y')])
  expect(Number(after?.sequenceNumber.slice(1))).toBeGreaterThan(Number(before?.sequenceNumber.slice(1)))
})

test('[132] a duplicate within 5 minutes gets the first receipt and stores nothing', async () => {
  const { uid } = await makeFifoTopic(redis)
  const [first] = await log.publish(FIFO_ARN, [fifoMessage('x', 'a', { deduplicationId: 'd' })])
  await redis.set(skewKey(BASE), WINDOW_MS - 2_000)
  const again = await log.publish(FIFO_ARN, [fifoMessage('other text', 'b', { deduplicationId: 'd' })])
  expect(again).toEqual([{ ...first, duplicate: true }])
  expect(await textsInLog(uid)).toEqual(['x'])
  await redis.set(skewKey(BASE), WINDOW_MS + 1_000)
  const [later] = await log.publish(FIFO_ARN, [fifoMessage('x', 'a', { deduplicationId: 'd' })])
  expect(later).toMatchObject({ duplicate: false })
  expect(await textsInLog(uid)).toEqual(['x', 'x'])
})

test('[132] copies within one batch are one message', async () => {
  const { uid } = await makeFifoTopic(redis)
  const same = { deduplicationId: 'd' }
  const messages = [fifoMessage('x', 'a', same), fifoMessage('y'), fifoMessage('z', 'a', same)]
  const [first, second, third] = await log.publish(FIFO_ARN, messages)
  expect(third).toEqual({ ...first, duplicate: true })
  expect(second?.duplicate).toBe(false)
  expect(await textsInLog(uid)).toEqual(['x', 'y'])
})

test('with FifoThroughputScope MessageGroup the same id in two groups is two messages', async () => {
  const { uid } = await makeFifoTopic(redis, { fifoThroughputScope: 'MessageGroup' })
  const same = { deduplicationId: 'd' }
  const messages = ['a', 'b', 'a'].map((group, i) => fifoMessage(`${i}`, group, same))
  const receipts = await log.publish(FIFO_ARN, messages)
  expect(receipts.map(({ duplicate }) => duplicate)).toEqual([false, false, true])
  expect(await textsInLog(uid)).toEqual(['0', '1'])
})

test('a single one of many simultaneous copies is stored, and all get its receipt', async () => {
  const { uid } = await makeFifoTopic(redis)
  const receipts = await Promise.all(
    Array.from({ length: 30 }, () =>
      log.publish(FIFO_ARN, [fifoMessage('x', 'a', { deduplicationId: 'd' })]),
    ),
  )
  expect(new Set(receipts.map(([receipt]) => receipt?.messageId)).size).toBe(1)
  expect(await textsInLog(uid)).toEqual(['x'])
})

test('an idempotency key is used once: the same request gets the same receipts, another is refused', async () => {
  const { uid } = await makeFifoTopic(redis)
  const publish = (hash: string, ...texts: string[]) =>
    log.publishOnce(
      FIFO_ARN,
      texts.map((text) => fifoMessage(text)),
      { key: 'k', hash },
    )
  const first = await publish('h1', 'x', 'y')
  expect(first.replayed).toBe(false)
  const again = await publish('h1', 'x', 'y')
  expect(again.replayed).toBe(true)
  expect(again.receipts).toEqual(first.receipts.map((receipt) => ({ ...receipt, duplicate: true })))
  await expect(publish('h2', 'z')).rejects.toMatchObject({ code: 'idempotency_mismatch' })
  expect(await textsInLog(uid)).toEqual(['x', 'y'])
})

test('a topic that is not there or not FIFO takes nothing', async () => {
  await expect(log.publish(FIFO_ARN, [fifoMessage('x')])).rejects.toMatchObject({ code: 'not_found' })
  const standard = 'arn:aws:sns:us-east-1:000000000000:orders'
  await new Topics(redis).put(standard, {})
  await expect(log.publish(standard, [fifoMessage('x')])).rejects.toMatchObject({ code: 'conflict' })
  await expect(
    log.publish(FIFO_ARN, [fifoMessage('x', undefined, { deduplicationId: undefined })]),
  ).rejects.toThrow('without group or deduplication id')
  expect(await redis.keys('*:log:*')).toEqual([])
})

test('counts what it stores for the topic, and wakes the workers of a topic that nobody reads', async () => {
  const { uid } = await makeFifoTopic(redis)
  const listener = redis.duplicate()
  await listener.subscribe(WAKE_LANES)
  const wakes: string[] = []
  listener.on('message', (_, text) => wakes.push(text))
  await log.publish(FIFO_ARN, [fifoMessage('x')])
  await log.publish(FIFO_ARN, [fifoMessage('y')])
  expect(Number(await redis.hget(topicBytesKey(BASE), uid))).toBeGreaterThan(2 * (150 + 150))
  const [member, dueAt] = await redis.zrange(dueKey(BASE), '0', '0', 'WITHSCORES')
  expect(member).toBe(`log:${uid}`)
  await expect.poll(() => wakes).toEqual([`${SHARD}:${dueAt}`])
  expect(await redis.hgetall(BUSY_SHARDS)).toEqual({ [SHARD]: dueAt })
  listener.disconnect()
})

test('full memory refuses a publish whole; a lost connection leaves it unknown; too few replicas say so', async () => {
  const { uid } = await makeFifoTopic(redis)
  await redis.config('SET', 'maxmemory', '1')
  const full = await log.publish(FIFO_ARN, [fifoMessage('x')]).catch((error: unknown) => error)
  await redis.config('SET', 'maxmemory', '0')
  expect(full).toMatchObject({ code: 'storage_full' })
  expect(await textsInLog(uid)).toEqual([])
  const replicated = new FifoLog(redis, { acks: new ReplicaAcks(redis, { minReplicas: 1, strict: true }) })
  await expect(replicated.publish(FIFO_ARN, [fifoMessage('y')])).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringContaining('may be lost in a failover'),
  })
  expect(await textsInLog(uid)).toEqual(['y'])
  const broken = redis.duplicate({ enableOfflineQueue: false, maxRetriesPerRequest: 0, lazyConnect: true })
  const unknown = expect(new FifoLog(broken).publish(FIFO_ARN, [fifoMessage('z')])).rejects
  await unknown.toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringContaining('may or may not be stored'),
  })
  broken.disconnect()
})

test('counts each log’s messages, with the time of the first publish, until it is read', async () => {
  const other = topicArn('other.fifo')
  const log = new FifoLog(redis)
  await makeFifoTopic(redis)
  await makeFifoTopic(redis, {}, other)
  expect(await fifoLogFigures(redis)).toEqual([])
  const messages = ['x', 'y', 'z'].map((text) => fifoMessage(text))
  await log.publish(FIFO_ARN, messages)
  const [first] = [fifoMessage('first', 'a', { topicArn: other })]
  await log.publish(other, [first])
  const figures = await fifoLogFigures(redis)
  expect(new Set(figures)).toEqual(
    new Set([
      { topicArn: FIFO_ARN, messages: 3, oldestPublishedAt: messages[0]?.publishedAt },
      { topicArn: other, messages: 1, oldestPublishedAt: first.publishedAt },
    ]),
  )
  await readAll(FIFO_ARN)
  expect((await fifoLogFigures(redis)).map(({ topicArn }) => topicArn)).toEqual([other])
})

/** Reads the whole log of a topic without subscriptions, as a worker does. */
async function readAll(arn: string): Promise<void> {
  const limits = new Map<string, number>()
  const request = { lanesMax: 10, logsMax: 10, deliveriesMax: 10, leaseMs: 1_000, limits }
  const { logs } = await new Lanes(redis).take(shardOf(arn), request)
  const [claim] = logs
  if (!claim) throw new Error('the log was not due')
  const reading = new FifoReading(redis)
  const found = await reading.read(shardOf(arn), claim)
  const entries = found.kind === 'moved' ? found.entries : []
  // While the log is claimed, its messages still count.
  expect((await fifoLogFigures(redis)).map(({ topicArn }) => topicArn)).toContain(arn)
  await reading.move(shardOf(arn), claim, {
    subscriptions: [],
    messages: entries.map(({ id }) => ({ id, to: [] })),
  })
}
