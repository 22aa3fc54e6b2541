/**
 * Calls that are meant for another service of AWS, or for what is not served of STS: `AWS_ENDPOINT_URL` sends those of
 * every client here. They are told so, in a form that their client can read, instead of that an Action is missing.
 */
import { VERSIONS } from '@fantail/aws-wire'
import type { ApiRequest } from '../http/api-request.ts'
import type { WireRequest } from './wire-request.ts'

const OURS = /^AmazonSQS(?:\.|$)/

export interface OtherService {
  /** As credential scopes call it; empty where the call is not signed. */
  service: string
  /** What the call says of it. */
  called: string
}

/**
 * Undefined for what is, or may be, a call of SNS or SQS, or is one of STS that is served. `known`: there is an
 * operation of that name.
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
