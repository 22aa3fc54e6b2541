/** Makes the requests that send a notification: body and headers for each provider. */
import { isObject, jsonOf, type Message, type Platform } from '@fantail/contracts'
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

const PREFIX = 'AWS.SNS.MOBILE.'
/** Names of the platform in messages. Google's platform has two: SNS uses the newer one, FCM, only in attributes. */
const NAMES: Record<Platform, readonly string[]> = {
  GCM: ['GCM', 'FCM'],
  APNS: ['APNS'],
  APNS_SANDBOX: ['APNS_SANDBOX', 'APNS'],
  WEBPUSH: ['WEBPUSH'],
}

/** @limit Time to live of a notification, as in SNS. It is also the default. Past it: the time is cut to this value. */
const PUSH_TTL_SECONDS_MAX = 28 * 86_400

interface NotificationText {
  text: string
  /** True if the text is a document in the platform's own format, false if it is plain text. */
  isDocument: boolean
}

/** The text for the platform. If the message has none, the text for `application`, or else the default text. */
function notificationText(
  { message, structure }: Pick<Message, 'message' | 'structure'>,
  platform: Platform,
): NotificationText {
  const texts = structure === 'json' ? jsonOf(message) : undefined
  if (!isObject(texts)) return { text: message, isDocument: false }
  const own = textIn(texts, platform)
  if (own !== undefined) return { text: own, isDocument: true }
  return { text: textIn(texts, 'application') ?? textIn(texts, 'default') ?? message, isDocument: false }
}

function textIn(texts: Record<string, unknown>, name: string): string | undefined {
  const text = Object.hasOwn(texts, name) ? texts[name] : undefined
  return typeof text === 'string' ? text : undefined
}

/** A reserved attribute of the message, such as `TTL`. */
function reservedAttribute(
  { attributes }: Pick<Message, 'attributes'>,
  platform: Platform,
  name: string,
): string | undefined {
  for (const own of NAMES[platform]) {
    const key = `${PREFIX}${own}.${name}`
    if (attributes && Object.hasOwn(attributes, key)) return attributes[key]?.value
  }
  return undefined
}

/**
 * The seconds for which the provider may still keep the notification. The time to live counts from the publish.
 * `given`: the time to live in the platform's own document. 0: the provider must deliver now or drop the notification.
 * Undefined: the time to live is over.
 */
function secondsLeft(
  message: Message,
  { platform, given, now }: { platform: Platform; given?: number | undefined; now: number },
): number | undefined {
  const attribute = Number(reservedAttribute(message, platform, 'TTL') ?? Number.NaN)
  const ttl = Number.isInteger(attribute) && attribute >= 0 ? attribute : (given ?? PUSH_TTL_SECONDS_MAX)
  if (ttl === 0) return 0
  const left =
    Math.min(ttl, PUSH_TTL_SECONDS_MAX) - Math.floor(Math.max(0, now - message.publishedAt) / 1_000)
  return left > 0 ? left : undefined
}
