/** A caller who names a queue, function, stream, phone number or platform endpoint must have access to it. */
import type { Target } from '@fantail/access'
import { parseArn, parsePlatformEndpointArn } from '@fantail/contracts'
import { parseFunctionArn, parsePhoneNumber, parseStreamArn, unqualifiedArn } from '@fantail/policy'

export function endpointTargets(endpoint: string): Target[] {
  if (parseArn(endpoint)?.service === 'sqs') return [{ action: 'SQS:SendMessage', arn: endpoint }]
  return awsTargets(endpoint)
}

/** A platform endpoint belongs to its application, so the right is checked there. */
function platformTargets(endpoint: string): Target[] {
  const named = parsePlatformEndpointArn(endpoint)
  return named ? [{ action: 'SNS:Publish', arn: named.application }] : []
}

/**
 * This checks only the names. The operator's settings decide which functions and streams may be called at all. Text
 * messages cost money, so their numbers need a scope.
 */
export function awsTargets(endpoint: string): Target[] {
  if (parsePhoneNumber(endpoint)) return [{ action: 'sns:Publish', arn: '*', scope: 'sms' }]
  if (!parseStreamArn(endpoint)) return [...functionTargets(endpoint), ...platformTargets(endpoint)]
  return [{ action: 'firehose:PutRecordBatch', arn: endpoint, byName: true }]
}

export function functionTargets(endpoint: string): Target[] {
  const named = parseFunctionArn(endpoint)
  return named ? [{ action: 'lambda:InvokeFunction', arn: unqualifiedArn(named), byName: true }] : []
}

/** The rights to publish to one target. Both APIs name it by parameters of their own. */
export function directTargets({ PhoneNumber: number, TargetArn: arn }: Record<string, unknown>): Target[] {
  return [
    ...(parsePhoneNumber(String(number)) ? awsTargets(String(number)) : []),
    ...platformTargets(String(arn)),
  ]
}
