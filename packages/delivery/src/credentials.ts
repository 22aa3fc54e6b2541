/**
 * Credentials in an endpoint's URL (sns-semantics §2.1): the first request goes without; a 401 with a challenge is answered
 * once, and the challenge remembered, so that later requests carry the header at once. Basic (RFC 7617) and Digest
 * (RFC 7616: MD5 and SHA-256, `qop=auth` or none; no session variants, no `auth-int`, no `userhash`).
 */
import { createHash, randomBytes } from 'node:crypto'

interface DigestChallenge {
  realm: string
  nonce: string
  opaque: string | undefined
  /** As the server wrote it; undefined means MD5. */
  algorithm: string | undefined
  hash: 'md5' | 'sha256'
  qop: boolean
  /** Requests made with this nonce. */
  count: number
}

export class Credentials {
  readonly #user: string
  readonly #password: string
  #basic = false
  #digest: DigestChallenge | undefined

  constructor(user: string, password: string) {
    this.#user = user
    this.#password = password
  }

  /** What a request should carry now; undefined until a challenge was taken. */
  authorization(method: string, path: string): string | undefined {
    if (this.#digest) return this.#digestHeader(this.#digest, method, path)
    if (!this.#basic) return undefined
    return `Basic ${Buffer.from(`${this.#user}:${this.#password}`).toString('base64')}`
  }

  /**
   * Takes a 401's challenge, the strongest that is known. False where there is none, or where `sent` shows that the refused
   * request had answered it: wrong credentials stay wrong, while a nonce may merely have grown old.
   */
  challenge(header: string | string[], sent: string | undefined): boolean {
    const challenges = parseChallenges(Array.isArray(header) ? header.join(', ') : header)
    const digests = challenges.map(digestChallenge).filter((digest) => digest !== undefined)
    const digest = digests.find(({ hash }) => hash === 'sha256') ?? digests[0]
    if (digest) {
      if (sent?.includes(`nonce="${quote(digest.nonce)}"`)) return false
      // Attempts at the same time may all be given one nonce; its count must not begin again.
      if (this.#digest?.nonce !== digest.nonce) this.#digest = digest
      return true
    }
    this.#digest = undefined
    this.#basic = challenges.some(({ scheme }) => scheme === 'basic')
    return this.#basic && !sent?.startsWith('Basic ')
  }

  #digestHeader(challenge: DigestChallenge, method: string, path: string): string {
    const { realm, nonce, opaque, algorithm, hash, qop } = challenge
    const digest = (text: string) => createHash(hash).update(text).digest('hex')
    challenge.count += 1
    const count = challenge.count.toString(16).padStart(8, '0')
    const clientNonce = randomBytes(8).toString('hex')
    const secret = digest(`${this.#user}:${realm}:${this.#password}`)
    const request = digest(`${method}:${path}`)
    const middle = qop ? `${nonce}:${count}:${clientNonce}:auth` : nonce
    const parts = [
      `username="${quote(this.#user)}"`,
      `realm="${quote(realm)}"`,
      `nonce="${quote(nonce)}"`,
      `uri="${path}"`,
      `response="${digest(`${secret}:${middle}:${request}`)}"`,
      ...(algorithm ? [`algorithm=${algorithm}`] : []),
      ...(opaque === undefined ? [] : [`opaque="${quote(opaque)}"`]),
      ...(qop ? ['qop=auth', `nc=${count}`, `cnonce="${clientNonce}"`] : []),
    ]
    return `Digest ${parts.join(', ')}`
  }
}

interface Challenge {
  scheme: string
  parameters: Map<string, string>
}

/** RFC 9110 §11.6.1: several challenges and their parameters, all between commas. */
function parseChallenges(header: string): Challenge[] {
  const challenges: Challenge[] = []
  const item = /[\s,]*([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/gy
  for (const [, name = '', quoted, plain] of header.matchAll(item)) {
    const value = quoted?.replaceAll(/\\(.)/g, '$1') ?? plain
    if (value === undefined) challenges.push({ scheme: name.toLowerCase(), parameters: new Map() })
    else challenges.at(-1)?.parameters.set(name.toLowerCase(), value)
  }
  return challenges
}

function digestChallenge({ scheme, parameters }: Challenge): DigestChallenge | undefined {
  const nonce = parameters.get('nonce')
  const algorithm = parameters.get('algorithm')
  const hash = DIGEST_HASHES[algorithm?.toLowerCase() ?? 'md5']
  const qops = parameters
    .get('qop')
    ?.toLowerCase()
    .split(/[\s,]+/)
  if (scheme !== 'digest' || nonce === undefined || !hash || (qops && !qops.includes('auth')))
    return undefined
  const realm = parameters.get('realm') ?? ''
  return {
    realm,
    nonce,
    opaque: parameters.get('opaque'),
    algorithm,
    hash,
    qop: qops !== undefined,
    count: 0,
  }
}

const DIGEST_HASHES: Record<string, 'md5' | 'sha256' | undefined> = { md5: 'md5', 'sha-256': 'sha256' }

function quote(text: string): string {
  return text.replaceAll(/["\\]/g, '\\$&')
}
