/** The reason why a received request is not trusted. Answer it with 400, because Fantail does not retry after a 400. */
type VerifyErrorCode =
  | 'missing_header'
  | 'wrong_timestamp'
  | 'too_old'
  | 'wrong_key'
  | 'no_matching_signature'
  | 'wrong_body'
  | 'wrong_certificate'
  | 'wrong_topic'

export class VerifyError extends Error {
  readonly code: VerifyErrorCode

  constructor(code: VerifyErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'VerifyError'
    this.code = code
  }
}
