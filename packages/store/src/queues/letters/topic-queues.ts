/**
 * A topic's own dead-letter queue. The first letter makes it, in the script that stores the letter. On a cluster the
 * queue is in another slot than the lane, so a dead letter takes three steps: mark, append, forget. That script is the
 * append. Between two steps the letter is in its lane, in its queue, or in both under one id.
 *
 *   no queue ──first letter──▶ the topic's ──topic deleted, queue empty──▶ no queue
 *
 * The queue's hash names the topic that made it. A queue that names no topic, or another one, is never used. The
 * topic's queue then gets the next of its names.
 */
import { messageBytes } from '@fantail/contracts'
import { LRUCache } from 'lru-cache'
import { queueKey } from '../../keys/keys.ts'
import { shardBase, shardOf } from '../../keys/shards.ts'
import { sumRecord } from '../../records/checksums.ts'
import { batch } from '../../redis/batch.ts'
import { replies } from '../../redis/pages.ts'
import type { ReplicaAcks } from '../../redis/replica-acks.ts'
import { readScript, runScript } from '../../redis/scripts.ts'
import { newQueue } from '../definitions/queue-definitions.ts'
import { itemValues } from '../items/queue-items.ts'
import type { SendItem } from '../items/queue-records.ts'
import type { QueueUse } from '../items/queue-use.ts'
import { storedItem } from '../kinds/queue-sending.ts'
import { type RemovedLetter, readRemoved } from './letters-removed.ts'
import { topicQueueArns } from './topic-queue-names.ts'

const SEND_LETTER = readScript('send-letter-1')

/** Topics whose own queue a process remembers. Past it: the least recently used one is looked up again. */
const KNOWN_QUEUES_MAX = 10_000

interface TopicQueuesOptions {
  /** Stores letters. It continues without missing replicas. */
  acks: ReplicaAcks
  use?: Pick<QueueUse, 'sent'>
}

interface TopicQueue {
  queueArn: string
  exists: boolean
}

interface SendLetter {
  topicArn: string
  queueArn: string
  letter: SendItem
  /** The bytes that the queue may use. */
  bytesMax: number
  /** Epoch ms: the time of creation, if the queue is made. */
  now: number
}

interface SentLetter {
  /** How many older messages were removed to make space. */
  removed: number
  /** The removed messages that were dead letters. */
  letters: RemovedLetter[]
  /** The queue was made for it. */
  made: boolean
}

export class TopicQueues {
  readonly #acks: ReplicaAcks
  readonly #use: Pick<QueueUse, 'sent'> | undefined
  readonly #known = new LRUCache<string, string>({ maxSize: KNOWN_QUEUES_MAX, sizeCalculation: () => 1 })

  constructor({ acks, use }: TopicQueuesOptions) {
    this.#acks = acks
    this.#use = use
  }

  /** Like `find`, but from this process's cache if possible. null: all possible names belong to queues of others. */
  async arnOf(topicArn: string): Promise<string | null> {
    const known = this.#known.get(topicArn)
    if (known !== undefined) return known
    const found = await this.find(topicArn)
    if (found) this.#known.set(topicArn, found.queueArn)
    return found?.queueArn ?? null
  }

  /** The topic's queue, or the one that its next letter will make. */
  async find(topicArn: string): Promise<TopicQueue | null> {
    const arns = topicQueueArns(topicArn)
    const pipeline = batch(this.#acks.redis)
    for (const arn of arns) pipeline.hmget(queueKey(arn), 'uid', 'of')
    const found = (await replies(pipeline)) as [uid: string | null, of: string | null][]
    const own = arns.find((_, i) => found[i]?.[1] === topicArn)
    const queueArn = own ?? arns.find((_, i) => found[i]?.[0] === null)
    return queueArn === undefined ? null : { queueArn, exists: own !== undefined }
  }

  /** Stores the letter. null: the queue belongs to somebody else by now. */
  async send({ topicArn, queueArn, letter, bytesMax, now }: SendLetter): Promise<SentLetter | null> {
    const item = storedItem(letter, queueArn)
    const shard = shardOf(queueArn)
    const { redis } = this.#acks
    const queue = newQueue(queueArn, { deadLettersOf: topicArn }, now)
    const reply = (await runScript(redis, SEND_LETTER, {
      base: shardBase(shard),
      arn: queueArn,
      topic: topicArn,
      record: sumRecord(queue),
      uid: queue.uid,
      visibility: queue.visibilityTimeoutSeconds * 1_000,
      retention: queue.retentionSeconds * 1_000,
      bytesMax: Math.floor(bytesMax),
      letter: itemValues(item),
    })) as [number, number, number, Buffer[]] | null
    if (reply === null) {
      this.#known.delete(topicArn)
      return null
    }
    await this.#acks.confirm(shardBase(shard), false)
    const [removed, made, stored, letters] = reply
    if (stored === 1) this.#use?.sent(queueArn, [messageBytes(letter.body, letter.attributes)])
    return { removed, letters: readRemoved(letters), made: made === 1 }
  }
}
