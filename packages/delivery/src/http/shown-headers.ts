/** Headers of an answer that may be shown and recorded. All others may hold secrets, so they are left out. */
import type { AnswerStart } from '@fantail/contracts'
import { withoutTokens } from '@fantail/policy'

const SHOWN = new Set([
  'age',
  'allow',
  'cache-control',
  'cf-ray',
  'content-encoding',
  'content-language',
  'content-length',
  'content-type',
  'date',
  'ratelimit',
  'ratelimit-limit',
  'ratelimit-policy',
  'ratelimit-remaining',
  'ratelimit-reset',
  'retry-after',
  'server',
  'server-timing',
  'traceparent',
  'transfer-encoding',
  'vary',
  'via',
  'x-amz-cf-id',
  'x-amzn-requestid',
  'x-amzn-trace-id',
  'x-cache',
  'x-correlation-id',
  'x-powered-by',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-request-id',
  'x-served-by',
  'x-trace-id',
])
/** Characters of a header of an answer that are shown. Past them: its value is cut. */
const HEADER_CHARS_MAX = 200

export function shownHeaders(headers: AnswerStart['headers']): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || !SHOWN.has(name)) continue
    const text = withoutTokens(Array.isArray(value) ? value.join(', ') : value)
    shown[name] = text.slice(0, HEADER_CHARS_MAX)
  }
  return shown
}
