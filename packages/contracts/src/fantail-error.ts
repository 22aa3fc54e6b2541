/** The only error type that clients get, and its codes. */

export const ERROR_STATUS = {
  malformed_json: 400,
  validation_failed: 400,
  not_supported: 400,
  unauthorized: 401,
  forbidden: 403,
  quota_exceeded: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  subscription_exists: 409,
  redrive_active: 409,
  wrong_state: 409,
  idempotency_mismatch: 409,
  body_gone: 410,
  too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  storage_unavailable: 503,
  storage_full: 503,
  key_unavailable: 503,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/** The meaning of each code for a client. The OpenAPI document shows these sentences. */
export const ERROR_MEANING: Record<ErrorCode, string> = {
  malformed_json: 'The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.',
  validation_failed: 'Members of the request are wrong; `details` names each of them.',
  not_supported: 'This server is not set up for what was asked.',
  unauthorized: 'The request carries no valid API key.',
  forbidden: 'The caller may not do this; for a browser: the page is of another site.',
  quota_exceeded:
    'A quota allows no more of this; `message` names the quota. Delete some, or ask the operator.',
  not_found: 'The path names something that does not exist, or that the key may not see.',
  method_not_allowed: 'The path exists and does not take this method; `Allow` lists those that it takes.',
  conflict:
    'The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.',
  subscription_exists: 'The topic has a subscription with this endpoint and other settings.',
  redrive_active: 'A redrive or resend from this source is active; only one runs at a time.',
  wrong_state: 'The resource is in a state that does not allow this action, such as a task that has ended.',
  idempotency_mismatch: 'The `Idempotency-Key` was used for another request within 24 hours.',
  body_gone: 'The message is known, and its text is not kept; `message` says why.',
  too_large: 'The body or a message is larger than its limit.',
  unsupported_media_type: 'The body must be JSON, with `Content-Type: application/json`.',
  rate_limited: 'Too many requests, or too much work is waiting; try again after `Retry-After`.',
  internal: 'The server failed in a way that nobody expected; its log has the request’s id.',
  storage_unavailable: 'Redis does not answer or refuses writes; a change may or may not have been made.',
  storage_full: 'Redis is out of memory; nothing was changed. Try again after `Retry-After`.',
  key_unavailable: 'The server lacks the key that seals or opens messages and secrets; nothing was stored.',
}

/** One problem of an input: where it is (a dotted path, `messages[3].subject`) and what is wrong. */
export interface Problem {
  path: string
  message: string
}

/** @limit Problems that a refusal lists. Past it: the message says how many more there are. */
const PROBLEMS_MAX = 50
/** Path or text of a listed problem. Past it: it is cut. */
const PROBLEM_CHARS_MAX = 400
/** @limit Message of a refusal, over every protocol. Past it: it is cut. */
const MESSAGE_CHARS_MAX = 2_000

/** A text for an answer, which may quote what a caller has sent. */
export function toldText(text: string, charsMax = MESSAGE_CHARS_MAX): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).toWellFormed()}…`
}

function toldProblem({ path, message }: Problem): Problem {
  return { path: toldText(path, PROBLEM_CHARS_MAX), message: toldText(message, PROBLEM_CHARS_MAX) }
}

interface FantailErrorOptions {
  /** At most PROBLEMS_MAX of them are kept. */
  details?: Problem[]
  /** The wait in whole seconds, which the answer's `Retry-After` has. */
  retryAfterSeconds?: number
  cause?: unknown
}

export class FantailError extends Error {
  readonly code: ErrorCode
  readonly details: Problem[] | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, message: string, options: FantailErrorOptions = {}) {
    super(toldText(message), { cause: options.cause })
    this.name = 'FantailError'
    this.code = code
    this.details = options.details?.slice(0, PROBLEMS_MAX).map(toldProblem)
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  get status(): (typeof ERROR_STATUS)[ErrorCode] {
    return ERROR_STATUS[this.code]
  }

  /** `validation_failed` for one member. */
  static invalid(path: string, message: string): FantailError {
    return new FantailError('validation_failed', `${path} ${message}`, { details: [{ path, message }] })
  }
}
