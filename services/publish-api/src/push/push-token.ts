/** Tokens of platform endpoints, in the form in which they are stored. */
import {
  APNS_TOKEN_CHARS_MAX,
  isObject,
  objectOf,
  PLATFORM_TOKEN_BYTES_MAX,
  type Platform,
} from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { refusedHost, unreachable } from '../subscriptions/outbound.ts'

/** The token, or what is wrong with it. */
type ReadToken = { token: string } | { message: string }

const HEXADECIMAL = /^[0-9a-f]+$/

/**
 * Two spellings of one token must belong to one endpoint. So Apple's tokens are stored in lower case, and browsers'
 * tokens with their members in a fixed order.
 */
export function readToken(platform: Platform, text: string, guard: ApiDeps['addressGuard']): ReadToken {
  if (text === '') return { message: 'cannot be empty' }
  if (Buffer.byteLength(text) > PLATFORM_TOKEN_BYTES_MAX) {
    return { message: `must be at most ${PLATFORM_TOKEN_BYTES_MAX} bytes long in UTF-8 encoding` }
  }
  if (platform === 'WEBPUSH') return readBrowser(text, guard)
  return platform === 'GCM' ? { token: text } : readAppleToken(text)
}

function readAppleToken(text: string): ReadToken {
  const token = text.toLowerCase()
  if (token.length <= APNS_TOKEN_CHARS_MAX && HEXADECIMAL.test(token)) return { token }
  return { message: `iOS device tokens must be no more than ${APNS_TOKEN_CHARS_MAX} hexadecimal characters` }
}

function readBrowser(text: string, guard: ApiDeps['addressGuard']): ReadToken {
  const { endpoint, keys } = objectOf(text) ?? {}
  const { p256dh, auth } = isObject(keys) ? keys : {}
  const url = typeof endpoint === 'string' ? URL.parse(endpoint) : null
  if (url?.username !== '' || url.password !== '' || bytes(p256dh) !== 65 || bytes(auth) !== 16) {
    return { message: "must be the JSON of a browser's PushSubscription: endpoint, keys.p256dh, keys.auth" }
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { message: 'must have an https endpoint' }
  const refused = refusedHost(guard, url.href)
  if (refused) return { message: unreachable(refused) }
  return { token: JSON.stringify({ endpoint: url.href, keys: { p256dh, auth } }) }
}

function bytes(text: unknown): number {
  if (typeof text !== 'string' || !/^[A-Za-z0-9_+/-]+={0,2}$/.test(text)) return 0
  return Buffer.from(text, 'base64url').length
}
