/**
 * Converts any thrown error to an error of SNS or SQS. For errors that an operation expects, it throws a better text
 * itself.
 */
import { AwsError, type AwsService } from '@fantail/aws-wire'
import type { FantailError } from '@fantail/contracts'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { toFantailError } from '../../http/error-answers.ts'

interface Failed {
  service: AwsService
  requestId: string
}

/** An unexpected error is logged and becomes InternalFailure. */
export function toAwsError(thrown: unknown, { service, requestId }: Failed, log: ApiDeps['log']): AwsError {
  if (thrown instanceof AwsError) return thrown
  const error = toFantailError(thrown)
  if (error.code === 'internal') log.error({ requestId, err: error.cause ?? error }, 'request.failed')
  return awsErrorOf(error, service)
}

function awsErrorOf(error: FantailError, service: AwsService): AwsError {
  const { message } = error
  switch (error.code) {
    case 'storage_unavailable':
    case 'storage_full':
      return new AwsError('ServiceUnavailable', message, { status: 503, cause: error })
    case 'rate_limited':
      return service === 'sns'
        ? new AwsError('Throttled', message, { status: 429, cause: error })
        : new AwsError('RequestThrottled', message, { status: 403, cause: error })
    case 'forbidden':
      return service === 'sns'
        ? new AwsError('AuthorizationError', message, { status: 403, cause: error })
        : new AwsError('AccessDenied', message, { status: 403, cause: error })
    case 'too_large':
      return new AwsError('RequestEntityTooLarge', message, { status: 413, cause: error })
    case 'malformed_json':
      return new AwsError('MalformedInput', message, { cause: error })
    case 'internal':
      return new AwsError('InternalFailure', message, { status: 500, cause: error })
    default:
      return service === 'sns'
        ? new AwsError('InvalidParameter', `Invalid parameter: ${message}`, { cause: error })
        : new AwsError('InvalidParameterValue', message, { cause: error })
  }
}

/** The result, or the AwsError that was thrown instead. */
export function outcomeOf<T>(read: () => T): T | AwsError {
  try {
    return read()
  } catch (error) {
    if (error instanceof AwsError) return error
    throw error
  }
}
