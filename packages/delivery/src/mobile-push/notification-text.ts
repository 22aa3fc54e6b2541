/** Reads from a message what one push platform gets: the text, the time to live and other settings. */
import { isObject, jsonOf, type Message, type Platform } from '@fantail/contracts'

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
export function notificationText(
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
export function reservedAttribute(
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
export function secondsLeft(
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
