/** The cookie of a session, the value that its page sends with every request, and where a session may be used. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { FantailError } from '@fantail/contracts'
import { AddressRules } from '@fantail/policy'
import type { SessionRecord } from '@fantail/store'
import type { Settings } from '../deps/api-deps.ts'
import type { ApiRequest } from '../http/api-request.ts'
import { authorityOf } from '../http/origin.ts'

/** Browsers accept this name over TLS only, for this host only. */
const SECURE_NAME = '__Host-fantail'
/** Over HTTP on loopback. */
const LOOPBACK_NAME = 'fantail_session'
const TOKEN_BYTES = 32
const TOKEN = /^[A-Za-z0-9_-]{43}$/

/** Also makes the value against forged requests. */
export function makeSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** Redis knows a session by it. */
export function digestOf(token: string): string {
  return hash('sha256', token, 'hex')
}

/**
 * Whether the request has the value that its page must send against forged requests. The value belongs to the session
 * and cannot be computed from the cookie, because cookies of loopback go to the servers on all its ports.
 */
export function isCsrf(given: string | undefined, { csrf }: Pick<SessionRecord, 'csrf'>): boolean {
  const [wanted, bytes] = [Buffer.from(csrf), Buffer.from(given ?? '')]
  return wanted.length > 0 && bytes.length === wanted.length && timingSafeEqual(bytes, wanted)
}

/**
 * undefined: the request has no session's cookie, or it has a key, which goes before a cookie. Over TLS only the cookie
 * counts that other hosts and plain HTTP cannot set. Of two cookies one is somebody else's, so neither counts.
 */
export function sessionTokenOf(
  request: Pick<ApiRequest, 'header' | 'url' | 'isSecure'>,
  settings: Pick<Settings, 'publicUrl'>,
): string | undefined {
  const cookies = request.header('cookie')
  if (cookies === undefined || request.header('authorization') !== undefined) return undefined
  const origin = safeOriginOf(request, settings)
  if (origin === undefined) return undefined
  const found = cookies.split(';').flatMap((pair) => {
    const [name, value = ''] = pair.trim().split('=', 2)
    return name === nameOf(origin) && TOKEN.test(value) ? [value] : []
  })
  return found.length === 1 ? found[0] : undefined
}

/** Value of Set-Cookie. */
export function sessionCookie(token: string, { secure }: { secure: boolean }): string {
  return `${nameOf({ secure })}=${token}; ${attributes(secure)}`
}

export function endedCookie({ secure }: { secure: boolean }): string {
  return `${nameOf({ secure })}=; Max-Age=0; ${attributes(secure)}`
}

function nameOf({ secure }: { secure: boolean }): string {
  return secure ? SECURE_NAME : LOOPBACK_NAME
}

function attributes(secure: boolean): string {
  return `Path=/; HttpOnly; ${secure ? 'Secure; ' : ''}SameSite=Strict`
}

type Asked = Pick<ApiRequest, 'url' | 'header' | 'isSecure'>

const LOOPBACK = new AddressRules(['localhost', '*.localhost', '127.0.0.0/8', '::1'])

const OVER_TLS = /^https:/
const NOT_SECURE =
  'a session needs TLS or loopback: open the API over https, and set FANTAIL_PUBLIC_URL to its https address if a ' +
  'proxy ends TLS; or send `Authorization: Bearer ft_…` instead'
const OTHER_PAGE =
  'only pages of this server may use a session: open the console, or the url of a portal link, in a browser. Programs ' +
  'send `Sec-Fetch-Site: same-origin`'

/**
 * Checks where a session may be used: only in pages of this server, over TLS or on loopback. Elsewhere others could
 * read the cookie, and browsers would not report which page sends a request. Throws `forbidden` unless a page of this
 * server sends the request.
 */
export function needSamePage(request: Pick<ApiRequest, 'header'>): void {
  if (request.header('sec-fetch-site') !== 'same-origin') throw new FantailError('forbidden', OTHER_PAGE)
}

/** Whether the cookie may be sent over TLS only. Throws `forbidden` if neither TLS nor loopback protects it. */
export function needSafeOrigin(request: Asked, settings: Pick<Settings, 'publicUrl'>): { secure: boolean } {
  const origin = safeOriginOf(request, settings)
  if (origin === undefined) throw new FantailError('forbidden', NOT_SECURE)
  return origin
}

/** undefined: neither TLS nor loopback protects a cookie. */
function safeOriginOf(
  request: Pick<ApiRequest, 'url' | 'isSecure'>,
  { publicUrl }: Pick<Settings, 'publicUrl'>,
): { secure: boolean } | undefined {
  const authority = authorityOf(request.url)
  const behindTls =
    publicUrl !== undefined && OVER_TLS.test(publicUrl) && authorityOf(publicUrl) === authority
  if (request.isSecure || behindTls) return { secure: true }
  const host = URL.parse(request.url)?.hostname
  return host !== undefined && LOOPBACK.has(host) ? { secure: false } : undefined
}
