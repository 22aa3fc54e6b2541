/**
 * A master key: 32 random bytes. HKDF-SHA256 derives the encryption key and the key's id from them. Every sealed text
 * has the id in plain text. It reveals nothing of the key.
 *
 * The text of a key has the bytes in base64 or hex, or as a key service has wrapped them. A wrapped key also names its
 * id, so that a process knows what it lacks before the service answers. By AWS KMS, and by Transit of HashiCorp Vault:
 *
 *   awskms:1a2b3c4d:arn:aws:kms:eu-west-1:111122223333:key/5e6f7a8b:AQICAHh…
 *   vault:1a2b3c4d:transit/fantail:v1:8SDd3WHD…
 */
import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'

/**
 * `unknownKey`: none of the keys has sealed the text. `lockedKey`: no key service has unwrapped the key yet. `damaged`:
 * the text is not sealed, was changed, or has another context.
 */
type VaultErrorCode = 'unknownKey' | 'lockedKey' | 'damaged'

/** Its message never contains the secret. */
export class VaultError extends Error {
  readonly code: VaultErrorCode
  /** The missing key. Undefined if the code is `damaged`. */
  readonly keyId: string | undefined

  constructor(code: VaultErrorCode, message: string, keyId?: string) {
    super(message)
    this.name = 'VaultError'
    this.code = code
    this.keyId = keyId
  }
}

/**
 * Two of its keys are KeyObjects, because Node prepares bytes again for each use: opening a secret took 17 µs with
 * bytes, and takes 5.
 */
export interface MasterKey {
  /** Eight hex digits. */
  readonly id: string
  /** Encrypts. */
  readonly secret: KeyObject
  /** Makes names of secrets. */
  readonly naming: KeyObject
  /** Makes the data keys that seal messages. */
  readonly bodies: Buffer
}

const SERVICES = ['awskms', 'vault'] as const

/** A key of a key service, which wraps master keys. */
export interface WrappingKey {
  service: (typeof SERVICES)[number]
  /** AWS KMS: its ARN. Vault: the path of the engine and the name of the key, as in `transit/fantail`. */
  name: string
}

/** A master key that a key service has wrapped. Until it is unwrapped, every use throws a VaultError (`lockedKey`). */
export class WrappedKey implements MasterKey {
  readonly id: string
  readonly by: WrappingKey
  /** The text that the service gave, for Vault without `vault:`. */
  readonly ciphertext: string
  #key: MasterKey | undefined

  constructor(id: string, by: WrappingKey, ciphertext: string) {
    this.id = id
    this.by = by
    this.ciphertext = ciphertext
  }

  get isLocked(): boolean {
    return this.#key === undefined
  }

  get secret(): KeyObject {
    return this.#unlocked.secret
  }

  get naming(): KeyObject {
    return this.#unlocked.naming
  }

  get bodies(): Buffer {
    return this.#unlocked.bodies
  }

  /** Throws if these are not the bytes of this key. */
  unlock(bytes: Buffer): void {
    const key = bytes.length === KEY_BYTES ? masterKey(bytes) : undefined
    if (key?.id !== this.id) throw new Error(`the unwrapped bytes are not master key ${this.id}`)
    this.#key = key
  }

  get #unlocked(): MasterKey {
    if (this.#key) return this.#key
    throw new VaultError(
      'lockedKey',
      `${this.by.service} has not unwrapped master key ${this.id} yet`,
      this.id,
    )
  }
}

const KEY_BYTES = 32
const KEY_ID_BYTES = 4
const HEX = /^[0-9a-f]{64}$/i
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/
const AWS_KEY = /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:(?:key|alias)\/[\w/-]+$/
/** No part begins with a dot, so that a path leads nowhere else. */
const VAULT_KEY = /^\w[\w.-]*(?:\/\w[\w.-]*)+$/
const WRAPPED = /^(awskms|vault):([0-9a-f]{8}):(.{1,1024}?):((?:v\d+:)?[A-Za-z0-9+/]{16,8192}={0,2})$/
const WRAPPING = /^(awskms|vault):(.{1,1024})$/

/** 32 bytes as 64 hex digits or in base64 (either alphabet), or a wrapped key; undefined for any other text. */
export function parseMasterKey(text: string): MasterKey | undefined {
  const [, service, id = '', name = '', ciphertext = ''] = WRAPPED.exec(text) ?? []
  const by = parseWrappingKey(`${service}:${name}`)
  if (by) return new WrappedKey(id, by, ciphertext)
  const bytes = masterKeyBytes(text)
  return bytes && masterKey(bytes)
}

/** `awskms:` and the ARN of a key of AWS KMS, or `vault:` and the path and name of a key; undefined for other texts. */
export function parseWrappingKey(text: string): WrappingKey | undefined {
  const [, service, name = ''] = WRAPPING.exec(text) ?? []
  if (service === 'awskms' && AWS_KEY.test(name)) return { service, name }
  return service === 'vault' && VAULT_KEY.test(name) ? { service, name } : undefined
}

/** The text of a wrapped key. */
export function wrappedKeyText({ id, by: { service, name }, ciphertext }: WrappedKey): string {
  return [service, id, name, ciphertext].join(':')
}

/** The bytes of a key that is not wrapped; undefined for any other text. */
export function masterKeyBytes(text: string): Buffer | undefined {
  const bytes = HEX.test(text) ? Buffer.from(text, 'hex') : BASE64.test(text) && Buffer.from(text, 'base64')
  return bytes && bytes.length === KEY_BYTES ? bytes : undefined
}

/** The text of a new one. */
export function createMasterKeyText(): string {
  return randomBytes(KEY_BYTES).toString('base64')
}

function masterKey(bytes: Buffer): MasterKey {
  const derived = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', bytes, '', `fantail vault v1 ${purpose}`, length))
  const id = derived('id', KEY_ID_BYTES).toString('hex')
  return {
    id,
    secret: createSecretKey(derived('seal', KEY_BYTES)),
    naming: createSecretKey(derived('name', KEY_BYTES)),
    bodies: derived('bodies', KEY_BYTES),
  }
}
