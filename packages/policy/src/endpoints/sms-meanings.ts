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
