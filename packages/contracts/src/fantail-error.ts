/** The one error type that reaches a client, and the codes it may carry (design: REST API, errors). */

export const ERROR_STATUS = {
  malformed_json: 400,
  validation_failed: 400,
  not_supported: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  subscription_exists: 409,
  redrive_active: 409,
  wrong_state: 409,
  idempotency_mismatch: 409,
  too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  storage_unavailable: 503,
  storage_full: 503,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/** One thing wrong with an input: where (a dotted path, `messages[3].subject`) and what. */
export interface Problem {
  path: string
  message: string
}

export interface FantailErrorOptions {
  details?: Problem[]
  /** Becomes `Retry-After`; whole seconds. */
  retryAfterSeconds?: number
  cause?: unknown
}

export class FantailError extends Error {
  readonly code: ErrorCode
  readonly details: Problem[] | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, message: string, options: FantailErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'FantailError'
    this.code = code
    this.details = options.details
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
