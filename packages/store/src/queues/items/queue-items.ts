/**
 * The form of an item in arguments and replies of scripts: values in by name (lua-names.ts), nine out. Also makes and
 * reads receipt handles.
 */
import { createHash, hash, randomBytes } from 'node:crypto'
import {
  type DeadLetter,
  formatMessageId,
  isObject,
  type MessageAttribute,
  parseMessageId,
  type QueueMessage,
} from '@fantail/contracts'
import { checkText, sumText } from '../../records/checksums.ts'
import { type BodySeals, notItsOwn, openMessage, SealKeyError } from '../../records/sealed-messages.ts'
import { parseStored, UnreadableRecordError } from '../../records/stored-json.ts'
import type { ScriptValue } from '../../redis/scripts.ts'
import { ITEM_VALUES } from '../../scripts/lua-names.ts'
import type { SendItem } from './queue-records.ts'
import { openPayload, type SealedPayload } from './sealed-payloads.ts'

/** An item to store, in which every choice of SendItem is made. */
export interface StoredItem {
  id: string
  payload: string
  /** Whether a later send with the same id is a repetition. */
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
  /** FIFO: whether the deduplication id is compared with earlier ones, and where it comes from. */
  deduplication: 'none' | 'given' | 'body'
}

const DEDUPLICATION = { none: '', given: '1', body: 'b' }

/** The deduplication id of a message that was sent without one. */
export function bodyDigest(body: string): string {
  return createHash('sha256').update(body).digest('hex')
}

/** The part of an item that never changes. If it is only a body, that text alone is stored. */
interface Payload {
  b: string
  a?: Record<string, MessageAttribute>
  /** AWSTraceHeader. */
  t?: string
  /** Sender's account. */
  s?: string
  d?: DeadLetter
}

type Content = Pick<SendItem, 'body' | 'attributes' | 'traceHeader' | 'senderId' | 'deadLetter'>

export function packPayload({ body, attributes, traceHeader, senderId, deadLetter }: Content): string {
  const payload: Payload = { b: body }
  if (attributes && Object.keys(attributes).length > 0) payload.a = attributes
  if (traceHeader !== undefined) payload.t = traceHeader
  if (senderId !== undefined) payload.s = senderId
  if (deadLetter) payload.d = deadLetter
  return JSON.stringify(Object.keys(payload).length === 1 ? body : payload)
}

/** The checksum of a payload also covers this text, so that no item can have the payload of another. */
export function besidePayload(id: string, group: string): string {
  return id + group
}

/** The values of an item as queue-store.lua takes them. */
export function itemValues(item: StoredItem): ScriptValue[] {
  const dead = item.deadLetter
  const values: Record<(typeof ITEM_VALUES)[number], ScriptValue> = {
    id: item.id,
    payload: sumText(item.payload, besidePayload(item.id, item.groupId ?? '')),
    idGiven: item.idGiven ? '1' : '',
    delay: item.delayMs ?? '',
    sentAt: item.sentAt ?? '',
    keptFrom: item.retentionFrom ?? '',
    receiveCount: item.receiveCount,
    firstReceivedAt: item.firstReceivedAt ?? '',
    source: item.deadLetterSourceArn ?? '',
    reason: dead?.reason ?? '',
    statusCode: dead?.statusCode ?? '',
    subscription: dead?.subscriptionArn ?? '',
    deadAt: dead?.deadLetteredAt ?? '',
    message: dead?.messageId ?? '',
    lastError: dead?.lastError ?? '',
    group: item.groupId ?? '',
    // If it is the item's own id, it is not stored a second time.
    deduplicationId: item.deduplicationId === item.id ? '' : (item.deduplicationId ?? ''),
    deduplication: DEDUPLICATION[item.deduplication],
  }
  return ITEM_VALUES.map((name) => values[name])
}

/**
 * An item in the form of item_of in queue.lua. In a FIFO queue it also has the secret of its handle. A field is null if
 * absent.
 */
export type ItemReply = (Buffer | null)[]

export interface ReadItem {
  message: QueueMessage
  payload: string
}

/** An item that cannot be decoded, or lacks a part. */
export interface UnreadableItem {
  id: string
  /** Its payload, unchanged; empty if none is left. */
  raw: Buffer
  problem: string
}

/**
 * Reads the items that can be read. The others are listed apart, in their order. Sealed items are opened if `seals` is
 * given and has their key.
 */
export function readItems(
  replies: readonly ItemReply[],
  seals?: BodySeals,
): {
  items: ReadItem[]
  unreadable: UnreadableItem[]
} {
  const items: ReadItem[] = []
  const unreadable: UnreadableItem[] = []
  for (const reply of replies) {
    const item = tryReadItem(reply, () => lookAtItem(reply, seals))
    if ('problem' in item) unreadable.push(item)
    else items.push(item)
  }
  return { items, unreadable }
}

/** `read` may also throw a SealKeyError. */
export function tryReadItem(reply: ItemReply, read = () => readItem(reply)): ReadItem | UnreadableItem {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error
    const { cause } = error
    const problem = cause instanceof Error ? cause.message : error.message
    return { id: String(reply[0]), raw: reply[1] ?? Buffer.alloc(0), problem }
  }
}

/** Like `readItem`. A sealed item whose key is missing stays locked. */
export function lookAtItem(reply: ItemReply, seals: BodySeals | undefined): ReadItem {
  try {
    return readItem(reply, seals)
  } catch (error) {
    if (!(error instanceof SealKeyError)) throw error
    return readItem(reply)
  }
}

/**
 * Throws an UnreadableRecordError that names the item, if it cannot be decoded or lacks a part. Opens a sealed item if
 * `seals` is given, and throws a SealKeyError if its key is missing.
 */
export function readItem(reply: ItemReply, seals?: BodySeals): ReadItem {
  const [id, payload, sent, count, first = null, source = null, group = null, dedup = null, order = null] =
    reply
  const text = checkText(
    String(payload ?? ''),
    `message ${id}`,
    besidePayload(String(id), String(group ?? '')),
  )
  const { b, a, t, s, d, sealed } = contentOf(text, reply, seals)
  const message: QueueMessage = {
    messageId: String(id),
    receiveCount: Number(count),
    body: b,
    attributes: a ?? {},
    sentAt: Number(sent),
    firstReceivedAt: first === null ? null : Number(first),
  }
  if (group !== null) message.groupId = String(group)
  if (dedup !== null) message.deduplicationId = String(dedup) || (sealed === 'locked' ? '' : bodyDigest(b))
  if (order !== null) {
    message.sequenceNumber = formatSequence(String(order))
    message.deduplicationId ??= String(id)
  }
  if (t !== undefined) message.traceHeader = t
  if (s !== undefined) message.senderId = s
  if (d) message.deadLetter = d
  if (source !== null) message.deadLetterSourceArn = String(source)
  if (sealed) message.sealed = sealed
  return { message, payload: text }
}

type Opened = Payload & Pick<QueueMessage, 'sealed'>

function contentOf(text: string, reply: ItemReply, seals: BodySeals | undefined): Opened {
  const payload = parsePayload(text, reply)
  if (!isSealedPayload(payload)) return payload
  if (!seals) return { ...payload, sealed: 'locked' }
  const [id] = reply
  const content = openPayload(payload, String(id), seals)
  if (content === undefined) throw notItsOwn(`message ${id}`, text)
  const opened: Opened = { ...parsePayload(content, reply), sealed: 'open' }
  const { d } = payload
  if (!d) return opened
  const { messageId, topicArn } = d.message
  if (messageId !== d.messageId || topicArn !== d.topicArn) throw notItsOwn(`message ${id}`, text)
  opened.d = { ...d, message: openMessage(seals, d.message) }
  return opened
}

function isSealedPayload(payload: Payload | SealedPayload): payload is Payload & SealedPayload {
  return 'z' in payload
}

const NUMBER = /^\d+(\.\d+)?$/
/** A receive counts no other number (queue-take.lua), so nobody could acknowledge the message. */
const COUNT = /^\d{1,15}$/

function parsePayload(text: string, [id, , sent, count, first]: ItemReply): Payload {
  const key = `message ${id}`
  const payload: Partial<Payload & SealedPayload> = text.startsWith('"')
    ? { b: JSON.parse(text) }
    : parseStored(text, key)
  // Only the sealed text of a sealed item has a body.
  if (payload.z !== undefined) payload.b = ''
  const { b, a = {}, t = '', s = '', z = '', q = '', i = [] } = payload
  const texts = [b, t, s, z, q, ...i, ...Object.values(a).flatMap((of) => [of?.type, of?.value])]
  const numbers = [sent, first ?? '0']
  const isWhole =
    isObject(a) &&
    (payload.d === undefined || (isObject(payload.d) && isLetter(payload.d))) &&
    texts.every((value) => typeof value === 'string') &&
    numbers.every((value) => NUMBER.test(String(value))) &&
    COUNT.test(String(count))
  if (!isWhole)
    throw new UnreadableRecordError(key, new TypeError('a member is lost or has another type'), text)
  return payload as Payload
}

function isLetter({ messageId, message, subscriptionArn, generation }: Partial<DeadLetter>): boolean {
  const isNamed = parseMessageId(String(messageId)) !== undefined && typeof subscriptionArn === 'string'
  return isNamed && isObject(message) && Number.isInteger(generation ?? 0)
}

/** 20 decimal digits that rise with the queue's own count of stored messages. */
export function formatSequence(count: string): string {
  return `1${count.padStart(19, '0')}`
}

const UID_BYTES = 8
const ID_BYTES = 16
export const SECRET_BYTES = 16
const DIGEST_BYTES = 16
/** 40 bytes in base64url; the last digit carries two bits. */
const HANDLE = /^[A-Za-z0-9_-]{53}[AQgw]$/

/** A new uid, for one creation of a queue. */
export function createQueueUid(): string {
  return randomBytes(UID_BYTES).toString('base64url')
}

/** A handle names the queue, the item and one receive of it. Its 128 random bits cannot be guessed. */
export function formatHandle(uid: string, itemId: string, secret: Buffer): string {
  const id = parseMessageId(itemId) ?? Buffer.alloc(ID_BYTES)
  return Buffer.concat([Buffer.from(uid, 'base64url'), id, secret]).toString('base64url')
}

/** The uid, the item's id and the digest of the secret in a handle. undefined: the text cannot be a handle. */
export function parseHandle(handle: string): [uid: string, itemId: string, digest: Buffer] | undefined {
  if (!HANDLE.test(handle)) return undefined
  const bytes = Buffer.from(handle, 'base64url')
  const id = formatMessageId(bytes.subarray(UID_BYTES, UID_BYTES + ID_BYTES))
  return [
    bytes.subarray(0, UID_BYTES).toString('base64url'),
    id,
    secretDigest(bytes.subarray(UID_BYTES + ID_BYTES)),
  ]
}

/**
 * The digest that scripts compare instead of the secret. They cannot compare in constant time, so they never get the
 * caller's secret. Timing could only reveal the digest, and the secret does not follow from it.
 */
export function secretDigest(secret: Uint8Array): Buffer {
  return hash('sha256', secret, 'buffer').subarray(0, DIGEST_BYTES)
}
