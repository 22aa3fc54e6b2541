/**
 * X.509 certificates made by tests: good, expired, for another host, self-signed. Node can sign but not build a
 * certificate, and openssl is not installed everywhere. The small part of DER that RFC 5280 §4.1 needs is therefore
 * written here.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'

/** PEM texts, ready for `https.createServer`. */
export interface TestCertificate {
  key: string
  cert: string
}

interface TestAuthority extends TestCertificate {
  /** Issues a certificate for these host names and IPv4 addresses. */
  issue(names: string[], validity?: Validity): TestCertificate
}

interface Validity {
  notBefore?: Date
  /** At most the year 2049. */
  notAfter?: Date
}

const DAY_MS = 86_400_000

/** A certificate signed by its own key. */
export function createSelfSigned(names: string[], validity: Validity = {}): TestCertificate {
  const keys = createKeys()
  return build({ subject: names[0] ?? 'test', names, keys, signer: keys, validity })
}

/** A root certificate and its key. Clients may trust its `cert`, and it issues certificates. */
export function createAuthority(): TestAuthority {
  const keys = createKeys()
  // A unique name. Otherwise a client would take one authority's certificate for another's with a bad signature.
  const subject = `Fantail test authority ${randomBytes(4).toString('hex')}`
  const root = build({ subject, names: [], keys, signer: keys, authority: true })
  return {
    ...root,
    issue: (names, validity = {}) =>
      build({
        subject: names[0] ?? 'test',
        names,
        keys: createKeys(),
        signer: keys,
        issuer: subject,
        validity,
      }),
  }
}

interface Keys {
  publicKey: KeyObject
  privateKey: KeyObject
}

interface CertificateParts {
  subject: string
  issuer?: string
  names: string[]
  keys: Keys
  signer: Keys
  authority?: boolean
  validity?: Validity
}

function createKeys(): Keys {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
}

const ECDSA_SHA256 = sequence(oid(1, 2, 840, 10045, 4, 3, 2))
const COMMON_NAME = oid(2, 5, 4, 3)
const SUBJECT_ALT_NAME = oid(2, 5, 29, 17)
const BASIC_CONSTRAINTS = oid(2, 5, 29, 19)
const TRUE = der(0x01, Buffer.from([0xff]))

function build(parts: CertificateParts): TestCertificate {
  const now = Date.now()
  const { notBefore = new Date(now - DAY_MS), notAfter = new Date(now + DAY_MS) } = parts.validity ?? {}
  const extensions = [
    ...(parts.authority ? [sequence(BASIC_CONSTRAINTS, TRUE, octets(sequence(TRUE)))] : []),
    ...(parts.names.length > 0
      ? [sequence(SUBJECT_ALT_NAME, octets(sequence(...parts.names.map(generalName))))]
      : []),
  ]
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    commonName(parts.issuer ?? parts.subject),
    sequence(time(notBefore), time(notAfter)),
    commonName(parts.subject),
    parts.keys.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const signature = sign('sha256', body, parts.signer.privateKey)
  const certificate = sequence(body, ECDSA_SHA256, der(0x03, Buffer.concat([Buffer.from([0]), signature])))
  return {
    key: parts.keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
  }
}

function commonName(text: string): Buffer {
  return sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(text)))))
}

function generalName(name: string): Buffer {
  return isIP(name) === 4 ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name))
}

/** UTCTime: the year has two digits, so it works from 1950 to 2049. */
function time(date: Date): Buffer {
  const digits = date.toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)
  return der(0x17, Buffer.from(`${digits}Z`))
}

function oid(first: number, second: number, ...rest: number[]): Buffer {
  const bytes = [first * 40 + second, ...rest.flatMap(base128)]
  return der(0x06, Buffer.from(bytes))
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f]
  for (let left = value >> 7; left > 0; left >>= 7) bytes.unshift((left & 0x7f) | 0x80)
  return bytes
}

function octets(content: Buffer): Buffer {
  return der(0x04, content)
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts))
}

function der(tag: number, content: Buffer): Buffer {
  const length = content.length
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content])
  const size = Buffer.from([length >> 8, length & 0xff])
  return Buffer.concat([Buffer.from([tag, 0x82]), size, content])
}
