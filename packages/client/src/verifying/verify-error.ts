/** Why a received request is not trusted. Answer 400: Fantail does not retry after it. */
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
