/**
 * Signatures by the Standard Webhooks specification (github.com/standard-webhooks). Headers:
 *
 * - `webhook-id`: the same for every attempt of a message
 * - `webhook-timestamp`: the time of this attempt
 * - `webhook-signature`: one signature per key in use, over `{id}.{timestamp}.{body}`. `v1,` is HMAC-SHA256, `v1a,` is
 * ed25519.
 *
 * A replaced key still signs, together with the new one, until it expires. So receivers have time to change their key.
 */
import {
  createHmac,
  createPrivateKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'
import type { SubscriptionRecord, WebhookAlgorithm, WebhookKey } from '@fantail/contracts'
import { NoVaultError, type Sealing } from '../outbound/outbound-secrets.ts'

const WEBHOOK_SECRET_BYTES = 32
/** @limit Secret of a webhook key. Below it: `validation_failed`. */
const SECRET_BYTES_MIN = 24
/** @limit Secret of a webhook key. Past it: `validation_failed`. */
const SECRET_BYTES_MAX = 64
const SECRET_PREFIX = 'whsec_'
const PUBLIC_PREFIX = 'whpk_'

/** The seal's context of a subscription's key. */
export function webhookKeyContext(subscriptionId: string, keyId: string): string {
  return `webhook key ${subscriptionId} ${keyId}`
}

/** The receiver's part of a key. For HMAC it is the secret itself, shown once. For ed25519 it is the public key. */
export interface NewWebhookKey {
  key: WebhookKey
  secret?: string
}

interface WebhookKeyWanted {
  subscriptionId: string
  algorithm: WebhookAlgorithm
  /** For HMAC: a secret that the receiver already has, in the form that `isWebhookSecret` checks. */
  secret?: string | undefined
  now: number
}

/** Throws a NoVaultError if there is no vault to seal the key with. */
export function createWebhookKey(wanted: WebhookKeyWanted, vault: Sealing | undefined): NewWebhookKey {
  if (!vault) throw new NoVaultError()
  const { subscriptionId, algorithm, now } = wanted
  const id = randomBytes(8).toString('hex')
  const made = algorithm === 'ed25519' ? newPair() : newSecret(wanted.secret)
  const sealed = vault.seal(made.hidden, webhookKeyContext(subscriptionId, id))
  const key: WebhookKey = { id, algorithm, sealed, createdAt: now, expiresAt: null }
  const { publicKey, hidden: secret } = made
  return publicKey === undefined ? { key, secret } : { key: { ...key, publicKey } }
}

/**
 * Whether the text is `whsec_` with 24 to 64 bytes in base64, with or without padding. Node decodes any text and skips
 * what it cannot read, but libraries of receivers refuse such texts. So the bytes must give the same text again.
 */
export function isWebhookSecret(text: string): boolean {
  const bytes = bytesOf(text)
  if (bytes.length < SECRET_BYTES_MIN || bytes.length > SECRET_BYTES_MAX) return false
  const padded = SECRET_PREFIX + bytes.toString('base64')
  return text === padded || text === padded.replace(/=+$/, '')
}

interface Made {
  hidden: string
  publicKey?: string
}

function newSecret(given: string | undefined): Made {
  return { hidden: given ?? SECRET_PREFIX + randomBytes(WEBHOOK_SECRET_BYTES).toString('base64') }
}

/** `hidden` is the private key as a JSON Web Key. */
function newPair(): Made {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const point = Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url')
  return {
    hidden: JSON.stringify(privateKey.export({ format: 'jwk' })),
    publicKey: PUBLIC_PREFIX + point.toString('base64'),
  }
}

function bytesOf(secret: string): Buffer {
  return Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
}

interface Signed {
  messageId: string
  /** Time of the attempt, epoch ms. */
  now: number
  body: Buffer | string
}

interface OpenKey {
  expiresAt: number | null
  signatureOf(content: string, body: Buffer | string): string
}

/** Signs the requests of one subscription. Its keys are unsealed at the first attempt. */
export class WebhookSigner {
  readonly #subscriptionId: string
  readonly #keys: readonly WebhookKey[]
  #open: OpenKey[] | undefined

  constructor(subscriptionId: string, keys: readonly WebhookKey[]) {
    this.#subscriptionId = subscriptionId
    this.#keys = keys
  }

  /**
   * Headers as a flat list of names and values. Throws the vault's error or a NoVaultError, so nothing is sent
   * unsigned.
   */
  headers({ messageId, now, body }: Signed, vault: Pick<Sealing, 'open'> | undefined): string[] {
    this.#open ??= this.#keys.map((key) => openKey(key, this.#subscriptionId, vault))
    const seconds = String(Math.floor(now / 1_000))
    const content = `${messageId}.${seconds}.`
    const signatures: string[] = []
    for (const key of this.#open) {
      if (key.expiresAt === null || key.expiresAt > now) signatures.push(key.signatureOf(content, body))
    }
    return ['webhook-id', messageId, 'webhook-timestamp', seconds, 'webhook-signature', signatures.join(' ')]
  }
}

/** undefined: the subscription has no keys. */
export function webhookSignerOf({
  id,
  webhookKeys,
}: Pick<SubscriptionRecord, 'id' | 'webhookKeys'>): WebhookSigner | undefined {
  return webhookKeys && webhookKeys.length > 0 ? new WebhookSigner(id, webhookKeys) : undefined
}

function openKey(
  { id, algorithm, sealed, expiresAt }: WebhookKey,
  subscriptionId: string,
  vault: Pick<Sealing, 'open'> | undefined,
): OpenKey {
  if (!vault) throw new NoVaultError()
  const hidden = vault.open(sealed, webhookKeyContext(subscriptionId, id))
  if (algorithm === 'hmac-sha256') return { expiresAt, signatureOf: hmacBy(bytesOf(hidden)) }
  return { expiresAt, signatureOf: signatureBy(createPrivateKey({ key: JSON.parse(hidden), format: 'jwk' })) }
}

/**
 * With a KeyObject a signature of 1.4 KB takes 2.6 µs. With the bytes it takes 14 µs, because Node prepares the key
 * each time.
 */
function hmacBy(secret: Buffer): OpenKey['signatureOf'] {
  const key = createSecretKey(secret)
  return (content, body) => `v1,${createHmac('sha256', key).update(content).update(body).digest('base64')}`
}

function signatureBy(key: KeyObject): OpenKey['signatureOf'] {
  return (content, body) => {
    const whole = Buffer.concat([Buffer.from(content), typeof body === 'string' ? Buffer.from(body) : body])
    return `v1a,${sign(null, whole, key).toString('base64')}`
  }
}
