/** `Retry-After` (RFC 9110 §10.2.3): seconds, or a date. */

/**
 * A year is longer than any retry curve, and its milliseconds are exact in JSON.
 * @limit Time that a `Retry-After` may ask for. Past it: the time is cut; the policy's longest delay bounds it anyway.
 */
const RETRY_AFTER_SECONDS_MAX = 86_400 * 365

/**
 * Whole seconds from now. Undefined if the header is absent or invalid. A date is compared with the `Date` of the same
 * answer. This machine's clock is used only if the answer has no `Date`.
 */
export function parseRetryAfter(value: string, date: string | undefined, now: number): number | undefined {
  const text = value.trim()
  if (/^\d+$/.test(text)) return Math.min(Number(text), RETRY_AFTER_SECONDS_MAX)
  const until = httpDate(text)
  if (until === undefined) return undefined
  const seconds = Math.ceil((until - ((date && httpDate(date)) || now)) / 1_000)
  return Math.min(Math.max(seconds, 0), RETRY_AFTER_SECONDS_MAX)
}

/** Checks the form of an HTTP date first, because `Date.parse` alone would read `-1` as a year. */
function httpDate(text: string): number | undefined {
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined
  const time = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(time) ? undefined : time
}
