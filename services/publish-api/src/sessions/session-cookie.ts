/** The cookie of a session, and the value that its page sends with every request. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { ApiRequest } from '../http/api-request.ts'

/** Browsers accept this name over TLS only, for this host only. */
const SECURE_NAME = '__Host-fantail'
/** Over HTTP on loopback. */
const LOOPBACK_NAME = 'fantail_session'
const TOKEN_BYTES = 32
const TOKEN = /^[A-Za-z0-9_-]{43}$/

export function makeSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** Redis knows a session by it. */
export function digestOf(token: string): string {
  return hash('sha256', token, 'hex')
}

/**
 * The value that a page sends against forged requests. A page gets it in an answer of the API. The token cannot be
 * computed from it.
 */
export function csrfOf(token: string): string {
  return hash('sha256', `csrf ${token}`, 'base64url')
}

export function isCsrf(given: string | undefined, token: string): boolean {
  const wanted = Buffer.from(csrfOf(token))
  const bytes = Buffer.from(given ?? '')
  return bytes.length === wanted.length && timingSafeEqual(bytes, wanted)
}

/** undefined: the request has no session's cookie, or it has a key, which goes before a cookie. */
export function sessionTokenOf(request: Pick<ApiRequest, 'header'>): string | undefined {
  if (request.header('authorization') !== undefined) return undefined
  for (const pair of request.header('cookie')?.split(';') ?? []) {
    const [name, value = ''] = pair.trim().split('=', 2)
    if ((name === SECURE_NAME || name === LOOPBACK_NAME) && TOKEN.test(value)) return value
  }
  return undefined
}

/** Value of Set-Cookie. */
export function sessionCookie(token: string, { secure }: { secure: boolean }): string {
  return `${secure ? SECURE_NAME : LOOPBACK_NAME}=${token}; ${attributes(secure)}`
}

export function endedCookie({ secure }: { secure: boolean }): string {
  return `${secure ? SECURE_NAME : LOOPBACK_NAME}=; Max-Age=0; ${attributes(secure)}`
}

function attributes(secure: boolean): string {
  return `Path=/; HttpOnly; ${secure ? 'Secure; ' : ''}SameSite=Strict`
}
