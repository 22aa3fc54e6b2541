import { createMessageId, isFifoName, queueArn, topicArn } from '@fantail/contracts'
import { beforeFirst, waitFor, waitingFirst } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { letterBytesKey, roleKey } from '../../keys/keys.ts'
import { shardBase, shardOf } from '../../keys/shards.ts'
import { deliveryId, parseDeliveryId } from '../../lanes/records/generations.ts'
import { Counts } from '../../outcomes/counts.ts'
import { ReplicaAcks } from '../../redis/replica-acks.ts'
import { Topics } from '../../topics/topics.ts'
import { deadLetterItemId } from '../items/queue-ids.ts'
import { aDeadLetter, aMessage, useQueues } from '../queues.fixture.ts'
import { LetterQuota, type RemovedLetter } from './letter-quota.ts'
import { TopicQueues, topicQueueArns } from './topic-queues.ts'

const PLENTY = 1e9
const SUBSCRIPTION = '6b0c5f0e-27a5-4b0d-9a53-0f3ecb9a1d11'
const fixture = await useQueues()
const { redis, queues } = fixture
const own = new TopicQueues({ acks: new ReplicaAcks(redis) })

let topics = 0
function newTopic(end = '') {
  topics += 1
  return topicArn(`topic-${topics}${end}`)
}

interface Letter {
  text?: string
  id?: string
  /** Names the letter in the same way as workers do. */
  delivery?: Buffer
  bytesMax?: number
  by?: TopicQueues
}

async function sendLetter(arn: string, { text = 'x', bytesMax = PLENTY, by = own, ...named }: Letter = {}) {
  const {
    delivery = deliveryId(createMessageId(Date.now())),
    id = deadLetterItemId(SUBSCRIPTION, delivery),
  } = named
  const message = { ...aMessage(text), topicArn: arn }
  const subscriptionArn = `${arn}:${SUBSCRIPTION}`
  const letter = {
    id,
    body: text,
    attributes: {},
    deadLetter: aDeadLetter({ message, topicArn: arn, subscriptionArn, ...parseDeliveryId(delivery) }),
  }
  for (;;) {
    const queue = (await by.arnOf(arn)) ?? ''
    const sent = await by.send({ topicArn: arn, queueArn: queue, letter, bytesMax, now: Date.now() })
    if (sent) return { queueArn: queue, ...sent }
  }
}

const bodiesIn = async (arn: string) => (await queues.peek(arn, { limit: 100 })).items.map(({ body }) => body)
const bytesOf = async (arn: string) =>
  Number((await redis.hget(letterBytesKey(shardBase(shardOf(arn))), arn)) ?? 0)
const quotaDiscards = async () => (await new Counts(redis).read())['discarded:deadLetterQuota'] ?? 0

test('the first letter makes the queue, as the topic’s own; a letter that is repeated is there once', async () => {
  const arn = newTopic()
  expect(await own.find(arn)).toMatchObject({ exists: false })
  const id = createMessageId(Date.now())
  const first = await sendLetter(arn, { id })
  expect(first).toEqual({
    queueArn: queueArn(`topic-${topics}-dead-letters`),
    made: true,
    removed: 0,
    letters: [],
  })
  expect(await sendLetter(arn, { id })).toMatchObject({ made: false })
  expect(await own.find(arn)).toEqual({ queueArn: first.queueArn, exists: true })
  const { queue, counts } = (await queues.getWithCounts(first.queueArn)) ?? {}
  expect(queue).toMatchObject({ deadLettersOf: arn, retentionSeconds: 1_209_600, delaySeconds: 0 })
  expect(counts).toMatchObject({ visible: 1 })
  // Changing the queue's settings does not change that the topic owns it.
  expect(await queues.put(first.queueArn, { retentionSeconds: 60 })).toMatchObject({ created: false })
  expect(await queues.get(first.queueArn)).toMatchObject({ deadLettersOf: arn, retentionSeconds: 60 })
  const [message] = await queues.receive(first.queueArn, { maxMessages: 1 })
  expect(message).toMatchObject({ body: 'x', deadLetter: { topicArn: arn } })
})

test('a queue that somebody else made is never taken, whenever they made it', async () => {
  const arn = newTopic()
  const [plain = '', next = ''] = topicQueueArns(arn)
  const late = new TopicQueues({ acks: new ReplicaAcks(redis) })
  // This process looked before the queue was made.
  expect(await late.arnOf(arn)).toBe(plain)
  await queues.put(plain, {})
  expect((await sendLetter(arn, { by: late, text: 'one' })).queueArn).toBe(next)
  expect((await sendLetter(arn, { text: 'two' })).queueArn).toBe(next)
  expect([await bodiesIn(plain), await bodiesIn(next)]).toEqual([[], ['one', 'two']])
  // The topic keeps its queue when the first name becomes free again.
  await queues.delete(plain)
  const fresh = new TopicQueues({ acks: new ReplicaAcks(redis) })
  expect((await sendLetter(arn, { by: fresh })).queueArn).toBe(next)
})

test('names fit a queue, report long topics apart, and are those of FIFO queues where the topic is one', () => {
  const long = (end: string) => topicArn(`${'t'.repeat(240)}${end}`)
  const arns = [...topicQueueArns(long('a')), ...topicQueueArns(long('b')), ...topicQueueArns(topicArn('s'))]
  const names = arns.map((arn) => arn.split(':').at(-1) ?? '')
  expect(Math.max(...names.map(({ length }) => length))).toBe(80)
  expect(new Set(names).size).toBe(names.length)
  expect(topicQueueArns(newTopic('.fifo')).every(isFifoName)).toBe(true)
  const foreign = 'arn:aws:sns:eu-west-3:111122223333:orders'
  expect(topicQueueArns(foreign)[0]).toBe('arn:aws:sqs:eu-west-3:111122223333:orders-dead-letters')
})

test.each(['', '.fifo'])(
  'past its bytes the oldest letters go, counted, and the newest stays (topics%s)',
  async (end) => {
    const arn = newTopic(end)
    const before = await quotaDiscards()
    const deliveries = Array.from({ length: 8 }, (_, n) => deliveryId(createMessageId(1_000 + n), n))
    const removed: RemovedLetter[] = []
    let queue = ''
    let bytesMax = PLENTY
    for (const [n, delivery] of deliveries.entries()) {
      const sent = await sendLetter(arn, { text: String(n), delivery, bytesMax })
      removed.push(...sent.letters)
      queue = sent.queueArn
      if (n === 0) bytesMax = 3 * (await bytesOf(queue))
    }
    expect(await bodiesIn(queue)).toEqual(['5', '6', '7'])
    const named = { subscriptionId: SUBSCRIPTION, statusCode: 404 }
    expect(removed).toEqual(deliveries.slice(0, 5).map((delivery) => ({ ...named, delivery })))
    expect(await quotaDiscards()).toBe(before + 5)
    expect(await bytesOf(queue)).toBeLessThanOrEqual(bytesMax)
    await sendLetter(arn, { text: 'large'.repeat(2_000), bytesMax })
    expect(await bodiesIn(queue)).toEqual(['large'.repeat(2_000)])
  },
)

test('bytes are given back by whatever removes a letter', async () => {
  const arn = newTopic()
  const { queueArn: queue } = await sendLetter(arn)
  for (let n = 0; n < 3; n++) await sendLetter(arn)
  const [received] = await queues.receive(queue, { maxMessages: 1 })
  await queues.ack(queue, [received?.receiptHandle ?? ''])
  const [peeked] = (await queues.peek(queue, { limit: 1 })).items
  await queues.deleteMessage(queue, peeked?.messageId ?? '')
  expect(await bytesOf(queue)).toBeGreaterThan(0)
  await queues.purge(queue)
  expect(await bytesOf(queue)).toBe(0)
  await sendLetter(arn)
  await queues.delete(queue)
  expect(await bytesOf(queue)).toBe(0)
})

test('all of them together keep to their share, also if two processes check them at the same time', async () => {
  await redis.flushall()
  const [small, large] = [newTopic(), newTopic()]
  const { queueArn: kept } = await sendLetter(small, { text: 'older than all' })
  const one = await bytesOf(kept)
  const told: [string, number, string[]][] = []
  const client = waitingFirst(redis, 'trim-letters-1')
  const quotaOn = () =>
    new LetterQuota({
      redis: client,
      shares: { perQueue: 0.5, together: 0.1 },
      sample: () => ({ usedBytes: 0, limitBytes: 50 * one }),
      onRemoved: (arn, removed, letters) =>
        told.push([arn, removed, letters.map(({ subscriptionId }) => subscriptionId)]),
      onProblem: (error) => {
        throw error
      },
    })
  const [late, quota] = [quotaOn(), quotaOn()]
  expect(quota.queueBytes).toBe(25 * one)
  let filled = ''
  for (let n = 0; n < 10; n++) filled = (await sendLetter(large, { text: `${n}`.padStart(14, ' ') })).queueArn
  late.stored()
  await waitFor(() => redis.del(roleKey('letter-quota')))
  quota.stored()
  await Promise.all([quota.whenIdle(), late.whenIdle()])
  expect((await bytesOf(filled)) + one).toBeLessThanOrEqual(5 * one)
  expect(await bodiesIn(kept)).toEqual(['older than all'])
  expect(told).toEqual([[large, 6, Array(6).fill(SUBSCRIPTION)]])
  expect(await quotaDiscards()).toBe(6)
})

test('a queue that grows faster than one script trims is still trimmed to the share of all', async () => {
  await redis.flushall()
  const topic = newTopic()
  const send = (count: number) => Promise.all(Array.from({ length: count }, () => sendLetter(topic)))
  const [{ queueArn: filled = '' } = {}] = await send(1)
  const one = await bytesOf(filled)
  await send(9)
  const quota = new LetterQuota({
    redis: beforeFirst(redis, 'trim-letters-1', () => send(1_010)),
    shares: { perQueue: 0.5, together: 0.1 },
    sample: () => ({ usedBytes: 0, limitBytes: 50 * one }),
    onRemoved: () => undefined,
    onProblem: (error) => {
      throw error
    },
  })
  quota.stored()
  await quota.whenIdle()
  expect(await bytesOf(filled)).toBeLessThanOrEqual(5 * one)
})

test('it goes with its topic only if it is empty, and a sweep makes good what a crash left', async () => {
  const store = new Topics(redis)
  const arn = newTopic()
  await store.put(arn, {})
  const { queueArn: queue } = await sendLetter(arn)
  await queues.delete(queue, { emptyAndOf: newTopic() })
  await queues.delete(queue, { emptyAndOf: arn })
  expect(await queues.get(queue)).not.toBeNull()
  await queues.purge(queue)
  await queues.sweep()
  expect(await queues.get(queue)).not.toBeNull()
  await store.delete(arn)
  await queues.sweep()
  expect(await queues.get(queue)).toBeNull()
})
