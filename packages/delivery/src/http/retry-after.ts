/** `Retry-After` (RFC 9110 §10.2.3): seconds, or a date. */

/**
 * Longer than any curve, and exact in JSON.
 * @limit Time that a `Retry-After` may ask for. Past it: the time is cut; the policy's longest delay bounds it anyway.
 */
const RETRY_AFTER_SECONDS_MAX = 86_400 * 365

/**
 * Whole seconds from now; undefined where the header is absent or makes no sense. A date is held against the answer's
 * own `Date`, so that this machine's clock matters only where there is none.
 */
export function parseRetryAfter(value: string, date: string | undefined, now: number): number | undefined {
  const text = value.trim()
  if (/^\d+$/.test(text)) return Math.min(Number(text), RETRY_AFTER_SECONDS_MAX)
  const until = httpDate(text)
  if (until === undefined) return undefined
  const seconds = Math.ceil((until - ((date && httpDate(date)) || now)) / 1_000)
  return Math.min(Math.max(seconds, 0), RETRY_AFTER_SECONDS_MAX)
}

/** Only what looks like an HTTP date; `Date.parse` alone would take `-1` for a year. */
function httpDate(text: string): number | undefined {
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined
  const time = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(time) ? undefined : time
}
