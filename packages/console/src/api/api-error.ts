/** A refusal or failure of the API, in the one form of all its errors. */

interface Problem {
  path: string
  message: string
}

export class ApiError extends Error {
  readonly code: string
  /** 0: no answer came. */
  readonly status: number
  readonly details: Problem[]
  readonly requestId: string | undefined

  constructor(given: {
    code: string
    message: string
    status: number
    details?: Problem[]
    requestId?: string
  }) {
    super(given.message)
    this.name = 'ApiError'
    this.code = given.code
    this.status = given.status
    this.details = given.details ?? []
    this.requestId = given.requestId
  }

  /** Makes the error from an answer that is no success. The answer of a proxy may not be JSON. */
  static of(status: number, text: string): ApiError {
    const { error = {}, requestId } = partsOf(text)
    const { code = 'unknown', message = `HTTP ${status}`, details = [] } = error
    return new ApiError({ code, message, status, details, requestId })
  }

  static silent(cause: unknown): ApiError {
    const message = cause instanceof Error ? cause.message : String(cause)
    return new ApiError({ code: 'no_answer', message, status: 0 })
  }
}

interface Parts {
  error?: { code?: string; message?: string; details?: Problem[] }
  requestId?: string
}

function partsOf(text: string): Parts {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** The message for one member of the input. undefined: the error says nothing about it. */
export function problemAt(error: unknown, path: string): string | undefined {
  return error instanceof ApiError
    ? error.details.find((problem) => problem.path === path)?.message
    : undefined
}
