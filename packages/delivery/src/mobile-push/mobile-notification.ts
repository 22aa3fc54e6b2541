/** Makes the requests that send a notification: body and headers for each provider. */
import { isObject, jsonOf, type Message, type Platform } from '@fantail/contracts'
import { notificationText, reservedAttribute, secondsLeft } from './notification-text.ts'
import { WEB_PUSH_TEXT_BYTES_MAX } from './web-push-body.ts'

/** @limit Body of one notification to APNs, and of the message to FCM. Past it: the delivery has failed permanently. */
const NOTIFICATION_BYTES_MAX = 4_096

/** The message cannot be sent to this platform. No request is made. */
export interface Unsendable {
  unsendable: 'invalid_record' | 'notification_expired'
  detail: string
}

const INVALID: Unsendable = { unsendable: 'invalid_record', detail: 'Notification body is invalid.' }
const EXPIRED: Unsendable = { unsendable: 'notification_expired', detail: 'the time to live is over' }
const TOO_LONG: Unsendable = { unsendable: 'invalid_record', detail: 'Notification is too long' }

interface Given {
  message: Message
  token: string
  /** Epoch ms. */
  now: number
}

type Document = Record<string, unknown>

/** The body of FCM's `messages:send`. */
export function firebaseBody({ message, token, now }: Given): string | Unsendable {
  const { text, isDocument } = notificationText(message, 'GCM')
  const document = isDocument ? jsonOf(text) : { data: { default: text } }
  if (!isObject(document)) return INVALID
  const isNew = isObject(document.fcmV1Message)
  const own = isNew ? newMessage(document.fcmV1Message as Document) : oldMessage(document)
  if (!own) return INVALID
  const given = typeof document.time_to_live === 'number' ? document.time_to_live : undefined
  const left = secondsLeft(message, { platform: 'GCM', given, now })
  if (left === undefined) return EXPIRED
  const sent = isNew ? own : { ...own, android: { ...(own.android as Document), ttl: `${left}s` } }
  if (Buffer.byteLength(JSON.stringify(sent)) > NOTIFICATION_BYTES_MAX) return TOO_LONG
  return JSON.stringify({ message: { ...sent, token } })
}

/** Passed on as it is. */
function newMessage({ message }: Document): Document | undefined {
  return isObject(message) ? message : undefined
}

/** A document in the form of FCM's older API, which users of SNS still write. */
function oldMessage({
  notification,
  data,
  priority,
  collapse_key: collapseKey,
}: Document): Document | undefined {
  const [hasNotification, hasData] = [notification !== undefined, data !== undefined]
  if ((hasNotification && !isObject(notification)) || (hasData && !isObject(data))) return undefined
  const { title, body, image } = (notification ?? {}) as Document
  const android = {
    ...((priority === 'high' || priority === 'normal') && { priority: priority.toUpperCase() }),
    ...(typeof collapseKey === 'string' && { collapse_key: collapseKey }),
  }
  return {
    ...(hasNotification && { notification: JSON.parse(JSON.stringify({ title, body, image })) }),
    ...(hasData && { data: asTexts(data as Document) }),
    android,
  }
}

/** Turns all values into texts, because the newer API takes only texts. */
function asTexts(data: Document): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}

interface AppleRequest {
  body: string
  headers: Record<string, string>
}

/** `bundleId`: the topic, unless an attribute names another one. */
export function appleRequest(
  { message, now }: Given,
  { platform, bundleId }: { platform: Platform; bundleId: string },
): AppleRequest | Unsendable {
  const { text, isDocument } = notificationText(message, platform)
  const document = isDocument ? jsonOf(text) : { aps: { alert: text } }
  if (!isObject(document)) return INVALID
  const left = secondsLeft(message, { platform, now })
  if (left === undefined) return EXPIRED
  const body = JSON.stringify(document)
  if (Buffer.byteLength(body) > NOTIFICATION_BYTES_MAX) return TOO_LONG
  const attribute = (name: string) => reservedAttribute(message, platform, name)
  const type = attribute('PUSH_TYPE') ?? pushType(document)
  const collapseId = attribute('COLLAPSE_ID')
  const headers = {
    'apns-topic': attribute('TOPIC') ?? bundleId,
    'apns-push-type': type,
    'apns-priority': attribute('PRIORITY') ?? (type === 'background' ? '5' : '10'),
    'apns-expiration': String(left === 0 ? 0 : Math.floor(now / 1_000) + left),
    'apns-id': message.messageId,
    ...(collapseId !== undefined && { 'apns-collapse-id': collapseId }),
  }
  return Object.values(headers).every(isHeaderText) ? { body, headers } : INVALID
}

/** The push type. APNs drops a notification without visible content, unless the push type allows that. */
function pushType({ aps }: Document): string {
  const isSilent = isObject(aps) && Object.keys(aps).length === 1 && aps['content-available'] === 1
  return isSilent ? 'background' : 'alert'
}

function isHeaderText(text: string): boolean {
  return /^[\x20-\x7e]{1,200}$/.test(text)
}

interface BrowserRequest {
  text: Buffer
  ttlSeconds: number
}

/** Browsers get the text unchanged. */
export function browserRequest({ message, now }: Given): BrowserRequest | Unsendable {
  const text = Buffer.from(notificationText(message, 'WEBPUSH').text)
  const ttlSeconds = secondsLeft(message, { platform: 'WEBPUSH', now })
  if (ttlSeconds === undefined) return EXPIRED
  return text.length > WEB_PUSH_TEXT_BYTES_MAX ? TOO_LONG : { text, ttlSeconds }
}

/** The reason why the message can never be sent to the platform, in the words of SNS. Undefined: it can be sent. */
export function notificationProblem(message: Message, platform: Platform): string | undefined {
  const rendered = renderedFor({ message, token: '', now: message.publishedAt }, platform)
  if (typeof rendered === 'string' || !('unsendable' in rendered)) return undefined
  const tooLong = platform === 'GCM' ? 'Notification data is larger than allowed limit' : TOO_LONG.detail
  const detail = rendered === TOO_LONG ? tooLong : rendered.detail
  return `Invalid notification for protocol ${platform}: ${detail}`
}

function renderedFor(given: Given, platform: Platform): string | AppleRequest | BrowserRequest | Unsendable {
  if (platform === 'GCM') return firebaseBody(given)
  if (platform === 'WEBPUSH') return browserRequest(given)
  return appleRequest(given, { platform, bundleId: 'unknown' })
}
