/**
 * Checks the signature of an envelope as SNS makes it: RSASSA-PKCS1-v1_5 over its members, by the certificate at
 * `SigningCertURL`. The certificate is trusted because of its host, so the caller names the hosts.
 */
import type { Confirmation, Notification } from '../generated/index.ts'
import { base64Bytes, type ImportedKey } from './base64-bytes.ts'
import { certificateKey } from './certificate-key.ts'
import { type ReceivedRequest, readRequest, textOfBody } from './received-request.ts'
import { VerifyError } from './verify-error.ts'
import { eventOf, parseEnvelope, type WebhookEvent } from './webhook-event.ts'

export interface VerifySnsOptions {
  /** Hosts that certificates may come from, with the port if it is not 443: `fantail.example.com`. */
  hosts: readonly string[]
  /** ARNs of the subscribed topics. They must be checked, because one key signs for all topics. */
  topicArns: readonly string[]
  /** Loads certificates. Default: the platform's. */
  fetch?: typeof globalThis.fetch
  signal?: AbortSignal
}

const HASHES: Record<string, string> = { '1': 'SHA-1', '2': 'SHA-256' }
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[0-9a-f]{32}\.pem$/
/** Time to load a certificate. Past it: the message is refused. */
const CERTIFICATE_TIMEOUT_MS = 5_000
/** Certificates that a process keeps. Past it: the oldest one is loaded again when it is needed. */
const CERTIFICATES_MAX = 20

/** Keys by URL. A certificate never changes, because its URL contains its hash. */
const certificates = new Map<string, Uint8Array<ArrayBuffer>>()

/** Returns the event that the webhook or queue received. Throws a VerifyError if the message must not be trusted. */
export async function verifySnsMessage(
  received: ReceivedRequest | string,
  options: VerifySnsOptions,
): Promise<WebhookEvent> {
  const text = typeof received === 'string' ? received : textOfBody((await readRequest(received)).body)
  const envelope = parseEnvelope(text)
  const { SigningCertURL: url, Signature, SignatureVersion = '' } = envelope
  const hash = HASHES[SignatureVersion]
  const signature = base64Bytes(Signature ?? '')
  if (typeof url !== 'string' || !signature || !hash) {
    throw new VerifyError('no_matching_signature', 'the message is not signed as SNS does it')
  }
  if (!options.topicArns.includes(envelope.TopicArn)) {
    throw new VerifyError('wrong_topic', 'the message is of another topic')
  }
  const key = await importKey(await certificateAt(url, options), hash)
  const content = new TextEncoder().encode(signedText(envelope))
  if (await crypto.subtle.verify('RSASSA-PKCS1-v1_5', key, signature, content)) return eventOf(envelope)
  throw new VerifyError('no_matching_signature', 'the signature is not of this message')
}

const NOTIFICATION = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
const CONFIRMATION = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']

/** The text that is signed. Each member is written as name, line feed, value, line feed. */
function signedText(envelope: Notification | Confirmation): string {
  const members = envelope as Record<string, unknown>
  const names = envelope.Type === 'Notification' ? NOTIFICATION : CONFIRMATION
  const signed = names.filter((name) => members[name] !== undefined && members[name] !== null)
  return signed.map((name) => `${name}\n${members[name]}\n`).join('')
}

async function certificateAt(url: string, options: VerifySnsOptions): Promise<Uint8Array<ArrayBuffer>> {
  const { protocol, host, pathname, search, username } = URL.canParse(url)
    ? new URL(url)
    : ({} as Partial<URL>)
  const isOurs = host !== undefined && options.hosts.includes(host)
  if (protocol !== 'https:' || !isOurs || search || username || !CERTIFICATE_PATH.test(pathname ?? '')) {
    throw new VerifyError('wrong_certificate', 'SigningCertURL is not of one of the hosts')
  }
  const known = certificates.get(url)
  if (known) return known
  const key = certificateKey(await load(url, options))
  if (!key) throw new VerifyError('wrong_certificate', 'SigningCertURL has no certificate')
  const [oldest] = certificates.keys()
  if (oldest !== undefined && certificates.size >= CERTIFICATES_MAX) certificates.delete(oldest)
  certificates.set(url, key)
  return key
}

async function load(url: string, { fetch = globalThis.fetch, signal }: VerifySnsOptions): Promise<string> {
  const timeout = AbortSignal.timeout(CERTIFICATE_TIMEOUT_MS)
  try {
    const either = signal ? AbortSignal.any([signal, timeout]) : timeout
    const response = await fetch(url, { redirect: 'error', signal: either })
    if (response.ok) return await response.text()
    throw new Error(`status ${response.status}`)
  } catch (cause) {
    throw new VerifyError('wrong_certificate', 'the certificate cannot be loaded', cause)
  }
}

async function importKey(key: Uint8Array<ArrayBuffer>, hash: string): Promise<ImportedKey> {
  try {
    return await crypto.subtle.importKey('spki', key, { name: 'RSASSA-PKCS1-v1_5', hash }, false, ['verify'])
  } catch (cause) {
    throw new VerifyError('wrong_certificate', 'the certificate has no RSA key', cause)
  }
}
