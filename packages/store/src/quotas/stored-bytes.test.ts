import { createMessageId, parseMessageId, quotaName } from '@fantail/contracts'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { deliveryId, KeptMessages, Lanes, placeOfSubscription, Subscriptions, Topics } from '../index.ts'
import { letterBytesKey, queueKey } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { newSubscription, topicName } from '../subscriptions/subscriptions.fixture.ts'
import { bytesOfQuotas, StoredBytes } from './stored-bytes.ts'

const { redis } = await useRedis()
const topics = new Topics(redis)
const subscriptions = new Subscriptions(redis, { sliceSubscriptionsMax: 1 })
const stored = new StoredBytes(redis)
const BODY = Buffer.from(JSON.stringify('x'.repeat(5_000)))

/** A delivery in the lane of the topic's second subscription, whose slice is in another shard than the topic. */
async function park(arn: string): Promise<void> {
  await subscriptions.create(newSubscription(arn, 1))
  const { subscription } = await subscriptions.create(newSubscription(arn, 2))
  const { shard = -1, homeShard } = placeOfSubscription(subscription.id) ?? {}
  expect(shard).not.toBe(homeShard)
  const id = deliveryId(createMessageId(Date.now()))
  const entry = { subscriptionId: subscription.id, delivery: id, message: 0, park: { as: 'fresh' as const } }
  await new Lanes(redis).park(shard, {
    messages: [{ id, body: BODY }],
    jobs: [{ jobName: '', fence: 0, fields: [], entries: [entry] }],
  })
}

test('the bytes of a topic are those of waiting deliveries, kept messages and dead letters in its own queue', async () => {
  const [waiting, keeping, failing] = ['acme-waiting', 'acme-keeping', 'other-failing'].map(topicName)
  if (!waiting || !keeping || !failing) throw new Error('three topics are named')
  await topics.put(waiting, {})
  await park(waiting)
  const { topic } = await topics.put(keeping, { keepMessages: { seconds: 60, bytes: 1_048_576 } })
  const id = parseMessageId(createMessageId(Date.now())) ?? Buffer.alloc(16)
  await new KeptMessages(redis).keep([{ arn: keeping, uid: topic.uid, id, body: BODY.toString() }])
  const queue = 'arn:aws:sqs:us-east-1:000000000000:other-failing-dead-letters'
  await redis.hset(queueKey(queue), 'of', failing)
  await redis.hset(letterBytesKey(shardBase(shardOf(queue))), queue, '700')
  const bytes = await stored.read()
  expect([...bytes.keys()].sort()).toEqual([keeping, waiting, failing].sort())
  const [acme, other] = ['acme-', 'other-'].map((prefix) => quotaName({ account: '000000000000', prefix }))
  const sums = bytesOfQuotas(bytes, new Set([acme ?? '', other ?? '']))
  expect(sums.get(acme ?? '')).toBeGreaterThan(2 * BODY.length)
  expect(sums.get(other ?? '')).toBe(700)
})

test('a deleted topic is known until its deliveries are discarded, also to a process that starts then', async () => {
  const arn = topicName('acme-deleted')
  await topics.put(arn, {})
  await park(arn)
  const before = (await stored.read()).get(arn)
  await topics.delete(arn)
  expect((await stored.read()).get(arn)).toBe(before)
  expect((await new StoredBytes(redis).read()).get(arn)).toBe(before)
})
