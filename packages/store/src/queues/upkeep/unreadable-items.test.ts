/** Messages of queues that cannot be decoded, between readable ones. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { shardBase, shardOf } from '../../keys/shards.ts'
import { Quarantine } from '../../quarantine/quarantine.ts'
import { newArn, newFifoArn, useQueues } from '../queues.fixture.ts'
import { Queues } from '../queues.ts'

const fixture = await useQueues()
const { queues, redis } = fixture
const quarantine = new Quarantine(redis)
beforeEach(() => redis.flushall())
afterEach(() => fixture.skew(0))

const cut = async (key: string) => {
  const payload = (await redis.hget(key, 'p')) ?? ''
  return redis.hset(key, 'p', payload.slice(0, -3))
}
const DAMAGE: [string, (key: string) => Promise<unknown>][] = [
  ['a payload that is cut', cut],
  ['a payload without its body', (key) => redis.hset(key, 'p', '{"c":"two"}')],
  ['an attribute without a value', (key) => redis.hset(key, 'p', '{"b":"two","a":{"n":{"type":"String"}}}')],
  ['no payload', (key) => redis.hdel(key, 'p')],
  ['a receive count that is no number', (key) => redis.hset(key, 'c', 'a0')],
  ['a receive count that is no whole number', (key) => redis.hset(key, 'c', '1.5')],
  ['a receive count with too many digits', (key) => redis.hset(key, 'c', '9'.repeat(20))],
  ['no receive count', (key) => redis.hdel(key, 'c')],
  ['a time that is no number', (key) => redis.hset(key, 's', '17x')],
  ['no members', (key) => redis.del(key)],
  ['a key of the wrong type', (key) => redis.set(key, 'x')],
]
const KINDS = [
  { kind: 'standard', create: newArn, group: {} },
  { kind: 'FIFO', create: newFifoArn, group: { groupId: 'g' } },
]

/** A queue with three messages, and the key of the one in the middle. */
async function threeMessages({ create, group }: (typeof KINDS)[number], set = {}) {
  const arn = create()
  const { queue } = await queues.put(arn, {
    ...set,
    ...(group.groupId && { contentBasedDeduplication: true }),
  })
  const sent = await queues.send(
    arn,
    ['one', 'two', 'three'].map((body) => ({ body, ...group })),
  )
  const id = sent[1]?.messageId ?? ''
  return { arn, id, key: `${shardBase(shardOf(arn))}q:${queue.uid}:i:${id}` }
}

const entries = async () => (await quarantine.list({ limit: 10 })).items

test.each(KINDS.flatMap((kind) => DAMAGE.map(([damage, apply]) => ({ ...kind, damage, apply }))))(
  'a $kind queue receives around a message with $damage',
  async ({ apply, ...kind }) => {
    const { arn, id, key } = await threeMessages(kind)
    await apply(key)
    expect((await queues.peek(arn, { limit: 10 })).items.map(({ body }) => body)).toContain('one')
    const received = await queues.receive(arn, { maxMessages: 10 })
    expect(received.map(({ body, receiveCount }) => [body, receiveCount])).toEqual([
      ['one', 1],
      ['three', 1],
    ])
    await queues.ack(
      arn,
      received.map(({ receiptHandle = '' }) => receiptHandle),
    )
    expect(await queues.getWithCounts(arn)).toMatchObject({ counts: { visible: 0, inFlight: 0 } })
    expect(await entries()).toMatchObject([{ reason: 'queueMessageUnreadable', messageId: id }])
    expect((await entries())[0]?.detail).toContain(arn)
  },
)

test.each(KINDS)('a $kind queue receives a message whose count at its arrival is corrupt', async (kind) => {
  const { arn, key } = await threeMessages(kind)
  await redis.hset(key, 'b', 'x')
  const received = await queues.receive(arn, { maxMessages: 10 })
  expect(received.map(({ body, receiveCount }) => [body, receiveCount])).toEqual([
    ['one', 1],
    ['two', 1],
    ['three', 1],
  ])
  await queues.ack(
    arn,
    received.map(({ receiptHandle = '' }) => receiptHandle),
  )
  expect(await queues.getWithCounts(arn)).toMatchObject({ counts: { visible: 0, inFlight: 0 } })
})

test.each(KINDS)(
  'a $kind queue dead-letters the neighbours of a message that cannot be decoded',
  async (kind) => {
    const dead = kind.create('dead')
    await queues.put(dead, {})
    const redrivePolicy = { deadLetterTargetArn: dead, maxReceiveCount: 1 }
    const { arn, key } = await threeMessages(kind, { redrivePolicy })
    const request = { maxMessages: 10, visibilityTimeoutSeconds: 1 }
    expect(await queues.receive(arn, request)).toHaveLength(3)
    await cut(key)
    await fixture.skew(5_000)
    while ((await queues.getWithCounts(arn))?.counts.visible) await queues.receive(arn, request)
    const letters = await queues.receive(dead, { maxMessages: 10 })
    expect(letters.map(({ body }) => body)).toEqual(['one', 'three'])
    expect(await entries()).toHaveLength(1)
  },
)

test('a message that a full quarantine refuses stays, and comes up again', async () => {
  const full = new Queues(redis, { quarantine: { add: async () => 'full' } })
  const { arn, key } = await threeMessages(KINDS[0] as (typeof KINDS)[number])
  await cut(key)
  const request = { maxMessages: 10, visibilityTimeoutSeconds: 1 }
  expect(await full.receive(arn, request)).toHaveLength(2)
  expect(await queues.getWithCounts(arn)).toMatchObject({ counts: { inFlight: 3 } })
  await fixture.skew(5_000)
  expect(await queues.receive(arn, request)).toHaveLength(2)
  expect(await queues.getWithCounts(arn)).toMatchObject({ counts: { inFlight: 2 } })
})
