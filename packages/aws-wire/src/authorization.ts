/**
 * Reads a request's signature from its Authorization header or, if presigned, from its query.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
import { LRUCache } from 'lru-cache'
import type { QueryParameters } from './query-parameters.ts'

const ALGORITHM = 'AWS4-HMAC-SHA256'

export interface CredentialScope {
  accessKeyId: string
  /** YYYYMMDD. */
  date: string
  region: string
  service: string
  /** `aws4_request`. */
  terminator: string
}

export interface Authorization {
  /** Absent if it is missing or does not have five parts. */
  scope?: CredentialScope
  /** In lower case. */
  signedHeaders?: string[]
  signature?: string
  /** Validity of a presigned request, as given. */
  expires?: string
  presigned: boolean
}

interface AuthorizationSource {
  /** By its name in lower case. */
  header(name: string): string | undefined
  /** The URL's query. */
  query: QueryParameters
}

/** Undefined if the request carries no signature of this kind. The returned parts may be incomplete or wrong. */
export function readAuthorization({ header, query }: AuthorizationSource): Authorization | undefined {
  const text = header('authorization')
  if (text?.startsWith(ALGORITHM)) return fromHeader(text.slice(ALGORITHM.length))
  return query.get('X-Amz-Algorithm') === ALGORITHM ? fromQuery(query) : undefined
}

function fromHeader(text: string): Authorization {
  const parts = new Map(
    text.split(',').map((part) => {
      const equals = part.indexOf('=')
      return [part.slice(0, equals).trim(), part.slice(equals + 1).trim()]
    }),
  )
  return authorization((name) => parts.get(name), false)
}

function fromQuery(query: QueryParameters): Authorization {
  const expires = query.get('X-Amz-Expires')
  return {
    ...authorization((name) => query.get(`X-Amz-${name}`), true),
    ...(expires !== undefined && { expires }),
  }
}

function authorization(part: (name: string) => string | undefined, presigned: boolean): Authorization {
  const scope = scopeOf(part('Credential'))
  const headers = part('SignedHeaders')
  const signature = part('Signature')
  return {
    presigned,
    ...(scope && { scope }),
    ...(headers && { signedHeaders: headers.toLowerCase().split(';') }),
    ...(signature && { signature }),
  }
}

/**
 * Parsed credential scopes that a process remembers. Past it: the least recently used one is forgotten. Few credentials
 * are used on one day, so each scope is parsed once.
 */
const SCOPES_MAX = 1_000
const scopes = new LRUCache<string, CredentialScope>({ max: SCOPES_MAX })

function scopeOf(credential = ''): CredentialScope | undefined {
  const known = scopes.get(credential)
  if (known) return known
  const scope = readScope(credential)
  if (scope) scopes.set(credential, scope)
  return scope
}

/** The access key may contain slashes, the other four parts may not. */
function readScope(credential: string): CredentialScope | undefined {
  const parts = credential.split('/')
  const [terminator, service, region, date] = parts.slice(-4).reverse()
  const accessKeyId = parts.slice(0, -4).join('/')
  if (!accessKeyId || !date || !region || !service || !terminator) return undefined
  return { accessKeyId, date, region, service, terminator }
}
