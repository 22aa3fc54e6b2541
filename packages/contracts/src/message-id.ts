/**
 * Message ids are UUIDv7 (RFC 9562 §5.7): the first 48 bits are the time of publishing, so that a script can tell a
 * delivery's age from its id alone, and the 16 bytes are what lanes store.
 */
import { randomBytes } from 'node:crypto'

const POOL_IDS = 256
let pool = Buffer.alloc(0)
let used = 0

/** 74 random bits beside the time; `random` (10 bytes) is for tests. */
export function createMessageId(publishedAt: number, random?: Uint8Array): string {
  return formatMessageId(createMessageIdBytes(publishedAt, random))
}

function createMessageIdBytes(publishedAt: number, random: Uint8Array = nextRandom()): Buffer {
  const bytes = Buffer.allocUnsafe(16)
  bytes.writeUIntBE(publishedAt, 0, 6)
  bytes.set(random, 6)
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return bytes
}

function nextRandom(): Uint8Array {
  if (used + 10 > pool.length) {
    pool = randomBytes(10 * POOL_IDS)
    used = 0
  }
  used += 10
  return pool.subarray(used - 10, used)
}

/** The dashed text of 16 bytes. */
export function formatMessageId(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const MESSAGE_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The 16 bytes of a UUID's text, or undefined where it is none. */
export function parseMessageId(text: string): Buffer | undefined {
  return MESSAGE_ID.test(text) ? Buffer.from(text.replaceAll('-', ''), 'hex') : undefined
}

/** Epoch ms in an id that `createMessageId` made. */
export function publishedAtOf(messageId: string): number {
  return Number.parseInt(messageId.slice(0, 8) + messageId.slice(9, 13), 16)
}
