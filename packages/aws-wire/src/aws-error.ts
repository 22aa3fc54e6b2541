import { toldText } from '@fantail/contracts'

/** A refusal, with the code and the text that AWS uses. */
interface AwsErrorOptions {
  /** HTTP status; default 400. */
  status?: number
  /** Name of the shape in JSON answers (`QueueDoesNotExist`), if it differs from the code. */
  shape?: string
  cause?: unknown
}

export class AwsError extends Error {
  /** The code that Query clients get: `InvalidParameter`, `AWS.SimpleQueueService.NonExistentQueue`. */
  readonly code: string
  readonly status: number
  readonly shape: string

  constructor(code: string, message: string, { status = 400, shape, cause }: AwsErrorOptions = {}) {
    super(toldText(message), { cause })
    this.code = code
    this.status = status
    this.shape = shape ?? code
  }
}
