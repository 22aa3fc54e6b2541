/**
 * The public key in a certificate. Web Crypto reads keys but no certificates, so this reads the certificate's DER (RFC
 * 5280) up to the key. The chain is not checked: the certificate is trusted because of the host that serves it.
 */
import { base64Bytes } from './base64-bytes.ts'

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

/** The key as SubjectPublicKeyInfo, or undefined if the text is no certificate. */
export function certificateKey(pem: string): Uint8Array<ArrayBuffer> | undefined {
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
