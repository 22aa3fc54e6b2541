/** Text messages. A delivery ends when a provider has accepted the message for a phone number. */
import type { ResultClass } from '@fantail/contracts'
import { parsePhoneNumber } from '../endpoints/phone-number.ts'
import { CUSTOMER_MANAGED_POLICY } from './fixed-policies.ts'
import type { EndpointRight, ProtocolTraits, ReadEndpoint } from './protocol-traits.ts'

/** Refusals that end by themselves. */
const TEMPORARY = new Set([408, 425, 429])

export const SMS_TRAITS: ProtocolTraits = {
  endpoint: {
    name: 'a phone number with its country code (+15550100)',
    isUrl: false,
    read: readNumber,
    snsRefusal: (text) => `Invalid SMS endpoint: ${text}`,
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
  rightsOf: rightsToText,
  confirmedBy: 'subscriber',
  retentionFloorSeconds: 0,
  classifyStatus,
  fifo: { topics: 'never', sendsRuns: false },
  isQueue: false,
  reports: {
    feedback: null,
    byApplication: false,
    byAccount: true,
    failures: 'deliveries',
    providerResponse: (text) => text ?? '',
  },
}

function readNumber(text: string): ReadEndpoint | undefined {
  const number = parsePhoneNumber(text)
  return number === undefined ? undefined : { endpoint: number }
}

function classifyStatus(status: number): ResultClass {
  if (status >= 200 && status < 300) return 'delivered'
  return status < 200 || status >= 500 || TEMPORARY.has(status) ? 'retry' : 'permanent'
}

/** Text messages cost money, so their numbers need a scope. */
function rightsToText(endpoint: string): EndpointRight[] {
  return parsePhoneNumber(endpoint) ? [{ action: 'sns:Publish', arn: '*', scope: 'sms' }] : []
}
