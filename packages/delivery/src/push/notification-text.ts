/** What a message says to one platform: its text, its time to live and its other settings. */
import { isObject, jsonOf, type Message, type Platform } from '@fantail/contracts'

const PREFIX = 'AWS.SNS.MOBILE.'
/** FCM has two names: SNS took the newer one for attributes alone. */
const NAMES: Record<Platform, readonly string[]> = {
  GCM: ['GCM', 'FCM'],
  APNS: ['APNS'],
  APNS_SANDBOX: ['APNS_SANDBOX', 'APNS'],
  WEBPUSH: ['WEBPUSH'],
}

/** @limit Time to live of a notification, as in SNS, and the default. Past it: the time is cut to it. */
const PUSH_TTL_SECONDS_MAX = 28 * 86_400

interface NotificationText {
  text: string
  /** The text is the platform's own document, and no plain text. */
  isDocument: boolean
}

/** The text of the platform, else that of `application`, else the one of all. */
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
 * Seconds for which the provider may still keep the notification, counted from the publish. `given`: the time to live
 * in the platform's own document. 0 stays 0: now or never. Undefined: its time is over.
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
