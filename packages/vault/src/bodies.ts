/**
 * Seals texts of messages. A sealed text is, in base64:
 *
 *   version (1 byte) · id of the master key (4) · salt (16) · nonce (12) · AES-256-GCM ciphertext · tag (16)
 *
 * HKDF-SHA256 derives the data key from the master key and the salt. Every text therefore has all that is needed to
 * open it, besides the master key: no data key is stored that could be lost before its texts. A process uses a data key
 * for a minute. Nonces are random, so a data key may seal 2^32 texts (section 8.3 of
 * https://doi.org/10.6028/NIST.SP.800-38D).
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  randomFillSync,
} from 'node:crypto'

export interface BodySeals {
  /** Derives the data key, if it is not there yet. */
  needKey(): void
  /** `context` is authenticated and not stored. It names the owner of the text. */
  seal(text: string, context: string): string
  /** Undefined: the text was changed, or it belongs to another owner. Throws a VaultError if its key is missing. */
  open(sealed: string, context: string): string | undefined
}

/** A master key, as far as it seals texts of messages. */
interface BodyKey {
  /** Eight hex digits. */
  id: string
  /** Data keys are derived from it. */
  bodies: Buffer
}

/** It ciphers as a stream: `update` gives all bytes, and `final` only makes or checks the tag. */
const ALGORITHM = 'aes-256-gcm'
const BODY_VERSION = 1
const DATA_KEY_BYTES = 32
const SALT_AT = 5
const NONCE_AT = 21
const TEXT_AT = 33
const BODY_TAG_BYTES = 16
/** How long a process seals with one data key. It is within the shortest reuse period of SQS, 60 s. */
const DATA_KEY_MS = 60_000
/** Data keys that a process keeps to open texts. Past it: the oldest is derived again when it is needed. */
const DATA_KEYS_MAX = 1_000

/** Nonces that are drawn at once, because each call of the random generator takes 2 µs. */
const NONCES_DRAWN = 512
const BODY_NONCE_BYTES = TEXT_AT - NONCE_AT
const drawn = Buffer.alloc(NONCES_DRAWN * BODY_NONCE_BYTES)
let drawnUsed = drawn.length

/** Valid until the next call. */
function newNonce(): Buffer {
  if (drawnUsed === drawn.length) {
    randomFillSync(drawn)
    drawnUsed = 0
  }
  drawnUsed += BODY_NONCE_BYTES
  return drawn.subarray(drawnUsed - BODY_NONCE_BYTES, drawnUsed)
}

interface OwnKey {
  head: Buffer
  /** Node prepares a key object once. Bytes took 24 µs instead of 9 for a text of 1 KB. */
  secret: KeyObject
  /** By performance.now(). */
  until: number
}

/** The first key seals, and all keys open. `missing` makes the error for a key that is not among them. */
export function createBodySeals(
  keys: readonly [BodyKey, ...BodyKey[]],
  missing: (keyId: string) => Error,
): BodySeals {
  const byId = new Map(keys.map((key) => [key.id, key]))
  const derived = new Map<string, KeyObject>()
  let own: OwnKey | undefined

  const secretOf = (head: Buffer): KeyObject => {
    const name = head.toString('latin1')
    const known = derived.get(name)
    if (known) return known
    const keyId = head.toString('hex', 1, SALT_AT)
    const key = byId.get(keyId)
    if (!key) throw missing(keyId)
    const secret = derive(key, head)
    const [oldest] = derived.keys()
    if (oldest !== undefined && derived.size >= DATA_KEYS_MAX) derived.delete(oldest)
    derived.set(name, secret)
    return secret
  }
  const ownKey = (): OwnKey => {
    if (own && performance.now() < own.until) return own
    const [{ id }] = keys
    const head = Buffer.concat([
      Buffer.of(BODY_VERSION),
      Buffer.from(id, 'hex'),
      randomBytes(NONCE_AT - SALT_AT),
    ])
    own = { head, secret: derive(keys[0], head), until: performance.now() + DATA_KEY_MS }
    return own
  }
  return {
    needKey: () => void ownKey(),
    seal(text, context) {
      const { head, secret } = ownKey()
      const nonce = newNonce()
      const cipher = createCipheriv(ALGORITHM, secret, nonce, { authTagLength: BODY_TAG_BYTES })
      cipher.setAAD(Buffer.from(context))
      const sealed = cipher.update(text, 'utf8')
      cipher.final()
      return Buffer.concat([head, nonce, sealed, cipher.getAuthTag()]).toString('base64')
    },
    open(sealed, context) {
      const box = Buffer.from(sealed, 'base64')
      if (box.length < TEXT_AT + BODY_TAG_BYTES || box[0] !== BODY_VERSION || !isExact(sealed, box))
        return undefined
      return decrypted(box, secretOf(box.subarray(0, NONCE_AT)), context)
    },
  }
}

/** The salt makes the data key, and the head names all that made it. */
function derive({ bodies }: BodyKey, head: Buffer): KeyObject {
  const bytes = hkdfSync('sha256', bodies, head.subarray(SALT_AT), 'fantail body v1 data key', DATA_KEY_BYTES)
  return createSecretKey(Buffer.from(bytes))
}

function decrypted(box: Buffer, secret: KeyObject, context: string): string | undefined {
  const nonce = box.subarray(NONCE_AT, TEXT_AT)
  const decipher = createDecipheriv(ALGORITHM, secret, nonce, { authTagLength: BODY_TAG_BYTES })
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(box.subarray(box.length - BODY_TAG_BYTES))
  const text = decipher.update(box.subarray(TEXT_AT, box.length - BODY_TAG_BYTES))
  try {
    decipher.final()
  } catch {
    return undefined
  }
  return text.toString('utf8')
}

/** Node decodes base64 with foreign characters or other last bits too. Such a text was changed. */
function isExact(sealed: string, box: Buffer): boolean {
  const end = box.toString('base64', box.length - (box.length % 3 || 3))
  return sealed.length === Math.ceil(box.length / 3) * 4 && sealed.endsWith(end)
}

/** The id of the key that has sealed the text, of which eight characters suffice. Undefined for any other text. */
export function sealingKeyOf(text: string): string | undefined {
  const head = Buffer.from(text.slice(0, 8), 'base64')
  return head[0] === BODY_VERSION ? head.toString('hex', 1, SALT_AT) : undefined
}
