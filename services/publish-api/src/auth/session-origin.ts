/**
 * Checks where a session may be used: only in pages of this server, over TLS or on loopback. Elsewhere others could
 * read the cookie, and browsers would not report which page sends a request.
 */
import { FantailError } from '@fantail/contracts'
import { AddressRules } from '@fantail/policy'
import type { Settings } from '../deps/api-deps.ts'
import type { ApiRequest } from '../http/api-request.ts'
import { authorityOf } from '../http/origin.ts'

type Asked = Pick<ApiRequest, 'url' | 'header' | 'isSecure'>

const LOOPBACK = new AddressRules(['localhost', '*.localhost', '127.0.0.0/8', '::1'])

const OVER_TLS = /^https:/
const NOT_SECURE =
  'a session needs TLS or loopback: open the API over https, and set FANTAIL_PUBLIC_URL to its https address if a ' +
  'proxy ends TLS; or send `Authorization: Bearer ft_…` instead'
const OTHER_PAGE = 'only pages of this server may use a session: `Sec-Fetch-Site` must be same-origin'

/** Throws `forbidden` unless a page of this server sends the request. */
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
export function safeOriginOf(
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
