/** Encrypts notifications for browsers: aes128gcm (RFC 8188) with the keys of RFC 8291. */
import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'

interface BrowserKeys {
  /** Public key of the browser, base64url. */
  p256dh: string
  /** Secret of the browser, base64url. */
  auth: string
}

/** Push services take bodies of 4,096 bytes. The header takes 86, the tag 16, and the delimiter 1. */
const BODY_BYTES = 4_096
/** @limit Text of one notification to a browser. Past it: the delivery has failed permanently. */
export const WEB_PUSH_TEXT_BYTES_MAX = BODY_BYTES - 103

const CONTENT_SALT_BYTES = 16
const CONTENT_KEY_BYTES = 16
const CONTENT_NONCE_BYTES = 12
/** The byte that ends the last record. */
const DELIMITER = 2

/** Encrypts the text as one record that only the browser can read. */
export function encryptForBrowser(text: Buffer, { p256dh, auth }: BrowserKeys): Buffer {
  const browser = Buffer.from(p256dh, 'base64url')
  const pair = createECDH('prime256v1')
  const own = pair.generateKeys()
  const salt = randomBytes(CONTENT_SALT_BYTES)
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), browser, own])
  const secret = derived(pair.computeSecret(browser), Buffer.from(auth, 'base64url'), info, 32)
  const key = derived(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), CONTENT_KEY_BYTES)
  const nonce = derived(secret, salt, Buffer.from('Content-Encoding: nonce\0'), CONTENT_NONCE_BYTES)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  const sealed = [
    cipher.update(text),
    cipher.update(Buffer.of(DELIMITER)),
    cipher.final(),
    cipher.getAuthTag(),
  ]
  const sizes = Buffer.alloc(5)
  sizes.writeUInt32BE(BODY_BYTES, 0)
  sizes.writeUInt8(own.length, 4)
  return Buffer.concat([salt, sizes, own, ...sealed])
}

function derived(secret: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, bytes))
}
