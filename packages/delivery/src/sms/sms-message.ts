/**
 * Makes the text message that a provider gets. Reads SNS's attributes, puts the topic's display name before the text,
 * and computes the cost.
 */
import { type MessageAttribute, MICROS_PER_USD, SMS_CHARS_MAX, SMS_SENDER_ID } from '@fantail/contracts'
import type { SmsCountry } from '@fantail/policy'
import { type Envelope, textFor } from '../envelope/envelope.ts'
import type { EndpointTarget } from '../envelope/target.ts'

/** A text message in the form that a provider gets. */
export interface SmsMessage {
  number: string
  text: string
  /** The sender. Empty: the provider uses its own sender. */
  sender: string
  type: 'Promotional' | 'Transactional'
  /** The delivery's id, which stays the same for all attempts. */
  id: string
}

const ATTRIBUTE = 'AWS.SNS.SMS.'

/** SNS puts the topic's display name before the text. */
export function smsText(envelope: Envelope, { protocol, displayName }: EndpointTarget): string {
  const { text } = textFor(envelope, protocol)
  return displayName === '' ? text : `${displayName.toUpperCase()}> ${text}`
}

/** The reason why the text cannot be sent, if there is one. */
export function smsTextProblem(text: string): string | undefined {
  if (text.length > SMS_CHARS_MAX) return `the text has more than ${SMS_CHARS_MAX} characters`
  return text.trim() === '' ? 'the text is empty' : undefined
}

/** The cost of all parts in USD, rounded up to a millionth. */
export function smsCostUsd(text: string, { priceUsd }: SmsCountry, usualUsd: number): number {
  return Math.ceil(smsParts(text) * (priceUsd ?? usualUsd) * MICROS_PER_USD) / MICROS_PER_USD
}

/** The attribute MaxPrice. Undefined: there is none. */
export function maxPriceUsd({ message }: Envelope): number | undefined {
  const given = attribute(message.attributes, 'MaxPrice')
  const price = Number(given)
  return given === undefined || given.trim() === '' || !(price >= 0) ? undefined : price
}

/** The attribute SenderID. Undefined if it is missing or if SNS does not allow its value. */
export function senderIdOf({ message }: Envelope): string | undefined {
  const given = attribute(message.attributes, 'SenderID')
  return given !== undefined && SMS_SENDER_ID.test(given) ? given : undefined
}

export function smsTypeOf({ message }: Envelope, usual: string): SmsMessage['type'] {
  const given = attribute(message.attributes, 'SMSType') ?? usual
  return given === 'Transactional' ? 'Transactional' : 'Promotional'
}

function attribute(
  attributes: Readonly<Record<string, MessageAttribute>> | undefined,
  name: string,
): string | undefined {
  return attributes?.[`${ATTRIBUTE}${name}`]?.value
}

/** The basic alphabet of GSM 03.38, without its escape. */
const BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
/** Characters that count as two. */
const EXTENSION = new Set('^{}\\[~]|€\f')

/**
 * Computes in how many parts a text message is sent. If all characters are in GSM 03.38, a single part has 160
 * characters, and each of several parts has 153. With any other character the text is sent as UCS-2: 70 characters in a
 * single part, 67 in each of several parts.
 */
export function smsParts(text: string): number {
  const septets = septetsOf(text)
  if (septets !== undefined) return septets <= 160 ? 1 : Math.ceil(septets / 153)
  return text.length <= 70 ? 1 : Math.ceil(text.length / 67)
}

/** The length of the text in GSM 03.38. Undefined: the text has other characters. */
function septetsOf(text: string): number | undefined {
  let septets = 0
  for (const character of text) {
    if (BASIC.has(character)) septets++
    else if (EXTENSION.has(character)) septets += 2
    else return undefined
  }
  return septets
}
