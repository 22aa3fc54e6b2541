/**
 * Phone numbers by E.164: a plus sign and up to 15 digits, which begin with the country's code. SNS accepts single
 * separators between the digits. They are dropped, so that one number has one form.
 */

/** Text that is read as a phone number. Past it: the text is not a phone number. */
const PHONE_TEXT_CHARS_MAX = 40
const WRITTEN = /^\+\d+(?:[-./ ()]\d+)*$/
const E164 = /^\+[1-9]\d{5,14}$/

/** The number as `+` and digits. Undefined if the text is not a phone number. */
export function parsePhoneNumber(text: string): string | undefined {
  if (text.length > PHONE_TEXT_CHARS_MAX || !WRITTEN.test(text)) return undefined
  const number = `+${text.replace(/\D/g, '')}`
  return E164.test(number) ? number : undefined
}

/** Numbers that may get text messages: those with this beginning. */
export interface SmsCountry {
  /** Such as `+49`. A longer prefix stands for a part of a country. */
  prefix: string
  /** Price of one part of a message. Undefined: the price that is set for all countries. */
  priceUsd?: number | undefined
}

/** The country of the number. If several prefixes fit, the longest one decides. */
export function smsCountryOf(number: string, countries: readonly SmsCountry[]): SmsCountry | undefined {
  return countries
    .filter(({ prefix }) => number.startsWith(prefix))
    .reduce<SmsCountry | undefined>(
      (best, one) => (best && best.prefix.length >= one.prefix.length ? best : one),
      undefined,
    )
}

/**
 * Meanings of an SMS provider's answer. `optedOut`: the number wants no messages, so Fantail sends it no further one.
 */
export const SMS_MEANINGS = [
  'delivered',
  'retry',
  'permanent',
  'misconfigured',
  'optedOut',
  /** The message may have been sent, so the request is not repeated. */
  'unknown',
] as const
export type SmsMeaning = (typeof SMS_MEANINGS)[number]

export function isSmsMeaning(text: string): text is SmsMeaning {
  return SMS_MEANINGS.some((meaning) => meaning === text)
}
