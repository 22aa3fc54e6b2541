/**
 * A master key: 32 random bytes, given as text in the environment. HKDF-SHA256 derives the encryption key and the key's
 * id from it. Every sealed text has the id in plain text. It reveals nothing of the key.
 */
import { hkdfSync, randomBytes } from 'node:crypto'

const KEY_BYTES = 32
const KEY_ID_BYTES = 4
const HEX = /^[0-9a-f]{64}$/i
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/

export interface MasterKey {
  /** Eight hex digits. */
  id: string
  /** Encrypts. */
  secret: Buffer
}

/** 32 bytes as 64 hex digits or in base64 (either alphabet); undefined for any other text. */
export function parseMasterKey(text: string): MasterKey | undefined {
  const bytes = HEX.test(text) ? Buffer.from(text, 'hex') : BASE64.test(text) && Buffer.from(text, 'base64')
  return bytes && bytes.length === KEY_BYTES ? masterKey(bytes) : undefined
}

/** The text of a new one. */
export function createMasterKeyText(): string {
  return randomBytes(KEY_BYTES).toString('base64')
}

function masterKey(bytes: Buffer): MasterKey {
  const derived = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', bytes, '', `fantail vault v1 ${purpose}`, length))
  return { id: derived('id', KEY_ID_BYTES).toString('hex'), secret: derived('seal', KEY_BYTES) }
}
