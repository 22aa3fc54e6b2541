/** How a request over queues can fail. */

/**
 * `timeout`: no reply came before the deadline. `refused`: the responder threw a `RequestRefused`. `full`: too many
 * requests wait for replies. `closed`: the requester was closed. `aborted`: the caller's signal.
 */
export type RequestFailure = 'timeout' | 'refused' | 'full' | 'closed' | 'aborted'

export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly because: RequestFailure
  /** Names the request on both sides. */
  readonly correlationId: string

  constructor(because: RequestFailure, correlationId: string, text: string, cause?: unknown) {
    super(text, { cause })
    this.because = because
    this.correlationId = correlationId
  }
}

/**
 * A responder throws this error to refuse a request permanently. The requester gets its text, and the request is not
 * repeated.
 */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
}
