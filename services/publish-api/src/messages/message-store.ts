/**
 * Stores accepted messages. Messages of a standard topic go together into one dispatch job. Messages of a FIFO topic go
 * into its log. Both are one atomic write. If the topic wants it, messages are sealed just before.
 */
import { createHash } from 'node:crypto'
import { isSealing, type Message, messageBytes, type TopicRecord } from '@fantail/contracts'
import {
  type BodySeals,
  type FifoReceipt,
  type IdempotentPublish,
  idempotencyKey,
  SealedWhenStored,
  type StorableMessage,
  sealMessage,
} from '@fantail/store'
import type { KnownTopic } from '../caches/topic-cache.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { notFound } from '../http/error-answers.ts'
import { replay } from './idempotent.ts'
import { checkKmsUse } from './kms-use.ts'

/** Bytes of a message in a job in addition to its text and attributes. */
const OVERHEAD_BYTES = 256

export interface Receipt {
  messageId: string
  /** For FIFO topics. */
  sequenceNumber?: string
}

export interface Stored {
  receipts: Receipt[]
  /** Nothing was stored. The receipts come from the earlier request with the key. */
  replayed: boolean
}

/** An `Idempotency-Key`, and a hash of its request. */
export interface Once {
  key: string
  hash: string
}

type StoreDeps = Pick<
  ApiDeps,
  'publisher' | 'fifoLog' | 'idempotency' | 'publishCounts' | 'seals' | 'settings'
>

/** Tools that admit, make and store messages without a request. */
export type PublishTools = StoreDeps &
  Pick<ApiDeps, 'quotaWatch' | 'storageGuard' | 'topicCache' | 'clock' | 'spans'>

/** The sum of texts and attributes. */
export function bytesOf(messages: readonly Message[]): number {
  return messages.reduce((sum, { message, attributes }) => sum + messageBytes(message, attributes), 0)
}

export class MessageStore {
  readonly #deps: StoreDeps

  constructor(deps: StoreDeps) {
    this.#deps = deps
  }

  /**
   * Resolves when all messages are stored. `bytes`: the sum of texts and attributes. Throws a SealKeyError if they
   * must be sealed and there is no key, and a KmsError if the topic may not use its key.
   */
  async store(topic: KnownTopic, messages: Message[], bytes: number): Promise<Receipt[]> {
    const { arn, fifo } = topic.record
    if (fifo) {
      const receipts = await this.#deps.fifoLog.publish(arn, this.#numberable(topic, messages))
      return this.#appended(arn, messages, receipts)
    }
    await this.#deps.publisher.publish(this.#storable(topic, messages), weightOf(topic, messages, bytes))
    this.#deps.publishCounts.add(arn, messages.length, bytes)
    return messages.map(({ messageId }) => ({ messageId }))
  }

  /**
   * Like `store`, but only once for the key in 24 hours. Throws `idempotency_mismatch` if the key was used for another
   * request.
   */
  async storeOnce(topic: KnownTopic, messages: Message[], bytes: number, once: Once): Promise<Stored> {
    const { arn, fifo } = topic.record
    if (fifo) {
      const ready = this.#numberable(topic, messages)
      const { receipts, replayed } = await this.#deps.fifoLog.publishOnce(arn, ready, once)
      return { receipts: this.#appended(arn, messages, receipts), replayed }
    }
    const ids = await this.#publishOnce(topic, messages, bytes, once)
    const replayed = ids[0] !== messages[0]?.messageId
    if (!replayed) this.#deps.publishCounts.add(arn, messages.length, bytes)
    return { receipts: ids.map((messageId) => ({ messageId })), replayed }
  }

  /** The receipts of the same request with the key. undefined: nothing was stored before. */
  async earlier(topicArn: string, { key, hash }: Once): Promise<Stored | undefined> {
    const publish = (await this.#deps.idempotency.find(topicArn, key))?.publish
    if (publish?.h !== hash) return undefined
    const { ids, numbers } = publish
    const receipts = ids.map((messageId, i) => ({
      messageId,
      ...(numbers && { sequenceNumber: numbers[i] ?? '' }),
    }))
    return { receipts, replayed: true }
  }

  /** Messages for a FIFO log. Their deduplication ids are made from the texts, so sealing comes afterwards. */
  #numberable(topic: KnownTopic, messages: Message[]): Message[] {
    const seals = this.#sealsOf(topic)
    const ready = withDeduplicationIds(topic.record, messages)
    return seals ? ready.map((message) => sealMessage(seals, message)) : ready
  }

  #storable(topic: KnownTopic, messages: Message[]): StorableMessage[] {
    const seals = this.#sealsOf(topic)
    return seals ? messages.map((message) => new SealedWhenStored(seals, message)) : messages
  }

  /** Undefined if the topic's messages are not sealed. */
  #sealsOf({ record }: KnownTopic): BodySeals | undefined {
    const { seals } = this.#deps
    if (!seals.all && !isSealing(record)) return undefined
    checkKmsUse(this.#deps, record)
    return seals
  }

  /** Counts the messages that are no duplicates. */
  #appended(topicArn: string, messages: Message[], receipts: FifoReceipt[]): Receipt[] {
    const fresh = messages.filter((_, i) => receipts[i]?.duplicate === false)
    const bytes = bytesOf(fresh)
    if (fresh.length > 0) this.#deps.publishCounts.add(topicArn, fresh.length, bytes)
    return receipts.map(({ messageId, sequenceNumber }) => ({ messageId, sequenceNumber }))
  }

  /** The ids that belong to the key after this publish: its own ids, or the ids of an earlier publish. */
  async #publishOnce(topic: KnownTopic, messages: Message[], bytes: number, { key, hash }: Once) {
    const { publisher, idempotency } = this.#deps
    const { arn } = topic.record
    const found = await idempotency.find(arn, key)
    if (!found) throw notFound('topic')
    if (found.publish) return replay(found.publish, hash)
    const claim: IdempotentPublish = { h: hash, ids: messages.map(({ messageId }) => messageId) }
    const value = JSON.stringify(claim)
    // The topic may have been replaced since it was cached. Message and key must name the same one.
    const { topicUid } = found
    const claimed = { key: idempotencyKey(arn, topicUid, key), value }
    const keyed = messages.map((message) => ({ ...message, topicUid, idempotency: claimed }))
    await publisher.publish(this.#storable(topic, keyed), weightOf(topic, messages, bytes))
    return replay(await idempotency.claimForPublish(arn, key, value), hash)
  }
}

/** The weight of storing these messages in one job. `bytes`: the sum of texts and attributes. */
export function weightOf(
  { fanOut }: KnownTopic,
  messages: Message[],
  bytes: number,
): { bytes: number; fanOut: number } {
  return { bytes: bytes + messages.length * OVERHEAD_BYTES, fanOut }
}

/**
 * Messages in the form for a FIFO topic's log (checklist 130 to 134). Each has the deduplication id that identifies it
 * for five minutes: the given one, or the SHA-256 of its text. The caller has checked that the id is given or the topic
 * derives it.
 */
export function withDeduplicationIds(
  { contentBasedDeduplication }: Pick<TopicRecord, 'contentBasedDeduplication'>,
  messages: Message[],
): Message[] {
  if (!contentBasedDeduplication) return messages
  return messages.map((message) =>
    message.deduplicationId === undefined
      ? { ...message, deduplicationId: createHash('sha256').update(message.message).digest('hex') }
      : message,
  )
}
