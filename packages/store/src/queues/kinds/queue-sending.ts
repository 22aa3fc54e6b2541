/** The stored form of a message that was sent, moved by a redrive policy, or redriven. */
import { randomUUID } from 'node:crypto'
import { parseMessageId, type RedriveEdit } from '@fantail/contracts'
import { redrivenItemId } from '../items/queue-ids.ts'
import { packPayload, type ReadItem, type StoredItem } from '../items/queue-items.ts'
import type { SendItem } from '../items/queue-records.ts'
import { kindOf } from './queue-kind.ts'

/** Messages that one script stores. Past it: a further script follows. */
const SEND_ITEMS_MAX = 100
/** Bytes that one script stores. Past it: a further script follows. One script must not block Redis for too long. */
const SEND_BYTES_MAX = 4_194_304

export function storedItem(item: SendItem, arn: string): StoredItem {
  if (item.id !== undefined && parseMessageId(item.id) === undefined) {
    throw new TypeError(`an item's id must be a UUID: ${item.id}`)
  }
  const deadLetter = item.deadLetter ?? null
  const id = item.id ?? randomUUID()
  return {
    id,
    payload: packPayload(item),
    idGiven: item.id !== undefined,
    delayMs: item.delaySeconds === undefined ? null : item.delaySeconds * 1_000,
    sentAt: null,
    retentionFrom: deadLetter?.deadLetteredAt ?? null,
    receiveCount: 0,
    firstReceivedAt: null,
    deadLetterSourceArn: null,
    deadLetter,
    ...kindOf(arn).placeOf(item, id),
  }
}

/** The moved item keeps id, body, attributes and receive count, and the members that the kind of the queue keeps. */
export function movedItem({ message, payload }: ReadItem, source: string): StoredItem {
  return {
    id: message.messageId,
    payload,
    idGiven: true,
    delayMs: 0,
    receiveCount: message.receiveCount,
    firstReceivedAt: message.firstReceivedAt,
    deadLetterSourceArn: source,
    deadLetter: message.deadLetter ?? null,
    groupId: message.groupId ?? null,
    deduplication: 'none',
    ...kindOf(source).keptBy(message),
  }
}

/**
 * A new message, as in SQS's redrive: id, time of sending and retention begin again. The reason of its death stays with
 * it.
 */
export function redrivenItem(taskId: string, { message, payload }: ReadItem): StoredItem {
  const id = redrivenItemId(taskId, message.messageId)
  return {
    id,
    payload,
    idGiven: true,
    delayMs: 0,
    sentAt: null,
    retentionFrom: null,
    receiveCount: 0,
    firstReceivedAt: null,
    deadLetterSourceArn: null,
    deadLetter: message.deadLetter ?? null,
    groupId: message.groupId ?? null,
    deduplicationId: message.sequenceNumber === undefined ? (message.deduplicationId ?? null) : id,
    deduplication: 'none',
  }
}

/**
 * The item with the changes of a redrive, if these are for it. A dead letter begins like a letter that was never
 * redriven.
 */
export function edited(item: ReadItem, edit: RedriveEdit | undefined): ReadItem {
  const { message } = item
  if (edit?.itemId !== message.messageId) return item
  const { body, attributes, message: sent } = edit
  const letter = message.deadLetter
  const deadLetter = letter && sent && { ...letter, messageId: sent.messageId, generation: 0, message: sent }
  const next = { ...message, body, attributes, ...(deadLetter && { deadLetter }) }
  return { message: next, payload: packPayload(next) }
}

/** Groups of items, each small enough for one script. */
export function* chunksOf(items: StoredItem[]): Generator<StoredItem[]> {
  let chunk: StoredItem[] = []
  let bytes = 0
  for (const item of items) {
    const full = chunk.length === SEND_ITEMS_MAX || bytes + item.payload.length > SEND_BYTES_MAX
    if (chunk.length > 0 && full) {
      yield chunk
      chunk = []
      bytes = 0
    }
    chunk.push(item)
    bytes += item.payload.length
  }
  if (chunk.length > 0) yield chunk
}
