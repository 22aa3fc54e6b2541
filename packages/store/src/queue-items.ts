/** How an item crosses the border to the scripts: 17 values in, nine out, and receipt handles. */
import { createHash, randomBytes } from 'node:crypto'
import {
  type DeadLetter,
  formatMessageId,
  type MessageAttribute,
  parseMessageId,
  type QueueMessage,
} from '@fantail/contracts'
import type { SendItem } from './queue-records.ts'
import type { ScriptValue } from './scripts.ts'

/** An item to store; what SendItem leaves open is decided. */
export interface StoredItem {
  id: string
  payload: string
  /** Whether a later send with this id is a repetition. */
  idGiven: boolean
  /** null: the queue's own. */
  delayMs: number | null
  /** null: now. */
  sentAt: number | null
  /** null: `sentAt`. */
  retentionFrom: number | null
  receiveCount: number
  firstReceivedAt: number | null
  deadLetterSourceArn: string | null
  deadLetter: DeadLetter | null
  groupId: string | null
  deduplicationId: string | null
  /** FIFO: whether the deduplication id is held against earlier ones, and where it is from. */
  deduplication: 'none' | 'given' | 'body'
}

const DEDUPLICATION = { none: '', given: '1', body: 'b' }

/** The deduplication id of a message that was sent without one. */
export function bodyDigest(body: string): string {
  return createHash('sha256').update(body).digest('hex')
}

/** The part of an item that never changes. */
interface Payload {
  b: string
  a?: Record<string, MessageAttribute>
  /** AWSTraceHeader. */
  t?: string
  /** Sender's account. */
  s?: string
  d?: DeadLetter
}

export function packPayload({ body, attributes, traceHeader, senderId, deadLetter }: SendItem): string {
  const payload: Payload = { b: body }
  if (attributes && Object.keys(attributes).length > 0) payload.a = attributes
  if (traceHeader !== undefined) payload.t = traceHeader
  if (senderId !== undefined) payload.s = senderId
  if (deadLetter) payload.d = deadLetter
  return JSON.stringify(payload)
}

/** In the order that queue-store.lua reads. */
export function itemValues(item: StoredItem): ScriptValue[] {
  const dead = item.deadLetter
  return [
    item.id,
    item.payload,
    item.idGiven ? '1' : '',
    item.delayMs ?? '',
    item.sentAt ?? '',
    item.retentionFrom ?? '',
    item.receiveCount,
    item.firstReceivedAt ?? '',
    item.deadLetterSourceArn ?? '',
    dead?.reason ?? '',
    dead?.statusCode ?? '',
    dead?.subscriptionArn ?? '',
    dead?.deadLetteredAt ?? '',
    dead?.messageId ?? '',
    item.groupId ?? '',
    // Where it is the item's own id, it need not be kept twice.
    item.deduplicationId === item.id ? '' : (item.deduplicationId ?? ''),
    DEDUPLICATION[item.deduplication],
  ]
}

/** As item_of in queue.lua answers it, of a FIFO queue with the nonce of its handle; null where a field is absent. */
export type ItemReply = (Buffer | null)[]

export interface ReadItem {
  message: QueueMessage
  payload: string
}

export function readItem(reply: ItemReply): ReadItem {
  const [id, payload, sent, count, first = null, source = null, group = null, dedup = null, order = null] =
    reply
  const text = String(payload)
  const { b, a, t, s, d } = JSON.parse(text) as Payload
  const message: QueueMessage = {
    messageId: String(id),
    receiveCount: Number(count),
    body: b,
    attributes: a ?? {},
    sentAt: Number(sent),
    firstReceivedAt: first === null ? null : Number(first),
  }
  if (group !== null) message.groupId = String(group)
  if (dedup !== null) message.deduplicationId = String(dedup) || bodyDigest(b)
  if (order !== null) {
    message.sequenceNumber = formatSequence(String(order))
    message.deduplicationId ??= String(id)
  }
  if (t !== undefined) message.traceHeader = t
  if (s !== undefined) message.senderId = s
  if (d) message.deadLetter = d
  if (source !== null) message.deadLetterSourceArn = String(source)
  return { message, payload: text }
}

/** 20 decimal digits that rise with the queue's own count of stored messages. */
export function formatSequence(count: string): string {
  return `1${count.padStart(19, '0')}`
}

const UID_BYTES = 8
export const NONCE_BYTES = 12
/** Position of a handle's nonce in an ItemReply. */
export const NONCE_AT = 9
const HANDLE = /^[A-Za-z0-9_-]{48}$/

/** Names one creation of a queue. */
export function createQueueUid(): string {
  return randomBytes(UID_BYTES).toString('base64url')
}

/** Unguessable; binds the queue, the item and one receive of it. */
export function formatHandle(uid: string, itemId: string, nonce: Buffer): string {
  const id = parseMessageId(itemId) ?? Buffer.alloc(16)
  return Buffer.concat([Buffer.from(uid, 'base64url'), id, nonce]).toString('base64url')
}

/** The uid, item id and nonce of a handle, or undefined where the text cannot be one. */
export function parseHandle(handle: string): [uid: string, itemId: string, nonce: Buffer] | undefined {
  if (!HANDLE.test(handle)) return undefined
  const bytes = Buffer.from(handle, 'base64url')
  const id = formatMessageId(bytes.subarray(UID_BYTES, UID_BYTES + 16))
  return [bytes.subarray(0, UID_BYTES).toString('base64url'), id, bytes.subarray(UID_BYTES + 16)]
}
