/**
 * Reads the answers of push providers: their meaning for the delivery, for the platform endpoint, and for the
 * credential.
 */
import { isObject, jsonOf } from '@fantail/contracts'

/**
 * - delivered, retry, permanent: the same as for any endpoint
 * - dead: the token is gone, so the endpoint is disabled
 * - refused: the application's credential is broken
 * - stale: the access token for the provider has expired, so the client gets another one
 */
export type ProviderClass = 'delivered' | 'retry' | 'permanent' | 'dead' | 'refused' | 'stale'

/**
 * Wait after a push provider has answered that requests come too fast, if it gives no time. After it: the notification
 * is sent again.
 */
export const MOBILE_PUSH_WAIT_SECONDS = 60

interface Answered {
  statusCode: number
  body: Buffer | undefined
}

interface Judged {
  resultClass: ProviderClass
  /** The provider's error code, such as `UNREGISTERED`. */
  reason: string
}

/** https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode */
export function judgeFirebase({ statusCode, body }: Answered): Judged {
  const reason = firebaseError(body)
  if (statusCode === 200) return { resultClass: 'delivered', reason }
  if (reason === 'UNREGISTERED' || reason === 'SENDER_ID_MISMATCH') return { resultClass: 'dead', reason }
  if (statusCode === 401 || statusCode === 403) return { resultClass: 'refused', reason }
  return { resultClass: namedClass(statusCode, reason), reason }
}

function firebaseError(body: Buffer | undefined): string {
  const { error } = membersOf(body)
  if (!isObject(error)) return ''
  const details = Array.isArray(error.details) ? error.details.filter(isObject) : []
  const code = details.map(({ errorCode }) => errorCode).find((named) => typeof named === 'string')
  return String(code ?? error.status ?? '')
}

const DEAD_TOKENS = new Set(['BadDeviceToken', 'DeviceTokenNotForTopic', 'ExpiredToken', 'Unregistered'])
const REFUSED = new Set([
  'TopicDisallowed',
  'BadCertificate',
  'BadCertificateEnvironment',
  'MissingProviderToken',
])

/** https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns */
export function judgeApple({ statusCode, body }: Answered): Judged {
  const reason = String(membersOf(body).reason ?? '')
  if (statusCode === 200) return { resultClass: 'delivered', reason }
  const isGone = statusCode === 410 && reason !== ''
  if (isGone || DEAD_TOKENS.has(reason)) return { resultClass: 'dead', reason }
  if (reason === 'ExpiredProviderToken') return { resultClass: 'stale', reason }
  if (statusCode === 403 || REFUSED.has(reason)) return { resultClass: 'refused', reason }
  return { resultClass: namedClass(statusCode, reason), reason }
}

/** Google and Apple give a reason for each refusal. An answer without one comes from a proxy, so it is not final. */
function namedClass(statusCode: number, reason: string): ProviderClass {
  return statusCode === 429 || statusCode >= 500 || reason === '' ? 'retry' : 'permanent'
}

/** Statuses of RFC 8030. A 401 or 403 refuses the VAPID key (RFC 8292). */
export function judgeBrowser({ statusCode }: Answered): Judged {
  const reason = ''
  if (statusCode >= 200 && statusCode < 300) return { resultClass: 'delivered', reason }
  if (statusCode === 404 || statusCode === 410) return { resultClass: 'dead', reason }
  if (statusCode === 401 || statusCode === 403) return { resultClass: 'refused', reason }
  return { resultClass: statusCode === 429 || statusCode >= 500 ? 'retry' : 'permanent', reason }
}

function membersOf(body: Buffer | undefined): Record<string, unknown> {
  const value = body && jsonOf(body.toString())
  return isObject(value) ? value : {}
}
