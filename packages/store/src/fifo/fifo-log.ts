/**
 * Publishes to a FIFO topic. One script in the topic's home shard gives each message its sequence number and appends it
 * to the topic's log. If its deduplication id was accepted in the last five minutes, the message is not appended.
 *
 * publish ──▶ log ──reader (fifo-reading.ts)──▶ the subscriptions' lanes
 *
 * If the script replies, the message is stored. If the reply is lost, the message may be stored or not. The caller then
 * repeats the publish. If the message was stored, the repeated publish stores nothing and returns the first receipt.
 */
import {
  FantailError,
  formatMessageId,
  IDEMPOTENCY_SECONDS,
  type Message,
  publishedAtOf,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { SHARD_COUNT, shardBase, shardOf } from '../keys/shards.ts'
import { hintDue } from '../lanes/busy-lanes.ts'
import { deliveryId, parseDeliveryId } from '../lanes/records/generations.ts'
import { readTime } from '../lanes/records/lane-replies.ts'
import { openBody } from '../records/message-bodies.ts'
import { ReplicaAcks } from '../redis/replica-acks.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { storageError } from '../redis/storage-errors.ts'

const PUBLISH = readScript('publish-fifo-1')

export interface FifoReceipt {
  messageId: string
  /** 20 digits. Later messages have higher numbers. */
  sequenceNumber: string
  /** True: the message was not stored, and the receipt is that of the earlier message. */
  duplicate: boolean
}

interface FifoLogOptions {
  /**
   * The connection to publish on, which waits for replicas. Default: the common connection, and replicas are not waited
   * for.
   */
  acks?: ReplicaAcks
}

interface OnceOptions {
  /** An idempotency key of the topic. */
  key: string
  /** Hash of the request. */
  hash: string
}

/** The value of a FIFO topic's idempotency key, as JSON. */
interface KeptReceipt {
  h: string
  ids: string[]
  numbers: string[]
}

export class FifoLog {
  readonly #redis: Redis
  readonly #acks: ReplicaAcks

  constructor(redis: Redis, { acks = new ReplicaAcks(redis) }: FifoLogOptions = {}) {
    this.#redis = redis
    this.#acks = acks
  }

  /**
   * Stores a request's messages in their order, all or none, and returns their receipts in this order. Each message
   * needs a group and a deduplication id. Throws `not_found`, `conflict` if the topic is not FIFO, `storage_full` or
   * `storage_unavailable`.
   */
  async publish(topicArn: string, messages: Message[]): Promise<FifoReceipt[]> {
    const { receipts } = await this.#publish(topicArn, messages)
    return receipts
  }

  /**
   * Like `publish`, but only once for the key in 24 hours. Throws `idempotency_mismatch` if the key was used for
   * another request.
   */
  async publishOnce(
    topicArn: string,
    messages: Message[],
    once: OnceOptions,
  ): Promise<{ receipts: FifoReceipt[]; replayed: boolean }> {
    return this.#publish(topicArn, messages, once)
  }

  async #publish(topicArn: string, messages: Message[], once?: OnceOptions) {
    const shard = shardOf(topicArn)
    const args = {
      base: shardBase(shard),
      arn: topicArn,
      shard,
      idempotencyKey: once?.key ?? '',
      requestHash: once?.hash ?? '',
      keptMs: IDEMPOTENCY_SECONDS * 1_000,
      messages: messages.map(packMessage),
    }
    try {
      const reply = (await runScript(this.#acks.redis, PUBLISH, args)) as Reply
      const result = readReply(reply, once)
      hintDue(this.#redis, shard, result.wokeFor, 1)
      // A duplicate waits for replicas too, because the earlier message may be on no replica yet.
      await this.#acks.confirm(shardBase(shard), true)
      return result
    } catch (error) {
      throw storageError(error)
    }
  }
}

function packMessage({ sequenceNumber, ...unnumbered }: Message) {
  const { messageId, groupId, deduplicationId } = unnumbered
  if (groupId === undefined || deduplicationId === undefined) {
    throw new TypeError(`a FIFO message without group or deduplication id: ${messageId}`)
  }
  return {
    id: deliveryId(messageId),
    group: groupId,
    deduplication: deduplicationId,
    body: openBody(unnumbered),
  }
}

/**
 * 'missing' or 'standard'; the value of the key; or the due time, whether a wake was published, and three values for
 * each message.
 */
type Reply = Buffer | [Buffer] | [Buffer, number, ...(Buffer | number)[]]

interface Published {
  receipts: FifoReceipt[]
  replayed: boolean
  wokeFor: number | null
}

function readReply(reply: Reply, once: OnceOptions | undefined): Published {
  if (Buffer.isBuffer(reply)) {
    if (String(reply) === 'missing') throw new FantailError('not_found', 'no such topic')
    throw new FantailError('conflict', 'not a FIFO topic')
  }
  if (reply.length === 1) return replay(JSON.parse(String(reply[0])) as KeptReceipt, once)
  const [due, woke, ...values] = reply
  const receipts: FifoReceipt[] = []
  for (let i = 0; i + 2 < values.length; i += 3) {
    const [id, sequenceNumber, duplicate] = values.slice(i, i + 3) as [Buffer, Buffer, number]
    receipts.push({
      messageId: formatMessageId(id),
      sequenceNumber: String(sequenceNumber),
      duplicate: duplicate === 1,
    })
  }
  return { receipts, replayed: false, wokeFor: woke === 1 ? readTime(due) : null }
}

function replay({ h, ids, numbers }: KeptReceipt, once: OnceOptions | undefined): Published {
  if (h !== once?.hash) {
    throw new FantailError('idempotency_mismatch', 'this Idempotency-Key was used for another request')
  }
  const receipts = ids.map((messageId, i) => ({
    messageId,
    sequenceNumber: numbers[i] ?? '',
    duplicate: true,
  }))
  return { receipts, replayed: true, wokeFor: null }
}

const LOGS = readScript('read-fifo-logs-1')

/**
 * Members of a shard's `due` that the gauges of FIFO logs read. Past it: a log may be missing in the gauges. A log with
 * unread messages is due, so it is near the beginning of `due`. It is missed only if the shard has more overdue lanes
 * than this.
 */
const LOOKED_AT_MAX = 1_000

interface FifoLogFigures {
  topicArn: string
  messages: number
  oldestPublishedAt: number
}

/** Figures of the logs that are not empty, each with its isolated groups. */
export async function fifoLogFigures(redis: Redis): Promise<FifoLogFigures[]> {
  const shards = Array.from({ length: SHARD_COUNT }, (_, shard) => shardBase(shard))
  const replies = await Promise.all(
    shards.map((base) => runScript(redis, LOGS, { base, lookedAtMax: LOOKED_AT_MAX })),
  )
  const byTopic = Map.groupBy(
    (replies as (Buffer | number)[][]).flatMap(readFigures),
    ({ topicArn }) => topicArn,
  )
  return [...byTopic].map(([topicArn, logs]) => ({
    topicArn,
    messages: logs.reduce((sum, { messages }) => sum + messages, 0),
    oldestPublishedAt: Math.min(...logs.map(({ oldestPublishedAt }) => oldestPublishedAt)),
  }))
}

function readFigures(flat: (Buffer | number)[]): FifoLogFigures[] {
  const logs: FifoLogFigures[] = []
  for (let i = 0; i < flat.length; i += 3) {
    const [arn, messages, id] = flat.slice(i, i + 3) as [Buffer, number, Buffer]
    const oldestPublishedAt = publishedAtOf(parseDeliveryId(id).messageId)
    logs.push({ topicArn: String(arn), messages, oldestPublishedAt })
  }
  return logs
}
