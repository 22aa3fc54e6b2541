/** What an answer of an SMS provider means. `optedOut`: the number wants no messages, and gets no further one. */
export const SMS_MEANINGS = [
  'delivered',
  'retry',
  'permanent',
  'misconfigured',
  'optedOut',
  /** The message may have been sent. Nothing is repeated. */
  'unknown',
] as const
export type SmsMeaning = (typeof SMS_MEANINGS)[number]

export function isSmsMeaning(text: string): text is SmsMeaning {
  return SMS_MEANINGS.some((meaning) => meaning === text)
}
