/**
 * Classifies failed attempts for retries. The classes are those of the AWS SDKs. Transient failures cost more of the
 * quota and are retried soon. Throttling costs less and is retried later.
 */
import type { FantailError } from './client-error.ts'

export type FailureKind = 'transient' | 'throttling' | 'final'

const TRANSIENT = new Set([408, 500, 502, 503, 504])
const THROTTLING = new Set([429, 509])

export function failureKind({ code, status }: Pick<FantailError, 'code' | 'status'>): FailureKind {
  if (code === 'network' || code === 'timeout') return 'transient'
  // Redis is out of memory. A quick retry would not help, as after too many requests.
  if (code === 'storage_full') return 'throttling'
  if (status === undefined) return 'final'
  if (THROTTLING.has(status)) return 'throttling'
  return TRANSIENT.has(status) ? 'transient' : 'final'
}

/** Codes of connections that were never made. The server has then received nothing of the request. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
])

/** Whether the server cannot have acted on the request. */
export function isUntouched({ code, status, cause }: FantailError): boolean {
  if (status === 429 || code === 'storage_full') return true
  return code === 'network' && codesOf(cause).some((one) => NOT_CONNECTED.has(one))
}

/**
 * The codes of an error and its causes. `fetch` wraps the reason: `TypeError: fetch failed` has it as `cause`, or
 * several reasons as `errors`.
 */
function codesOf(error: unknown, depth = 0): string[] {
  if (typeof error !== 'object' || error === null || depth > 3) return []
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown }
  const inner = Array.isArray(errors) ? errors : [cause]
  return [...(typeof code === 'string' ? [code] : []), ...inner.flatMap((one) => codesOf(one, depth + 1))]
}
