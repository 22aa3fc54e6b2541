/**
 * Challenges of a 401 (RFC 9110 §11.6.1) that Fantail can answer: Basic (RFC 7617) and Digest (RFC 7616: MD5 and
 * SHA-256, `qop=auth` or none; no session variants, no `auth-int`, no `userhash`).
 */

interface BasicChallenge {
  scheme: 'basic'
}

export interface DigestChallenge {
  scheme: 'digest'
  realm: string
  nonce: string
  opaque: string | undefined
  /** The algorithm in the spelling of the server. Undefined means MD5. */
  algorithm: string | undefined
  hash: 'md5' | 'sha256'
  qop: boolean
  /** Requests made with this nonce. */
  count: number
}

export type Challenge = BasicChallenge | DigestChallenge

const BASIC: BasicChallenge = { scheme: 'basic' }

/** The strongest challenge of a `WWW-Authenticate` header that Fantail can answer. undefined: there is none. */
export function strongestChallenge(header: string | string[]): Challenge | undefined {
  const offered = parseOffered(Array.isArray(header) ? header.join(', ') : header)
  const digests = offered.map(digestChallenge).filter((digest) => digest !== undefined)
  const digest = digests.find(({ hash }) => hash === 'sha256') ?? digests[0]
  if (digest) return digest
  return offered.some(({ scheme }) => scheme === 'basic') ? BASIC : undefined
}

/** The nonce for the next request that an `Authentication-Info` header gives (RFC 7616 §3.5). */
export function nextNonce(header: string): string | undefined {
  return parseOffered(`Digest ${header}`)[0]?.parameters.get('nextnonce')
}

interface Offered {
  scheme: string
  parameters: Map<string, string>
}

/** Splits a header into its challenges. Commas separate challenges, and also the parameters of each. */
function parseOffered(header: string): Offered[] {
  const offered: Offered[] = []
  const item = /[\s,]*([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/gy
  for (const [, name = '', quoted, plain] of header.matchAll(item)) {
    const value = quoted?.replaceAll(/\\(.)/g, '$1') ?? plain
    if (value === undefined) offered.push({ scheme: name.toLowerCase(), parameters: new Map() })
    else offered.at(-1)?.parameters.set(name.toLowerCase(), value)
  }
  return offered
}

function digestChallenge({ scheme, parameters }: Offered): DigestChallenge | undefined {
  const nonce = parameters.get('nonce')
  const algorithm = parameters.get('algorithm')
  const hash = DIGEST_HASHES.get(algorithm?.toLowerCase() ?? 'md5')
  const qops = parameters
    .get('qop')
    ?.toLowerCase()
    .split(/[\s,]+/)
  if (scheme !== 'digest' || nonce === undefined || !hash || (qops && !qops.includes('auth')))
    return undefined
  return {
    scheme,
    realm: parameters.get('realm') ?? '',
    nonce,
    opaque: parameters.get('opaque'),
    algorithm,
    hash,
    qop: qops !== undefined,
    count: 0,
  }
}

const DIGEST_HASHES = new Map<string, 'md5' | 'sha256'>([
  ['md5', 'md5'],
  ['sha-256', 'sha256'],
])
