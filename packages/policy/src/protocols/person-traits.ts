/** Endpoints that are persons and their devices: mail, text messages and mobile push. */
import { parsePlatformEndpointArn, type ResultClass } from '@fantail/contracts'
import { isMailAddress } from '../endpoints/mail-address.ts'
import { parsePhoneNumber } from '../endpoints/phone-number.ts'
import { CUSTOMER_MANAGED_POLICY, FIXED_TRAITS } from './fixed-traits.ts'
import type { EndpointRight, ProtocolTraits } from './protocol-traits.ts'

/**
 * SNS sends 10 mails a second to one address, and ends subscriptions past that. Here the rest waits.
 * @limit Mails a second of one subscription; its `throttlePolicy` changes it. Past it: they wait in its lane.
 */
const MAILS_PER_SECOND_MAX = 10

/**
 * The SMTP server's reply to one message for one address decides the result. Both kinds of mail have the same syntax.
 * An address without a protocol means `email`, because that is named first.
 */
export const MAIL_TRAITS: ProtocolTraits = {
  ...FIXED_TRAITS,
  endpoint: {
    name: 'a mail address',
    isUrl: false,
    read: (text) => (isMailAddress(text) ? { endpoint: text } : undefined),
    snsRefusal: () => 'Invalid parameter: Email address',
  },
  defaultPolicy: Object.freeze({
    ...CUSTOMER_MANAGED_POLICY,
    throttlePolicy: Object.freeze({ maxReceivesPerSecond: MAILS_PER_SECOND_MAX }),
  }),
  rightsOf: () => [],
  confirmedBy: 'person',
  redisTrips: 2,
  classifyStatus: classifyReply,
}

/**
 * Classifies replies of SMTP by their first digit (RFC 5321 §4.2.1). Replies with other digits come from a broken
 * server.
 */
function classifyReply(reply: number): ResultClass {
  if (reply >= 200 && reply < 300) return 'delivered'
  return reply >= 500 && reply < 600 ? 'permanent' : 'retry'
}

/** A delivery ends when a provider has accepted the message for a phone number. */
export const SMS_TRAITS: ProtocolTraits = {
  ...FIXED_TRAITS,
  endpoint: {
    name: 'a phone number with its country code (+15550100)',
    isUrl: false,
    read: readNumber,
    snsRefusal: (text) => `Invalid SMS endpoint: ${text}`,
  },
  defaultPolicy: CUSTOMER_MANAGED_POLICY,
  rightsOf: rightsToText,
  redisTrips: 1,
  classifyStatus: classifyTextAnswer,
  reports: { ...FIXED_TRAITS.reports, byAccount: true },
}

function readNumber(text: string) {
  const number = parsePhoneNumber(text)
  return number === undefined ? undefined : { endpoint: number }
}

/** Text messages cost money, so their numbers need a scope. */
function rightsToText(endpoint: string): EndpointRight[] {
  return parsePhoneNumber(endpoint) ? [{ action: 'sns:Publish', arn: '*', scope: 'sms' }] : []
}

/** Refusals of text messages that end by themselves. */
const TEMPORARY = new Set([408, 425, 429])

function classifyTextAnswer(status: number): ResultClass {
  if (status >= 200 && status < 300) return 'delivered'
  return status < 200 || status >= 500 || TEMPORARY.has(status) ? 'retry' : 'permanent'
}

/** An attempt sends one notification to one device or browser, and the provider's answer decides its result. */
export const MOBILE_PUSH_TRAITS: ProtocolTraits = {
  ...FIXED_TRAITS,
  endpoint: {
    name: 'the ARN of a platform endpoint',
    isUrl: false,
    read: (text) => (parsePlatformEndpointArn(text) ? { endpoint: text } : undefined),
    snsRefusal: (text) => `Invalid parameter: Application endpoint arn invalid:${text}`,
  },
  defaultPolicy: CUSTOMER_MANAGED_POLICY,
  rightsOf: rightsToNotify,
  redisTrips: 2,
  classifyStatus: classifyPushAnswer,
  reports: { ...FIXED_TRAITS.reports, feedback: 'Application', byApplication: true },
}

/** An endpoint belongs to its platform application, so the right is checked there. */
function rightsToNotify(endpoint: string): EndpointRight[] {
  const named = parsePlatformEndpointArn(endpoint)
  return named ? [{ action: 'SNS:Publish', arn: named.application }] : []
}

/** A `resultClass` of the attempt, from the provider's own error code, has priority over this. */
function classifyPushAnswer(statusCode: number): ResultClass {
  if (statusCode >= 200 && statusCode < 300) return 'delivered'
  return statusCode === 429 || statusCode >= 500 ? 'retry' : 'permanent'
}
