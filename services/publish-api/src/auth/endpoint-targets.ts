/** A caller who names a queue, function, stream, phone number or platform endpoint must have access to it. */
import type { Target } from '@fantail/access'
import { type Protocol, parseArn, parsePlatformEndpointArn } from '@fantail/contracts'
import {
  type EndpointAddress,
  parseFunctionArn,
  parsePhoneNumber,
  parseStreamArn,
  unqualifiedArn,
} from '@fantail/policy'

/** Webhooks and mail addresses are outside of the server, so no right on a thing is needed. */
const outside = (): Target[] => []

/**
 * The rights that sending to an endpoint of each kind needs. A kind without an entry does not compile. A text that is
 * no endpoint of its kind needs none, because the operation itself refuses it by the same rules.
 */
const TARGETS: Record<Protocol, (endpoint: string) => Target[]> = {
  http: outside,
  https: outside,
  email: outside,
  'email-json': outside,
  sqs: queueTargets,
  lambda: functionTargets,
  firehose: streamTargets,
  sms: numberTargets,
  application: platformTargets,
}

export function endpointTargets({ protocol, endpoint }: EndpointAddress): Target[] {
  return TARGETS[protocol](endpoint)
}

function queueTargets(endpoint: string): Target[] {
  return parseArn(endpoint)?.service === 'sqs' ? [{ action: 'SQS:SendMessage', arn: endpoint }] : []
}

/** This checks only the name, also for streams. The operator's settings decide what may be called at all. */
export function functionTargets(endpoint: string): Target[] {
  const named = parseFunctionArn(endpoint)
  return named ? [{ action: 'lambda:InvokeFunction', arn: unqualifiedArn(named), byName: true }] : []
}

function streamTargets(endpoint: string): Target[] {
  const named = parseStreamArn(endpoint)
  return named ? [{ action: 'firehose:PutRecordBatch', arn: endpoint, byName: true }] : []
}

/** Text messages cost money, so their numbers need a scope. */
function numberTargets(endpoint: string): Target[] {
  return parsePhoneNumber(endpoint) ? [{ action: 'sns:Publish', arn: '*', scope: 'sms' }] : []
}

/** A platform endpoint belongs to its application, so the right is checked there. */
function platformTargets(endpoint: string): Target[] {
  const named = parsePlatformEndpointArn(endpoint)
  return named ? [{ action: 'SNS:Publish', arn: named.application }] : []
}

/** The rights to publish to one target. Both APIs name it by parameters of their own. */
export function directTargets({ PhoneNumber: number, TargetArn: arn }: Record<string, unknown>): Target[] {
  return [...numberTargets(String(number)), ...platformTargets(String(arn))]
}
