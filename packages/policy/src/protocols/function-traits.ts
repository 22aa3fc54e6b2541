/** Functions: an invocation that is accepted is the delivery. What the function does then is its own business. */
import type { ArnDefaults, ResultClass } from '@fantail/contracts'
import { functionArn, isFunctionName, parseFunctionArn } from '../endpoints/function-arn.ts'
import { AWS_MANAGED_POLICY, MANAGED_FLOOR_SECONDS } from './fixed-policies.ts'
import type { ProtocolTraits, ReadEndpoint } from './protocol-traits.ts'

/** Refusals that end by themselves: throttling, a file system that mounts, a function that changes. */
const TEMPORARY = new Set([408, 409, 410, 425, 429])

export const FUNCTION_TRAITS: ProtocolTraits = {
  endpoint: { name: 'the ARN of a function', isUrl: false, read: readFunction },
  defaultPolicy: AWS_MANAGED_POLICY,
  takes: {
    rawDelivery: false,
    deliveryPolicy: false,
    throttle: true,
    pacing: false,
    outbound: false,
    webhookKeys: false,
  },
  confirmedBy: 'subscriber',
  retentionFloorSeconds: MANAGED_FLOOR_SECONDS,
  classifyStatus: classifyInvocation,
  fifo: { topics: 'never', sendsRuns: false },
  isQueue: false,
  reports: { feedback: 'Lambda', failures: 'deliveries', providerResponse: (text) => text ?? '' },
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
