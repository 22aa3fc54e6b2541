/**
 * The canonical form of a request (Signature Version 4), which signer and verifier both hash. Path and query are given
 * raw, as they were sent.
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
  /** The signature is a parameter of the query. It is left out here, because it cannot cover itself. */
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

/** The path without empty and dot segments, escaped once more than it was sent. */
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
 * query-parameters.ts reads a raw `+` as a space, so it counts as `%20` here. Suppose that a signed `%2B` becomes `+`
 * on the way. Its signature then fails, instead of covering a space.
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

/** Escapes all but letters, digits and `-._~`. */
function uriEncode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
