/** The error of every failed call: the API has refused the call, or was not reached. */
import type { Error as ErrorBody } from '../generated/index.ts'

/** One problem of an input: where it is (`messages[3].subject`) and what is wrong. */
export interface Problem {
  path: string
  message: string
}

/** The API's codes. */
type ApiErrorCode = ErrorBody['error']['code']

/**
 * Codes of the client itself.
 *
 * - `network`: no answer, because the connection failed or broke
 * - `timeout`: no answer to an attempt within `timeoutMs`
 * - `deadline_exceeded`: the call's `deadlineMs` was over
 * - `aborted`: the caller's signal, whose reason is in `cause`
 * - `rate_reached`: adaptive mode allows no request now, and the settings say to fail
 * - `unexpected_answer`: the answer does not have the API's form
 * - `closed`: the publisher was closed
 * - `invalid_setting`: a setting of the client is wrong
 */
type ClientErrorCode =
  | 'network'
  | 'timeout'
  | 'deadline_exceeded'
  | 'aborted'
  | 'rate_reached'
  | 'unexpected_answer'
  | 'closed'
  | 'invalid_setting'

export type FantailErrorCode = ApiErrorCode | ClientErrorCode

interface Facts {
  status?: number | undefined
  requestId?: string | undefined
  details?: Problem[] | undefined
  retryable?: boolean
  retryAfterMs?: number | undefined
  cause?: unknown
}

export class FantailError extends Error {
  readonly code: FantailErrorCode
  /** Status of the last answer. undefined if there was none. */
  readonly status: number | undefined
  /** Id of the last request, as the server's log shows it. */
  readonly requestId: string | undefined
  readonly details: Problem[] | undefined
  /** Whether the same call may succeed later. */
  readonly retryable: boolean
  /** How long the server asked to wait. */
  readonly retryAfterMs: number | undefined
  /** Requests that were sent. */
  attempts = 0
  /**
   * The idempotency key of the publish. If you publish again with this key within 24 hours, nothing is stored twice.
   */
  idempotencyKey: string | undefined

  constructor(code: FantailErrorCode, message: string, facts: Facts = {}) {
    super(message, { cause: facts.cause })
    this.name = 'FantailError'
    this.code = code
    this.status = facts.status
    this.requestId = facts.requestId
    this.details = facts.details
    this.retryable = facts.retryable ?? false
    this.retryAfterMs = facts.retryAfterMs
  }
}

export function abortedBy(signal: AbortSignal): FantailError {
  return new FantailError('aborted', 'the call was aborted', { cause: signal.reason })
}

export type FailureKind = 'transient' | 'throttling' | 'final'

const TRANSIENT = new Set([408, 500, 502, 503, 504])
const THROTTLING = new Set([429, 509])

/**
 * Classifies failed attempts for retries. The classes are those of the AWS SDKs. Transient failures cost more of the
 * quota and are retried soon. Throttling costs less and is retried later.
 */
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
