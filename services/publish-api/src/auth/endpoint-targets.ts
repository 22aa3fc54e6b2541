/** A caller who names a queue or a function as an endpoint must be allowed to use it. */
import type { Target } from '@fantail/access'
import { parseArn } from '@fantail/contracts'
import { parseFunctionArn, unqualifiedArn } from '@fantail/policy'

export function endpointTargets(endpoint: string): Target[] {
  if (parseArn(endpoint)?.service === 'sqs') return [{ action: 'SQS:SendMessage', arn: endpoint }]
  return functionTargets(endpoint)
}

/** Only the function's name is checked. An operator's setting says which functions may be called at all. */
export function functionTargets(endpoint: string): Target[] {
  const named = parseFunctionArn(endpoint)
  return named ? [{ action: 'lambda:InvokeFunction', arn: unqualifiedArn(named), byName: true }] : []
}
