/** FIFO topics for tests, and messages for them. */
import { createMessageId, type Message, type TopicRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { laneKey, topicKey } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { sumRecord } from '../records/checksums.ts'
import { newSubscription } from '../subscriptions/subscriptions.fixture.ts'
import { Subscriptions } from '../subscriptions/subscriptions.ts'
import { Topics } from '../topics/topics.ts'

export const FIFO_ARN = 'arn:aws:sns:us-east-1:000000000000:orders.fifo'

/** Creates the topic, with the given members of its record. */
export async function makeFifoTopic(redis: Redis, set: Partial<TopicRecord> = {}, arn = FIFO_ARN) {
  const { topic } = await new Topics(redis).put(arn, {})
  const record: TopicRecord = { ...topic, fifo: true, ...set }
  await redis.hset(topicKey(arn), 'record', sumRecord(record))
  return record
}

/** Creates the topic with one subscription. Its endpoint is proven, so its lane need not wait in `unproven`. */
export async function makeFifoLane(redis: Redis) {
  const { uid } = await makeFifoTopic(redis)
  const { subscription } = await new Subscriptions(redis).create(newSubscription(FIFO_ARN, 's'))
  await redis.hset(laneKey(shardBase(shardOf(FIFO_ARN)), subscription.id), 'a', '1')
  return { uid, id: subscription.id }
}

/** A message with a deduplication id of its own, unless `set` has one. */
export function fifoMessage(text: string, groupId = 'a', set: Partial<Message> = {}): Message {
  const publishedAt = Date.now()
  const messageId = createMessageId(publishedAt)
  const message = { messageId, topicArn: FIFO_ARN, publishedAt, message: text, groupId }
  return { ...message, deduplicationId: messageId, ...set }
}
