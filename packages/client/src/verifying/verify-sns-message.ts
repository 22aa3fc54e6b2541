/**
 * Checks the signature of an envelope as SNS makes it: RSASSA-PKCS1-v1_5 over its members, by the certificate at
 * `SigningCertURL`. The certificate is trusted because of its host, so the caller names the hosts.
 */
import type { Confirmation, Notification } from '../generated/index.ts'
import {
  base64Bytes,
  type ImportedKey,
  type ReceivedRequest,
  readRequest,
  textOfBody,
  VerifyError,
} from './received-request.ts'
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

const HASHES = new Map([
  ['1', 'SHA-1'],
  ['2', 'SHA-256'],
])
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
  const hash = HASHES.get(SignatureVersion)
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

const SEQUENCE = 0x30
/** The tag of the version, which certificates of the first version do not have. */
const VERSION = 0xa0
/** The elements before the key: serial number, signature algorithm, issuer, validity, subject. */
const BEFORE_THE_KEY = 5

interface Element {
  tag: number
  /** Positions of the element, of its content, and of the element after it. */
  start: number
  content: number
  end: number
}

/**
 * The public key in a certificate. Web Crypto reads keys but no certificates, so this reads the certificate's DER (RFC
 * 5280) up to the key. The chain is not checked: the certificate is trusted because of the host that serves it. The key
 * as SubjectPublicKeyInfo, or undefined if the text is no certificate.
 */
function certificateKey(pem: string): Uint8Array<ArrayBuffer> | undefined {
  const [, encoded = ''] = /-----BEGIN CERTIFICATE-----([\s\S]*?)-----END CERTIFICATE-----/.exec(pem) ?? []
  const der = base64Bytes(encoded.replace(/\s/g, ''))
  if (!der) return undefined
  const certificate = elementAt(der, 0)
  const signed = certificate?.tag === SEQUENCE ? elementAt(der, certificate.content) : undefined
  if (signed?.tag !== SEQUENCE) return undefined
  let next = elementAt(der, signed.content)
  if (next?.tag === VERSION) next = elementAt(der, next.end)
  for (let passed = 0; passed < BEFORE_THE_KEY && next; passed++) next = elementAt(der, next.end)
  return next?.tag === SEQUENCE ? der.slice(next.start, next.end) : undefined
}

/** undefined past the end, and for an element whose length takes more than three bytes. */
function elementAt(der: Uint8Array, start: number): Element | undefined {
  const [tag, first] = der.subarray(start, start + 2)
  if (tag === undefined || first === undefined) return undefined
  const more = first < 0x80 ? 0 : first - 0x80
  if (more > 3) return undefined
  const bytes = der.subarray(start + 2, start + 2 + more)
  const length = more === 0 ? first : bytes.reduce((sum, byte) => sum * 256 + byte, 0)
  const content = start + 2 + more
  const end = content + length
  return end > der.length ? undefined : { tag, start, content, end }
}
