/** Caches of topics and queues, which publishing, sending and receiving read for every message. */
import { MESSAGE_BYTES_MAX, type QueueRecord, type TopicRecord } from '@fantail/contracts'
import type { Queues, Topics } from '@fantail/store'
import { FreshCache } from './fresh-cache.ts'

export interface KnownTopic {
  uid: string
  /** Active and paused subscriptions, the expected recipients of each message. */
  fanOut: number
  record: TopicRecord
  /** Revision of its catalogue of event types; '': it has none. */
  eventTypes: string
  /** Limit of a message's text and attributes: SNS's, or the topic's own. */
  messageBytesMax: number
}

interface TopicCacheOptions {
  topics: Pick<Topics, 'getWithCounts'>
  /** Monotonic ms. */
  now?: () => number
}

export class TopicCache extends FreshCache<KnownTopic> {
  constructor({ topics, now }: TopicCacheOptions) {
    super({ look: (arn) => lookUp(topics, arn), now })
  }
}

async function lookUp(topics: Pick<Topics, 'getWithCounts'>, arn: string): Promise<KnownTopic | null> {
  const found = await topics.getWithCounts(arn)
  return (
    found && {
      uid: found.topic.uid,
      fanOut: found.subscriptions.active + found.subscriptions.paused,
      record: found.topic,
      eventTypes: found.eventTypes,
      messageBytesMax: Number(found.topic.attributes.MaximumMessageSize ?? MESSAGE_BYTES_MAX),
    }
  )
}

interface QueueCacheOptions {
  queues: Pick<Queues, 'get'>
}

/** The settings of queues, for sending and receiving over the AWS protocols. */
export class QueueCache extends FreshCache<QueueRecord> {
  constructor({ queues }: QueueCacheOptions) {
    super({ look: (arn) => queues.get(arn) })
  }
}
