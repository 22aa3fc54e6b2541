/**
 * A request as its signer saw it (Signature Version 4): path and query come raw, as they were on the wire, and are put
 * into the one form that both sides hash.
 */
import { createHash } from 'node:crypto'

export interface SignedRequest {
  method: string
  /** Without the query, as sent. */
  path: string
  /** Behind the `?`, as sent. */
  search: string
  /** By its name in lower case. */
  header(name: string): string | undefined
  body: Buffer
}

interface CanonicalRequest {
  request: SignedRequest
  signedHeaders: string[]
  /** The signature stands in the query, which it cannot cover itself. */
  presigned: boolean
}

export function canonicalRequest({ request, signedHeaders, presigned }: CanonicalRequest): string {
  const headers = signedHeaders.map((name) => `${name}:${canonicalValue(request.header(name) ?? '')}\n`)
  return [
    request.method,
    canonicalPath(request.path),
    canonicalQuery(request.search, presigned),
    headers.join(''),
    signedHeaders.join(';'),
    sha256(request.body),
  ].join('\n')
}

export function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex')
}

function canonicalValue(value: string): string {
  return value.trim().replace(/\s+/g, ' ')
}

/** Escaped once more than it was sent, without empty and dot segments. */
function canonicalPath(path: string): string {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment === '..') segments.pop()
    else segments.push(uriEncode(segment))
  }
  const end = segments.length > 0 && path.endsWith('/') ? '/' : ''
  return `/${segments.join('/')}${end}`
}

/**
 * A raw `+` is the space that query-parameters.ts reads it as, so it counts as `%20` here. A `%2B` that was signed and
 * is altered to `+` on the way then breaks the signature, instead of becoming a space under it.
 */
function canonicalQuery(search: string, presigned: boolean): string {
  return search
    .replaceAll('+', '%20')
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=')
      const [name, value] = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)]
      return [uriEncode(decodeURIComponent(name)), uriEncode(decodeURIComponent(value))] as const
    })
    .filter(([name]) => !(presigned && name === 'X-Amz-Signature'))
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map((pair) => pair.join('='))
    .join('&')
}

/** All but letters, digits and `-._~`. */
function uriEncode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
