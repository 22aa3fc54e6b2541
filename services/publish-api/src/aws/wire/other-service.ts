/**
 * Answers calls for other services of AWS, and for operations of STS that Fantail does not have. Such calls arrive
 * because `AWS_ENDPOINT_URL` leads the calls of all AWS clients here. The error explains that in the client's own
 * protocol. Otherwise the client would only read that an Action is missing.
 */
import { VERSIONS } from '@fantail/aws-wire'
import type { ApiRequest } from '../../http/api-request.ts'
import type { WireRequest } from './wire-request.ts'

const OURS = /^AmazonSQS(?:\.|$)/

export interface OtherService {
  /** The service's name in credential scopes; empty if the call is not signed. */
  service: string
  /** The name of the called operation. */
  called: string
}

/**
 * The other service that a call is for. Undefined if the call is, or may be, one of SNS or SQS, or one of STS that
 * exists here. `known`: an operation of this name exists here.
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
