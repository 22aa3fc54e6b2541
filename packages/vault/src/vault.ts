/**
 * Secrets at rest. A sealed text is `v1.<key id>.<nonce, ciphertext and tag in base64url>` (AES-256-GCM). Its context
 * names the owner of the secret. It is authenticated but not stored, so a text that is sealed for one record cannot be
 * moved to another.
 *
 * The first key seals, and all keys open. To change the key, first give all processes the new key as one that only
 * opens. Then make it the first key, let `reseal` seal everything again, and remove the old key. Nonces are random, so
 * a key may seal 2^32 texts: a hundred a second for more than a year (section 8.3 of
 * https://doi.org/10.6028/NIST.SP.800-38D).
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { type BodySeals, createBodySeals } from './bodies.ts'
import { type MasterKey, VaultError } from './master-key.ts'

export interface Vault {
  /** Id of the key that seals. */
  readonly keyId: string
  /** Ids of all keys that can open. The first one is the key that seals. */
  readonly keyIds: readonly string[]
  seal(plaintext: string, context: string): string
  /** Throws a VaultError. */
  open(sealed: string, context: string): string
  /** Seals the same secret with the first key. Undefined if it is sealed with it already. Throws a VaultError. */
  reseal(sealed: string, context: string): string | undefined
  /**
   * A short name for a secret. Equal secrets have equal names as long as the first key stays. Nobody can try guesses
   * without the key.
   */
  nameOf(secret: string): string
  /** Seals and opens texts of messages. */
  readonly bodies: BodySeals
}

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SECRET_NAME_BYTES = 12
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/

/** The first key seals. */
export function createVault(keys: readonly [MasterKey, ...MasterKey[]]): Vault {
  const [first] = keys
  const ring = new Map(keys.map((key) => [key.id, key]))
  const open = (sealed: string, context: string): string => {
    const { id, box } = taken(sealed)
    const key = ring.get(id)
    if (!key) throw unknownKey(id, keys)
    return decrypted(box, { key, context })
  }
  return {
    keyId: first.id,
    keyIds: [...ring.keys()],
    bodies: createBodySeals(keys, (id) => unknownKey(id, keys)),
    seal: (plaintext, context) => `v1.${first.id}.${encrypted(plaintext, { key: first, context })}`,
    open,
    nameOf: (secret) =>
      createHmac('sha256', first.naming)
        .update(secret)
        .digest()
        .subarray(0, SECRET_NAME_BYTES)
        .toString('base64url'),
    reseal: (sealed, context) => {
      if (taken(sealed).id === first.id) return undefined
      return `v1.${first.id}.${encrypted(open(sealed, context), { key: first, context })}`
    },
  }
}

interface Under {
  key: MasterKey
  context: string
}

function encrypted(plaintext: string, { key, context }: Under): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key.secret, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(authenticated(key, context))
  const text = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url')
}

function decrypted(box: Buffer, { key, context }: Under): string {
  const nonce = box.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv(ALGORITHM, key.secret, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(authenticated(key, context))
  decipher.setAuthTag(box.subarray(box.length - TAG_BYTES))
  const text = decipher.update(box.subarray(NONCE_BYTES, box.length - TAG_BYTES))
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    throw new VaultError('damaged', 'it was changed, or sealed for something else')
  }
}

function authenticated(key: MasterKey, context: string): Buffer {
  return Buffer.from(`v1.${key.id}.${context}`)
}

function taken(sealed: string): { id: string; box: Buffer } {
  const [, id = '', text = ''] = SEALED.exec(sealed) ?? []
  const box = Buffer.from(text, 'base64url')
  if (box.length < NONCE_BYTES + TAG_BYTES) throw new VaultError('damaged', 'it is not a sealed text')
  return { id, box }
}

function unknownKey(id: string, keys: readonly MasterKey[]): VaultError {
  const known = keys.map((key) => key.id).join(', ')
  return new VaultError('unknownKey', `it is sealed with key ${id}, which is not among ${known}`, id)
}
