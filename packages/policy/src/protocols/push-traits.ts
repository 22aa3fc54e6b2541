/** Mobile push: the provider's answer to one notification for one device or browser is the answer. */
import { parsePlatformEndpointArn, type ResultClass } from '@fantail/contracts'
import { CUSTOMER_MANAGED_POLICY } from './fixed-policies.ts'
import type { ProtocolTraits, ReadEndpoint } from './protocol-traits.ts'

export const PUSH_TRAITS: ProtocolTraits = {
  endpoint: { name: 'the ARN of a platform endpoint', isUrl: false, read: readPlatformEndpoint },
  defaultPolicy: CUSTOMER_MANAGED_POLICY,
  takes: {
    rawDelivery: false,
    deliveryPolicy: false,
    throttle: true,
    pacing: false,
    outbound: false,
    webhookKeys: false,
  },
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

/** Providers' own words go before this (the verdict of an attempt). */
function classifyStatus(statusCode: number): ResultClass {
  if (statusCode >= 200 && statusCode < 300) return 'delivered'
  return statusCode === 429 || statusCode >= 500 ? 'retry' : 'permanent'
}
