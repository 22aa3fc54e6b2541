/** Functions: a delivery ends when the invocation is accepted. The result of the function does not matter. */
import type { ArnDefaults, ResultClass } from '@fantail/contracts'
import { functionArn, isFunctionName, parseFunctionArn, unqualifiedArn } from '../endpoints/function-arn.ts'
import { AWS_MANAGED_POLICY, MANAGED_FLOOR_SECONDS } from './fixed-policies.ts'
import type { EndpointRight, ProtocolTraits, ReadEndpoint } from './protocol-traits.ts'

/** Refusals that are temporary: throttling, a file system that is being mounted, a function that is being updated. */
const TEMPORARY = new Set([408, 409, 410, 425, 429])

export const FUNCTION_TRAITS: ProtocolTraits = {
  endpoint: {
    name: 'the ARN of a function',
    isUrl: false,
    read: readFunction,
    snsRefusal: () => 'Invalid parameter: Lambda endpoint ARN',
  },
  defaultPolicy: AWS_MANAGED_POLICY,
  takes: {
    rawDelivery: false,
    deliveryPolicy: false,
    rate: true,
    pacing: false,
    outbound: false,
    webhookKeys: false,
  },
  rightsOf: rightsToInvoke,
  confirmedBy: 'subscriber',
  retentionFloorSeconds: MANAGED_FLOOR_SECONDS,
  classifyStatus: classifyInvocation,
  fifo: { topics: 'never', sendsRuns: false },
  isQueue: false,
  reports: {
    feedback: 'Lambda',
    byApplication: false,
    byAccount: false,
    failures: 'deliveries',
    providerResponse: (text) => text ?? '',
  },
}

/** https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html#API_Invoke_Errors */
export function classifyInvocation(statusCode: number): ResultClass {
  if (statusCode >= 200 && statusCode < 300) return 'delivered'
  return statusCode < 200 || statusCode >= 500 || TEMPORARY.has(statusCode) ? 'retry' : 'permanent'
}

function readFunction(text: string, place: ArnDefaults, isNamed: boolean): ReadEndpoint | undefined {
  if (parseFunctionArn(text)) return { endpoint: text }
  return isNamed && isFunctionName(text) ? { endpoint: functionArn(text, place) } : undefined
}

/** Only the name is checked. The operator's settings decide what may be called at all. */
function rightsToInvoke(endpoint: string): EndpointRight[] {
  const named = parseFunctionArn(endpoint)
  return named ? [{ action: 'lambda:InvokeFunction', arn: unqualifiedArn(named), byName: true }] : []
}
