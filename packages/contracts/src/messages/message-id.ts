/**
 * Message ids are UUIDv7 (RFC 9562 §5.7). The first 48 bits are the time of publishing, so a script can compute a
 * delivery's age from its id. Lanes store the 16 bytes.
 */
import { randomBytes } from 'node:crypto'
import type { Message } from '../records.ts'

const POOL_IDS = 256
/** Ten bytes in addition to the time. */
const RANDOM_DIGITS = 20
let pool = ''
let used = 0
/** The prefix of all ids of one millisecond. It is kept, because hundreds of ids may be made in one millisecond. */
let prefixTime = Number.NaN
let prefix = ''

/**
 * The time and 74 random bits. Only tests give `random` (10 bytes). The text is built from digits. Building it from
 * bytes takes several times as long, and this runs for every message.
 */
export function createMessageId(publishedAt: number, random?: Uint8Array): string {
  if (publishedAt !== prefixTime) {
    prefix = prefixOf(publishedAt)
    prefixTime = publishedAt
  }
  const digits = random ? Buffer.from(random).toString('hex') : nextDigits()
  const variant = VARIANTS[Number.parseInt(digits.charAt(4), 16) & 3]
  return `${prefix}${digits.slice(1, 4)}-${variant}${digits.slice(5, 8)}-${digits.slice(8)}`
}

const VARIANTS = '89ab'

function prefixOf(publishedAt: number): string {
  const bytes = Buffer.alloc(6)
  bytes.writeUIntBE(publishedAt, 0, 6)
  return `${bytes.toString('hex', 0, 4)}-${bytes.toString('hex', 4)}-7`
}

function nextDigits(): string {
  if (used === pool.length) {
    pool = randomBytes((POOL_IDS * RANDOM_DIGITS) / 2).toString('hex')
    used = 0
  }
  used += RANDOM_DIGITS
  return pool.slice(used - RANDOM_DIGITS, used)
}

/** The UUID text of 16 bytes. */
export function formatMessageId(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const MESSAGE_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The 16 bytes of a UUID's text. Undefined if the text is not a UUID. */
export function parseMessageId(text: string): Buffer | undefined {
  return MESSAGE_ID.test(text) ? Buffer.from(text.replaceAll('-', ''), 'hex') : undefined
}

/** The id that subscribers see. */
export function shownIdOf({ sourceId, messageId }: Pick<Message, 'sourceId' | 'messageId'>): string {
  return sourceId ?? messageId
}

/** Bytes of the id of a resent delivery: the message id, and a generation of 6 bytes. */
export const RESENT_DELIVERY_BYTES = 22

/** Whether a resend has made the delivery. Undefined: the delivery of a test. */
export function isResent(delivery: Uint8Array | undefined): boolean {
  return delivery?.length === RESENT_DELIVERY_BYTES
}

/** The time of publishing in an id that `createMessageId` made; epoch ms. */
export function publishedAtOf(messageId: string): number {
  return Number.parseInt(messageId.slice(0, 8) + messageId.slice(9, 13), 16)
}
