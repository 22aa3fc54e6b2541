/**
 * A topic's own dead-letter queue. The first letter makes it, in the script that stores the letter. On a cluster the
 * queue is in another slot than the lane, so a dead letter takes three steps: declare, append, forget. That script is
 * the append. Between two steps the letter is in its lane, in its queue, or in both under one id.
 *
 *   no queue ──first letter──▶ the topic's ──topic deleted, queue empty──▶ no queue
 *
 * The queue's hash names the topic that made it. A queue that names no topic, or another one, is never used. The
 * topic's queue then gets the next of its names.
 */
import { createHash } from 'node:crypto'
import { isFifoName, messageBytes, parseArn, queueArn } from '@fantail/contracts'
import { LRUCache } from 'lru-cache'
import { queueKey } from '../../keys/keys.ts'
import { shardBase, shardOf } from '../../keys/shards.ts'
import { sumRecord } from '../../records/checksums.ts'
import type { BodySeals } from '../../records/sealed-messages.ts'
import { batch } from '../../redis/batch.ts'
import { replies } from '../../redis/pages.ts'
import type { ReplicaAcks } from '../../redis/replica-acks.ts'
import { readScript, runScript } from '../../redis/scripts.ts'
import { newQueue } from '../definitions/queue-definitions.ts'
import { itemValues } from '../items/queue-items.ts'
import type { QueueUse, SendItem } from '../items/queue-records.ts'
import { storedItem } from '../kinds/queue-sending.ts'
import { type RemovedLetter, readRemoved } from './letter-quota.ts'

const SEND_LETTER = readScript('send-letter-1')

/** Topics whose own queue a process remembers. Past it: the least recently used one is looked up again. */
const KNOWN_QUEUES_MAX = 10_000

interface TopicQueuesOptions {
  /** Stores letters. It continues without missing replicas. */
  acks: ReplicaAcks
  use?: Pick<QueueUse, 'sent'>
  /** Absent: letters of sealed messages are refused. */
  seals?: BodySeals
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
  readonly #seals: BodySeals | undefined
  readonly #known = new LRUCache<string, string>({ maxSize: KNOWN_QUEUES_MAX, sizeCalculation: () => 1 })

  constructor({ acks, use, seals }: TopicQueuesOptions) {
    this.#acks = acks
    this.#use = use
    this.#seals = seals
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
    const item = storedItem(letter, queueArn, this.#seals)
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

/**
 * Names of a topic's own dead-letter queue, in order of preference. A name is skipped if a queue that the topic did not
 * make has it.
 */
const SUFFIX = '-dead-letters'
const FIFO_SUFFIX = '.fifo'
/** @limit Name of a queue, as in SQS. Past it: a topic's own queue has a shorter name with a digest. */
const QUEUE_NAME_CHARS_MAX = 80
const DIGEST_CHARS = 8
/** Names that a topic's own queue may have. Past it: dead letters wait until one of them is free. */
const TOPIC_QUEUE_NAMES_MAX = 8

/** The ARNs of these names in the topic's account and region. */
export function topicQueueArns(topicArn: string): string[] {
  const place = parseArn(topicArn)
  if (!place) throw new TypeError(`not a topic's ARN: ${topicArn}`)
  return Array.from({ length: TOPIC_QUEUE_NAMES_MAX }, (_, n) =>
    queueArn(nameOf(topicArn, place.name, n), place),
  )
}

function nameOf(topicArn: string, topicName: string, n: number): string {
  const fifo = isFifoName(topicName) ? FIFO_SUFFIX : ''
  const stem = topicName.slice(0, topicName.length - fifo.length)
  const plain = `${stem}${SUFFIX}${fifo}`
  if (n === 0 && plain.length <= QUEUE_NAME_CHARS_MAX) return plain
  const digest = createHash('sha256').update(`${topicArn} ${n}`).digest('hex').slice(0, DIGEST_CHARS)
  const end = `${SUFFIX}-${digest}${fifo}`
  return `${stem.slice(0, QUEUE_NAME_CHARS_MAX - end.length)}${end}`
}
