/**
 * What is stored of a message: sent by somebody, moved by a redrive policy, or redriven.
 *
 * A FIFO queue holds the deduplication id that a sender gave, or the SHA-256 of the body where none was given, against
 * those of the last 5 minutes. What comes under an id of its own (dead letters, moves, redrives) is known by that id
 * alone: two deliveries of one message must not count as copies. A dead letter shows its message's deduplication id all
 * the same; the others, and a dead letter without one, show their own id.
 */
import { randomUUID } from 'node:crypto'
import { FantailError, isFifoName, parseMessageId } from '@fantail/contracts'
import { redrivenItemId } from './queue-ids.ts'
import { bodyDigest, packPayload, type ReadItem, type StoredItem } from './queue-items.ts'
import type { SendItem } from './queue-records.ts'

/** @limit Messages that one script stores. Past it: a further script follows. */
const SEND_ITEMS_MAX = 100
/**
 * Bounds how long one script holds Redis up.
 * @limit Bytes that one script stores. Past it: a further script follows.
 */
const SEND_BYTES_MAX = 4_194_304

export function storedItem(item: SendItem, fifo: boolean): StoredItem {
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
    ...(fifo ? inOrder(item, id) : unordered(item)),
  }
}

/** Keeps id, body, attributes and receive count, in a standard queue also the time of sending (checklist 177, 178). */
export function movedItem({ message, payload }: ReadItem, source: string): StoredItem {
  const fifo = isFifoName(source)
  return {
    id: message.messageId,
    payload,
    idGiven: true,
    delayMs: 0,
    sentAt: fifo ? null : message.sentAt,
    retentionFrom: fifo ? null : message.sentAt,
    receiveCount: message.receiveCount,
    firstReceivedAt: message.firstReceivedAt,
    deadLetterSourceArn: source,
    deadLetter: message.deadLetter ?? null,
    groupId: message.groupId ?? null,
    deduplicationId: (fifo ? message.messageId : message.deduplicationId) ?? null,
    deduplication: 'none',
  }
}

/**
 * A new message, as SQS's redrive makes it: id, time of sending and retention begin anew; why it died stays with it.
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

/** Items that one script stores. */
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

function unordered({ groupId, deduplicationId }: SendItem) {
  return {
    groupId: groupId ?? null,
    deduplicationId: deduplicationId ?? null,
    deduplication: 'none' as const,
  }
}

function inOrder(item: SendItem, id: string) {
  const { deadLetter, deduplicationId } = item
  // A dead letter is always stored, because refusing it would lose it.
  const groupId = item.groupId ?? deadLetter?.message.groupId ?? (deadLetter && id)
  if (groupId === undefined) throw FantailError.invalid('groupId', 'is needed in a FIFO queue')
  if (item.delaySeconds) throw FantailError.invalid('delaySeconds', 'can only be set for a whole FIFO queue')
  if (deadLetter) {
    const shown = deduplicationId ?? deadLetter.message.deduplicationId ?? id
    return { groupId, deduplicationId: shown, deduplication: 'none' as const }
  }
  if (deduplicationId !== undefined) return { groupId, deduplicationId, deduplication: 'given' as const }
  if (item.id !== undefined) return { groupId, deduplicationId: id, deduplication: 'none' as const }
  return { groupId, deduplicationId: bodyDigest(item.body), deduplication: 'body' as const }
}
