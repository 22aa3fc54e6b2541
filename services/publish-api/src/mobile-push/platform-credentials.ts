/**
 * Checks the credentials of platform applications. Nothing is sent to the provider, so a revoked credential is refused
 * only later.
 */
import { createECDH, createPrivateKey, type KeyObject } from 'node:crypto'
import {
  objectOf,
  PLATFORM_CREDENTIAL_CHARS_MAX,
  type Platform,
  type PlatformCredential,
} from '@fantail/contracts'

type Given = Record<string, string>

/** The members of a credential, by the names of SNS's attributes. WebPushSubject is an extension. */
export const CREDENTIAL_MEMBERS = {
  PlatformPrincipal: 'principal',
  PlatformCredential: 'credential',
  ApplePlatformTeamID: 'teamId',
  ApplePlatformBundleID: 'bundleId',
  WebPushSubject: 'subject',
} as const satisfies Record<string, keyof PlatformCredential>

type CredentialName = keyof typeof CREDENTIAL_MEMBERS

const CHECKS: Record<Platform, Record<string, (text: string, given: Given) => boolean>> = {
  GCM: { PlatformCredential: isServiceAccount },
  APNS: { ...appleChecks() },
  APNS_SANDBOX: { ...appleChecks() },
  WEBPUSH: {
    PlatformPrincipal: (text) => bytesOf(text)?.length === 65,
    PlatformCredential: (text, { PlatformPrincipal = '' }) => isKeyOf(text, PlatformPrincipal),
    WebPushSubject: (text) => /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/.test(text),
  },
}

const MEANINGS: Record<Platform, Record<string, string>> = {
  GCM: { PlatformCredential: 'must be the JSON of a service account of Firebase, with its private key' },
  APNS: appleMeanings(),
  APNS_SANDBOX: appleMeanings(),
  WEBPUSH: {
    PlatformPrincipal: 'must be the public VAPID key: 65 bytes in base64url',
    PlatformCredential: 'must be the private VAPID key of the public one: 32 bytes in base64url',
    WebPushSubject: 'must be a mailto: or https: address at which providers reach the sender',
  },
}

function appleChecks() {
  return {
    PlatformPrincipal: (text: string) => /^[A-Za-z0-9]{10}$/.test(text),
    PlatformCredential: (text: string) => privateKey(text)?.asymmetricKeyDetails?.namedCurve === 'prime256v1',
    ApplePlatformTeamID: (text: string) => /^[A-Za-z0-9]{10}$/.test(text),
    ApplePlatformBundleID: (text: string) => /^[A-Za-z0-9.-]{1,155}$/.test(text),
  }
}

function appleMeanings() {
  return {
    PlatformPrincipal:
      'must be the id of a signing key: 10 letters and digits. Certificates are not supported',
    PlatformCredential: 'must be the signing key of Apple, the text of its .p8 file',
    ApplePlatformTeamID: 'must be the team of the signing key: 10 letters and digits',
    ApplePlatformBundleID: 'must be the bundle id of the application',
  }
}

export function isCredentialName(name: string): name is CredentialName {
  return Object.hasOwn(CREDENTIAL_MEMBERS, name)
}

/** The credential in these attributes. Throws an AttributeError. */
export function readCredential(platform: Platform, given: Given): PlatformCredential {
  const checks = CHECKS[platform]
  const read: Partial<PlatformCredential> = {}
  for (const name of Object.keys(CREDENTIAL_MEMBERS) as CredentialName[]) {
    const text = given[name]
    const check = checks[name]
    if (text !== undefined && !check) throw refused(name, `is not for applications of platform ${platform}`)
    if (!check) continue
    const fits = text !== undefined && text.length <= PLATFORM_CREDENTIAL_CHARS_MAX && check(text, given)
    if (!fits) throw refused(name, MEANINGS[platform][name] ?? '')
    read[CREDENTIAL_MEMBERS[name]] = text
  }
  return read as PlatformCredential
}

export function credentialAttributes(credential: PlatformCredential): Given {
  return Object.fromEntries(
    Object.entries(CREDENTIAL_MEMBERS).flatMap(([name, member]) => {
      const text = credential[member]
      return text === undefined ? [] : [[name, text]]
    }),
  )
}

function refused(name: string, message: string): AttributeError {
  return new AttributeError('credential', name, message)
}

function isServiceAccount(text: string): boolean {
  const { type, project_id: project, client_email: email, private_key: key } = objectOf(text) ?? {}
  const isNamed = typeof project === 'string' && /^[a-z0-9.:-]{1,100}$/.test(project)
  return (
    type === 'service_account' && isNamed && typeof email === 'string' && isRsaKey(privateKey(String(key)))
  )
}

function isRsaKey(key: KeyObject | undefined): boolean {
  return key?.asymmetricKeyType === 'rsa'
}

function privateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    // It is no private key in PEM.
    return undefined
  }
}

function bytesOf(text: string): Buffer | undefined {
  return /^[A-Za-z0-9_-]+$/.test(text) ? Buffer.from(text, 'base64url') : undefined
}

function isKeyOf(text: string, principal: string): boolean {
  const key = bytesOf(text)
  if (key?.length !== 32) return false
  const pair = createECDH('prime256v1')
  try {
    pair.setPrivateKey(key)
  } catch {
    // The number is not a key of the curve.
    return false
  }
  return pair.getPublicKey().equals(bytesOf(principal) ?? Buffer.alloc(0))
}

type AttributeErrorKind = 'name' | 'value' | 'credential'

/**
 * The error for a refused attribute of a platform application or platform endpoint (mobile push). The native API and
 * the AWS API each make their own message from it.
 */
export class AttributeError extends Error {
  readonly kind: AttributeErrorKind
  /** The name of the attribute in SNS, such as `PlatformCredential`. */
  readonly attribute: string

  /** `message` is the rest of a sentence that begins with the attribute's name, such as `must be true or false`. */
  constructor(kind: AttributeErrorKind, attribute: string, message: string) {
    super(message)
    this.name = 'AttributeError'
    this.kind = kind
    this.attribute = attribute
  }
}
