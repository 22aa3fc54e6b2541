/** Writes every failure in one form, `{error: {code, message, details?}, requestId}`. */
import { FantailError, type Problem } from '@fantail/contracts'
import { isOutOfMemory, isTrouble, UnreadableRecordError } from '@fantail/store'
import { VaultError } from '@fantail/vault'
import { SECURITY_HEADERS } from './answer-headers.ts'
import type { Answer } from './endpoint.ts'

const PROBLEMS_IN_MESSAGE = 3

/** `validation_failed` with every problem. The message names the first few. */
export function invalid(problems: Problem[]): FantailError {
  const told = problems.slice(0, PROBLEMS_IN_MESSAGE).map(({ path, message }) => `${path} ${message}`.trim())
  const rest = problems.length - told.length
  const message = told.join('; ') + (rest > 0 ? `; and ${rest} more` : '')
  return new FantailError('validation_failed', message, { details: problems })
}

export function notFound(what: string): FantailError {
  return new FantailError('not_found', `no such ${what}`)
}

/** A refusal that would reveal what an id names. The client gets the answer for an unknown id instead. */
export class Unseen extends FantailError {
  /** The answer for an unknown id, if it is no 404. */
  readonly answer: Answer | undefined

  constructor(what: string, answer?: Answer) {
    super('not_found', notFound(what).message)
    this.answer = answer
  }
}

/** Errors of ioredis: the connection is broken, maybe in the middle of a pipeline, or the answer was late. */
const CONNECTION =
  /^(Connection is closed|Command (timed out|aborted)|(Stream|Cluster) isn't|Cluster is ended|connect |read E|write E|Socket closed|getaddrinfo|Reached the max retries)/

/** Redis's error for a key of another type, directly or inside a script. */
const WRONG_TYPE = /\bWRONGTYPE\b/
const UNREADABLE = 'what is stored of this cannot be read; the log of this server names its key'

/**
 * The error that a client gets for anything thrown. An unexpected error becomes `internal`. The request's method
 * decides what is said about failures of Redis.
 */
export function toFantailError(error: unknown, method = 'POST'): FantailError {
  if (error instanceof FantailError) return error
  if (isStorageError(error)) return storageError(error, method === 'GET' || method === 'HEAD')
  if (error instanceof VaultError && error.code === 'lockedKey') return keyUnavailable(error)
  const isUnreadable = error instanceof UnreadableRecordError || WRONG_TYPE.test(String(error))
  if (isUnreadable) return new FantailError('internal', UNREADABLE, { cause: error })
  return new FantailError('internal', 'something went wrong on our side', { cause: error })
}

/** A key service that cannot be reached answers again by itself. */
function keyUnavailable(error: VaultError): FantailError {
  return new FantailError('key_unavailable', error.message, { retryAfterSeconds: 10, cause: error })
}

function isStorageError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const { name, message } = error
  return isTrouble(error) || name === 'MaxRetriesPerRequestError' || CONNECTION.test(message)
}

/** For all routes except publishing, whose errors say whether the message may be stored. */
function storageError(error: Error, reads: boolean): FantailError {
  if (isOutOfMemory(error)) {
    return new FantailError('storage_full', 'storage is full; nothing was changed', {
      retryAfterSeconds: 5,
      cause: error,
    })
  }
  const message = unavailable(isTrouble(error), reads)
  return new FantailError('storage_unavailable', message, { retryAfterSeconds: 1, cause: error })
}

function unavailable(refused: boolean, reads: boolean): string {
  if (reads) return 'storage does not answer at the moment'
  return refused
    ? 'storage refuses writes at the moment; nothing was changed'
    : 'storage does not answer; a change that was asked for may or may not have been made'
}

export function errorResponse(
  error: FantailError,
  requestId: string,
  common: Readonly<Record<string, string>> = SECURITY_HEADERS,
): Response {
  const { code, message, details, retryAfterSeconds } = error
  const headers: Record<string, string> = {
    ...common,
    'Content-Type': 'application/json',
    'X-Request-Id': requestId,
  }
  if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds)
  const body = { error: { code, message, ...(details && { details }) }, requestId }
  return new Response(JSON.stringify(body), { status: error.status, headers })
}
