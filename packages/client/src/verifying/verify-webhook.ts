/**
 * Checks the signature of a received webhook by the Standard Webhooks specification
 * (https://github.com/standard-webhooks/standard-webhooks), with Web Crypto.
 */
import {
  base64Bytes,
  type ImportedKey,
  type ReadRequest,
  type ReceivedRequest,
  readRequest,
  textOfBody,
  VerifyError,
} from './received-request.ts'
import { eventOf, parseEnvelope, rawEvent, type WebhookEvent } from './webhook-event.ts'

export interface VerifyWebhookOptions {
  /** `whsec_…` secrets or `whpk_…` public keys. One of them must have signed. */
  keys: readonly string[]
  /** How far the request's time may be from this clock, in seconds. Default: 300. */
  toleranceSeconds?: number
  /** Epoch ms. Default: the clock. */
  now?: number
}

const TOLERANCE_S = 300
/** Signatures of a received webhook that are compared. Past it: the others are not looked at. */
const SIGNATURES_MAX = 20

/** Returns the event that the webhook received. Throws a VerifyError if the request must not be trusted. */
export async function verifyWebhook(
  request: ReceivedRequest,
  { keys, toleranceSeconds = TOLERANCE_S, now = Date.now() }: VerifyWebhookOptions,
): Promise<WebhookEvent> {
  if (keys.length === 0) throw new VerifyError('wrong_key', 'keys is empty')
  const verifiers = await Promise.all(keys.map(readKey))
  const read = await readRequest(request)
  const messageId = needed(read, 'webhook-id')
  const timestamp = needed(read, 'webhook-timestamp')
  const signatures = needed(read, 'webhook-signature').split(' ').slice(0, SIGNATURES_MAX)
  if (!/^\d{1,12}$/.test(timestamp))
    throw new VerifyError('wrong_timestamp', 'webhook-timestamp is not seconds')
  if (Math.abs(now / 1_000 - Number(timestamp)) > toleranceSeconds) {
    throw new VerifyError('too_old', `webhook-timestamp is more than ${toleranceSeconds} s from now`)
  }
  const content = joined(`${messageId}.${timestamp}.`, read.body)
  for (const signature of signatures) {
    for (const verifier of verifiers) {
      if (await matches(verifier, signature, content)) return toEvent(read, messageId)
    }
  }
  throw new VerifyError('no_matching_signature', 'no signature is of one of the keys')
}

function needed({ header }: ReadRequest, name: string): string {
  const value = header(name)
  if (value === undefined || value === '')
    throw new VerifyError('missing_header', `the request has no ${name}`)
  return value
}

function toEvent({ header, body }: ReadRequest, messageId: string): WebhookEvent {
  const text = textOfBody(body)
  // This header is not signed. If somebody removes it, a raw message that looks like an envelope is refused, because
  // its id differs.
  if (header('x-amz-sns-rawdelivery') === 'true') return rawEvent(text, messageId)
  const event = eventOf(parseEnvelope(text))
  if (event.messageId === messageId) return event
  throw new VerifyError('wrong_body', 'the envelope has another id than webhook-id')
}

function joined(head: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const first = new TextEncoder().encode(head)
  const whole = new Uint8Array(first.length + body.length)
  whole.set(first)
  whole.set(body, first.length)
  return whole
}

interface Verifier {
  version: 'v1' | 'v1a'
  algorithm: 'HMAC' | 'Ed25519'
  key: ImportedKey
}

async function readKey(text: string): Promise<Verifier> {
  const [, prefix, encoded = ''] = /^(whsec|whpk)_(.*)$/.exec(text) ?? []
  const bytes = base64Bytes(encoded)
  if (prefix === undefined || !bytes || bytes.length === 0) {
    throw new VerifyError('wrong_key', 'a key must be whsec_ or whpk_ and base64')
  }
  try {
    return prefix === 'whsec' ? await hmacKey(bytes) : await publicKey(bytes)
  } catch (cause) {
    throw new VerifyError('wrong_key', 'a key cannot be used here', cause)
  }
}

async function hmacKey(bytes: Uint8Array<ArrayBuffer>): Promise<Verifier> {
  const wanted = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes, wanted, false, ['verify'])
  return { version: 'v1', algorithm: 'HMAC', key }
}

async function publicKey(bytes: Uint8Array<ArrayBuffer>): Promise<Verifier> {
  const key = await crypto.subtle.importKey('raw', bytes, 'Ed25519', false, ['verify'])
  return { version: 'v1a', algorithm: 'Ed25519', key }
}

/** Web Crypto compares in constant time. */
async function matches(
  verifier: Verifier,
  signature: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const [version, encoded = ''] = signature.split(',')
  const bytes = version === verifier.version ? base64Bytes(encoded) : undefined
  return bytes !== undefined && crypto.subtle.verify(verifier.algorithm, verifier.key, bytes, content)
}
