/** FIFO topics for tests, and messages for them. */
import { createMessageId, type Message, type TopicRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { topicKey } from '../keys.ts'
import { Topics } from '../topics/topics.ts'

export const FIFO_ARN = 'arn:aws:sns:us-east-1:000000000000:orders.fifo'

/** Creates the topic, with the given members of its record. */
export async function makeFifoTopic(redis: Redis, set: Partial<TopicRecord> = {}, arn = FIFO_ARN) {
  const { topic } = await new Topics(redis).put(arn, {})
  const record: TopicRecord = { ...topic, fifo: true, ...set }
  await redis.hset(topicKey(arn), 'record', JSON.stringify(record))
  return record
}

/** A message with a deduplication id of its own, unless `set` has one. */
export function fifoMessage(text: string, groupId = 'a', set: Partial<Message> = {}): Message {
  const publishedAt = Date.now()
  const messageId = createMessageId(publishedAt)
  const message = { messageId, topicArn: FIFO_ARN, publishedAt, message: text, groupId }
  return { ...message, deduplicationId: messageId, ...set }
}
