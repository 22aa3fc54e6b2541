/** Whoever names an endpoint that is a queue or a function must be allowed to use it. */
import type { Target } from '@fantail/access'
import { parseArn } from '@fantail/contracts'
import { parseFunctionArn, unqualifiedArn } from '@fantail/policy'

export function endpointTargets(endpoint: string): Target[] {
  if (parseArn(endpoint)?.service === 'sqs') return [{ action: 'SQS:SendMessage', arn: endpoint }]
  return functionTargets(endpoint)
}

/** By its name alone: which functions may be called at all is the operator's setting. */
export function functionTargets(endpoint: string): Target[] {
  const named = parseFunctionArn(endpoint)
  return named ? [{ action: 'lambda:InvokeFunction', arn: unqualifiedArn(named), byName: true }] : []
}
