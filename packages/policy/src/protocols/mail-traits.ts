/** Mail: the SMTP server's reply to one message for one address decides the result. */
import type { ResultClass } from '@fantail/contracts'
import { isMailAddress } from '../endpoints/mail-address.ts'
import { CUSTOMER_MANAGED_POLICY } from './fixed-policies.ts'
import type { ProtocolTraits, ReadEndpoint } from './protocol-traits.ts'

/**
 * SNS sends 10 mails a second to one address, and ends subscriptions past that. Here the rest waits.
 * @limit Mails a second of one subscription; its `throttlePolicy` changes it. Past it: they wait in its lane.
 */
const MAILS_PER_SECOND_MAX = 10

/** Both kinds have the same syntax. An address without a protocol means `email`, because that is named first. */
export const MAIL_TRAITS: ProtocolTraits = {
  endpoint: {
    name: 'a mail address',
    isUrl: false,
    read: readAddress,
    snsRefusal: () => 'Invalid parameter: Email address',
  },
  defaultPolicy: Object.freeze({
    ...CUSTOMER_MANAGED_POLICY,
    throttlePolicy: Object.freeze({ maxReceivesPerSecond: MAILS_PER_SECOND_MAX }),
  }),
  takes: {
    rawDelivery: false,
    deliveryPolicy: false,
    rate: true,
    pacing: false,
    outbound: false,
    webhookKeys: false,
  },
  rightsOf: () => [],
  confirmedBy: 'person',
  retentionFloorSeconds: 0,
  classifyStatus,
  fifo: { topics: 'never', sendsRuns: false },
  isQueue: false,
  reports: {
    feedback: null,
    byApplication: false,
    byAccount: false,
    failures: 'deliveries',
    providerResponse: (text) => text ?? '',
  },
}

function readAddress(text: string): ReadEndpoint | undefined {
  return isMailAddress(text) ? { endpoint: text } : undefined
}

/**
 * Classifies replies of SMTP by their first digit (RFC 5321 §4.2.1). Replies with other digits come from a broken
 * server.
 */
function classifyStatus(reply: number): ResultClass {
  if (reply >= 200 && reply < 300) return 'delivered'
  return reply >= 500 && reply < 600 ? 'permanent' : 'retry'
}
