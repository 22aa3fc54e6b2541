/**
 * Mobile push. An attempt sends one notification to one device or browser, and the provider's answer decides its
 * result.
 */
import { parsePlatformEndpointArn, type ResultClass } from '@fantail/contracts'
import { CUSTOMER_MANAGED_POLICY } from './fixed-policies.ts'
import type { EndpointRight, ProtocolTraits, ReadEndpoint } from './protocol-traits.ts'

export const PUSH_TRAITS: ProtocolTraits = {
  endpoint: {
    name: 'the ARN of a platform endpoint',
    isUrl: false,
    read: readPlatformEndpoint,
    snsRefusal: (text) => `Invalid parameter: Application endpoint arn invalid:${text}`,
  },
  defaultPolicy: CUSTOMER_MANAGED_POLICY,
  takes: {
    rawDelivery: false,
    deliveryPolicy: false,
    rate: true,
    pacing: false,
    outbound: false,
    webhookKeys: false,
  },
  rightsOf: rightsToNotify,
  confirmedBy: 'subscriber',
  retentionFloorSeconds: 0,
  classifyStatus,
  fifo: { topics: 'never', sendsRuns: false },
  isQueue: false,
  reports: {
    feedback: 'Application',
    byApplication: true,
    byAccount: false,
    failures: 'deliveries',
    providerResponse: (text) => text ?? '',
  },
}

function readPlatformEndpoint(text: string): ReadEndpoint | undefined {
  return parsePlatformEndpointArn(text) ? { endpoint: text } : undefined
}

/** A verdict of the attempt, from the provider's own error code, has priority over this. */
function classifyStatus(statusCode: number): ResultClass {
  if (statusCode >= 200 && statusCode < 300) return 'delivered'
  return statusCode === 429 || statusCode >= 500 ? 'retry' : 'permanent'
}

/** An endpoint belongs to its platform application, so the right is checked there. */
function rightsToNotify(endpoint: string): EndpointRight[] {
  const named = parsePlatformEndpointArn(endpoint)
  return named ? [{ action: 'SNS:Publish', arn: named.application }] : []
}
