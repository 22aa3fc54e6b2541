/**
 * The fields of a subscription's record. The record is stored as JSON with one-letter names of members, to save memory.
 * Default values are not stored, and neither are the id and the ARNs, which follow from the place of the record. A
 * plain webhook takes about 90 bytes. With full names and all values it would take 450.
 */
import {
  isProtocol,
  MAX_IN_FLIGHT_DEFAULT,
  type Protocol,
  type RedrivePolicy,
  type SubscriptionRecord,
} from '@fantail/contracts'
import { type Codec, eitherOf, FLAG, TRUE_OR_ABSENT, unlessEmpty } from './codecs.ts'
import { type FieldTable, RecordFields, type SettingsOf } from './fields.ts'

export type StoredSubscription = Omit<SubscriptionRecord, 'id' | 'arn' | 'topicArn'>

/** The codec of a redrive policy, which is stored as the ARN of its queue. */
const DEAD_LETTER_ARN: Codec<RedrivePolicy | null> = {
  encode: (policy) => policy?.deadLetterTargetArn,
  decode: (stored) => ({ deadLetterTargetArn: String(stored) }),
}

/** The API that made the subscription is stored only if it is the native one. */
const NATIVE: Codec<'native'> = { encode: () => 1, decode: () => 'native' }

/**
 * The stored 1 means: dead letters go to the topic's own queue. Other records have no such member, and their redrive
 * policy names the queue, if any.
 */
const TOPIC_QUEUE: Codec<'topicQueue'> = { encode: () => 1, decode: () => 'topicQueue' }

/**
 * The protocol of a record that stores none and whose endpoint does not begin with a protocol's name, such as the ARN
 * of a queue.
 */
const UNNAMED: Protocol = 'sqs'

/** The protocol of a record that does not store one, by the endpoint's scheme. */
function impliedProtocol({ endpoint = '' }: Partial<StoredSubscription>): Protocol {
  const scheme = endpoint.slice(0, Math.max(0, endpoint.indexOf(':')))
  return isProtocol(scheme) ? scheme : UNNAMED
}

export const SUBSCRIPTION_FIELDS = {
  endpoint: { stored: 'e', required: true, type: 'string', shown: 'inOtherForm' },
  protocol: { stored: 'p', defaultOf: impliedProtocol, shown: 'asItIs' },
  origin: { stored: 'n', codec: NATIVE, optional: true, default: null, shown: 'inOtherForm' },
  status: { stored: 's', default: 'active', shown: 'asItIs' },
  pausedBecause: { stored: 'B', optional: true, default: null, shown: 'asItIs' },
  resumes: { stored: 'R', optional: true, default: 0, shown: 'never' },
  onGone: { stored: 'G', optional: true, default: null, shown: 'inOtherForm', setting: true },
  rawMessageDelivery: { stored: 'w', codec: FLAG, default: false, shown: 'asItIs', setting: true },
  deliveryPolicy: { stored: 'd', default: null, shown: 'asItIs', setting: true },
  customerRate: { stored: 'C', optional: true, default: null, shown: 'asItIs' },
  redrivePolicy: { stored: 'q', codec: DEAD_LETTER_ARN, default: null, shown: 'asItIs', setting: true },
  deadLetters: {
    stored: 'l',
    codec: TOPIC_QUEUE,
    optional: true,
    default: null,
    shown: 'inOtherForm',
    setting: true,
  },
  maxInFlight: { stored: 'm', default: MAX_IN_FLIGHT_DEFAULT, shown: 'asItIs', setting: true },
  confirmation: { stored: 'h', codec: eitherOf('none', 'handshake'), default: 'none', shown: 'asItIs' },
  token: { stored: 'k', default: null, shown: 'never' },
  tokenExpiresAt: { stored: 'x', default: null, shown: 'inOtherForm' },
  unsubscribed: { stored: 'u', codec: FLAG, default: false, shown: 'never' },
  filterPolicy: { stored: 'f', optional: true, default: null, shown: 'asItIs', setting: true },
  filterPolicyScope: {
    stored: 'b',
    codec: eitherOf('MessageAttributes', 'MessageBody'),
    optional: true,
    default: 'MessageAttributes',
    shown: 'asItIs',
    setting: true,
  },
  eventTypes: { stored: 'E', optional: true, default: null, shown: 'asItIs', setting: true },
  confirmationWasAuthenticated: {
    stored: 'c',
    codec: TRUE_OR_ABSENT,
    optional: true,
    default: false,
    shown: 'never',
  },
  authenticateOnUnsubscribe: {
    stored: 'y',
    codec: TRUE_OR_ABSENT,
    optional: true,
    default: false,
    shown: 'never',
  },
  principal: { stored: 'v', optional: true, default: null, shown: 'never' },
  outbound: { stored: 'g', optional: true, default: null, shown: 'inOtherForm' },
  sealed: { stored: 'z', optional: true, default: null, shown: 'never' },
  retryMode: { stored: 'r', optional: true, default: 'policy', shown: 'asItIs', setting: true },
  circuitBreaker: { stored: 'j', optional: true, default: null, shown: 'asItIs', setting: true },
  groupThrottle: { stored: 'T', optional: true, default: null, shown: 'asItIs', setting: true },
  webhookKeys: { stored: 'i', codec: unlessEmpty(), optional: true, default: null, shown: 'never' },
  svixHeaders: {
    stored: 'S',
    codec: FLAG,
    optional: true,
    default: false,
    shown: 'asItIs',
    setting: true,
  },
  replay: { stored: 'Y', optional: true, default: null, shown: 'never' },
  move: { stored: 'M', optional: true, default: null, shown: 'inOtherForm' },
  name: { stored: 'N', optional: true, default: null, shown: 'asItIs', setting: true },
  metadata: {
    stored: 'D',
    codec: unlessEmpty(),
    optional: true,
    default: {},
    shown: 'asItIs',
    setting: true,
  },
  attributes: { stored: 'a', codec: unlessEmpty(), default: {}, shown: 'asItIs', setting: true },
  // place_subscription (slice-subscriptions.lua) appends the last three fields.
  bit: { stored: 'o', required: true, type: 'number', shown: 'never' },
  departures: { stored: 'P', optional: true, default: 0, shown: 'never' },
  createdAt: { stored: 't', required: true, type: 'number', shown: 'inOtherForm' },
} as const satisfies FieldTable<StoredSubscription>

export const SUBSCRIPTION = new RecordFields<StoredSubscription, typeof SUBSCRIPTION_FIELDS>(
  SUBSCRIPTION_FIELDS,
)

/** Fields that callers may set, all present. */
export type SubscriptionSettings = SettingsOf<typeof SUBSCRIPTION_FIELDS, StoredSubscription>
