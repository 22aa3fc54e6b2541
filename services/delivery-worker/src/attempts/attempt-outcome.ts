/** The outcome of an attempt, in the form in which the worker's classes pass it on. */
import type { AttemptResult } from '@fantail/contracts'
import { unsignedFailure } from '@fantail/delivery'
import { errorCodeOf, isUnsent } from '@fantail/policy'
import { isUnreadable, type ServerMark } from '@fantail/store'
import type { Span } from '@fantail/telemetry'

/** Name of the key pair that signs messages, among the credentials. */
export const SIGNING_CREDENTIAL = 'signing key'

/** Bytes of an answer that a delivery status log shows. Past it: the text is cut. */
export const PROVIDER_RESPONSE_BYTES_MAX = 1_024

export interface Outcome {
  result: AttemptResult
  /** How many further messages of the FIFO group were delivered together with the first (messages/followers.ts). */
  followersSent: number
  /** Time until the answer. Undefined: no answer came. */
  answeredAfterMs: number | undefined
  /**
   * If the endpoint is a queue of this Redis: the mark of the message's copy in the queue. The source may be deleted
   * only while the mark holds.
   */
  copy?: ServerMark | undefined
}

export function resultState(result: AttemptResult): { statusCode: number | null; error: string | null } {
  if (result.kind === 'response') return { statusCode: result.statusCode, error: null }
  return { statusCode: null, error: errorCodeOf(result) }
}

export function outcomeOf(result: AttemptResult, followersSent = 0, copy?: ServerMark): Outcome {
  return { result, followersSent, answeredAfterMs: hasAnswered(result) ? result.durationMs : undefined, copy }
}

/**
 * Whether the endpoint reacted. If a connection is refused at once, or if the name is unknown, that also shows that the
 * endpoint does not hang. A limit of this service that kept the attempt back shows nothing.
 */
function hasAnswered(result: AttemptResult): boolean {
  return result.kind !== 'failure' || (result.error !== 'timeout' && !isUnsent(result))
}

/**
 * The result of an attempt whose message could not be signed. A key that was changed in Redis blocks lanes, because it
 * stays unusable. A failure of Redis ends by itself, and another worker may have the master key that this one lacks.
 */
export function unsignedResult(error: unknown): AttemptResult {
  const failure = unsignedFailure(error)
  if (failure.kind !== 'failure' || !isUnreadable(error)) return failure
  return { kind: 'misconfigured', credential: SIGNING_CREDENTIAL, detail: failure.detail, durationMs: 0 }
}

/** Ends the attempt's span, also if no request was sent. */
export function endSpan(span: Span, result: AttemptResult): void {
  if (result.kind === 'response') span.setAttribute('http.response.status_code', result.statusCode)
  else span.setAttribute('error.type', errorCodeOf(result))
  span.end()
}
