/** Every failure as the one shape `{error: {code, message, details?}, requestId}`. */
import { FantailError, type Problem } from '@fantail/contracts'
import { storageError } from '@fantail/jobs'

const PROBLEMS_IN_MESSAGE = 3

/** `validation_failed` with every problem; the message names the first few. */
export function invalid(problems: Problem[]): FantailError {
  const told = problems.slice(0, PROBLEMS_IN_MESSAGE).map(({ path, message }) => `${path} ${message}`.trim())
  const rest = problems.length - told.length
  const message = told.join('; ') + (rest > 0 ? `; and ${rest} more` : '')
  return new FantailError('validation_failed', message, { details: problems })
}

export function notFound(what: string): FantailError {
  return new FantailError('not_found', `no such ${what}`)
}

/** ioredis: the connection is away, or the answer did not come in time. */
const CONNECTION =
  /^(Connection is closed|Command timed out|Stream isn't writeable|connect |read E|write E|Socket closed|getaddrinfo|Reached the max retries)/

/** What a client is told of anything thrown; `internal` for what nobody expected. */
export function toFantailError(error: unknown): FantailError {
  if (error instanceof FantailError) return error
  if (isStorageError(error)) return storageError(error)
  return new FantailError('internal', 'something went wrong on our side', { cause: error })
}

function isStorageError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error.name === 'ReplyError'
    ? !isProgramError(error)
    : error.name === 'MaxRetriesPerRequestError' || CONNECTION.test(error.message)
}

/** Replies that say that we are wrong, not Redis: these must be seen as what they are. */
function isProgramError(error: Error): boolean {
  return /^(ERR|WRONGTYPE|NOSCRIPT|CROSSSLOT)\b/.test(error.message) && !/OOM/.test(error.message)
}

export function errorResponse(error: FantailError, requestId: string): Response {
  const { code, message, details, retryAfterSeconds } = error
  const headers: Record<string, string> = { 'Content-Type': 'application/json', 'X-Request-Id': requestId }
  if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds)
  const body = { error: { code, message, ...(details && { details }) }, requestId }
  return new Response(JSON.stringify(body), { status: error.status, headers })
}
