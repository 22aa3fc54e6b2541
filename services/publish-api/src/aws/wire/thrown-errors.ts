/** Errors in the form of AWS, and requests for services that are not served. */
import { AwsError, type AwsService, VERSIONS } from '@fantail/aws-wire'
import { type FantailError, QuotaExceededError, type QuotaMember } from '@fantail/contracts'
import type { ApiDeps } from '../../deps/api-deps.ts'
import type { ApiRequest } from '../../http/api-request.ts'
import { toFantailError } from '../../http/error-answers.ts'
import { KmsError } from '../../messages/kms-use.ts'
import type { WireRequest } from './wire-request.ts'

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

/** SNS bounds no stored bytes. Clients wait after `Throttled`, and space becomes free with time. */
const QUOTA_ERRORS: Record<QuotaMember, { code: string; status: number }> = {
  topics: { code: 'TopicLimitExceeded', status: 403 },
  subscriptions: { code: 'SubscriptionLimitExceeded', status: 403 },
  storedBytes: { code: 'Throttled', status: 429 },
}

function awsErrorOf(error: FantailError, service: AwsService): AwsError {
  const { message } = error
  if (error instanceof QuotaExceededError) {
    const { code, status } = QUOTA_ERRORS[error.member]
    return new AwsError(code, message, { status, cause: error })
  }
  switch (error.code) {
    case 'storage_unavailable':
    case 'storage_full':
    case 'key_unavailable':
      if (error instanceof KmsError) return awsKmsError(error, service)
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

/** JSON clients choose the exception by its shape, as in sqs-error.ts. */
function awsKmsError(error: KmsError, service: AwsService): AwsError {
  const { problem, message } = error
  return service === 'sns'
    ? new AwsError(`KMS${problem}`, message, { cause: error })
    : new AwsError(`KMS.${problem}Exception`, message, { shape: `Kms${problem}`, cause: error })
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

const OURS = /^AmazonSQS(?:\.|$)/

export interface OtherService {
  /** The service's name in credential scopes; empty if the call is not signed. */
  service: string
  /** The name of the called operation. */
  called: string
}

/**
 * Answers calls for other services of AWS, and for operations of STS that Fantail does not have. Such calls arrive
 * because `AWS_ENDPOINT_URL` leads the calls of all AWS clients here. The error explains that in the client's own
 * protocol. Otherwise the client would only read that an Action is missing. The other service that a call is for.
 * Undefined if the call is, or may be, one of SNS or SQS, or one of STS that exists here. `known`: an operation of this
 * name exists here.
 */
export function otherServiceOf(
  wire: WireRequest,
  request: ApiRequest,
  known: boolean,
): OtherService | undefined {
  const { protocol, service, version, authorization, action } = wire
  const scope = authorization?.scope?.service ?? ''
  const signedForOther = scope !== '' && scope !== 'sns' && scope !== 'sqs'
  if (protocol === 'json') {
    if (action !== undefined) return undefined
    const target = request.header('x-amz-target') ?? ''
    if (target === '') return signedForOther ? { service: scope, called: scope } : undefined
    return OURS.test(target) ? undefined : { service: scope, called: target }
  }
  if (service === 'sts') return known ? undefined : { service, called: named(service, action) }
  if (version === VERSIONS[service]) return undefined
  if (signedForOther) return { service: scope, called: named(scope, action) }
  if (known || version === undefined || scope !== '') return undefined
  return { service: '', called: named(`version ${version}`, action) }
}

/** `sts (GetCallerIdentity)` */
const named = (service: string, action: string | undefined) => (action ? `${service} (${action})` : service)
