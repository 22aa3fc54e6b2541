/**
 * How a subscription's record is stored: JSON with one-letter members, without what its key or its topic tells and
 * without what has its usual value. About 75 bytes for a plain webhook; written out it would be 450.
 */
import { createHash } from 'node:crypto'
import {
  type CircuitBreaker,
  type DeliveryPolicy,
  type FilterPolicy,
  isProtocol,
  MAX_IN_FLIGHT_DEFAULT,
  type OutboundSettings,
  type Protocol,
  parseMessageId,
  type RetryMode,
  type SubscriptionRecord,
  type SubscriptionStatus,
  subscriptionArn,
  type WebhookKey,
} from '@fantail/contracts'
import { PROTOCOL_TRAITS } from '@fantail/policy'
import { CorruptRecordError, parseStored } from '../topics/topics-record.ts'

interface Packed {
  /** Endpoint. */
  e: string
  /** Protocol, where the endpoint does not imply it. */
  p?: Protocol
  /** Status, where not active. */
  s?: SubscriptionStatus
  /** Raw message delivery. */
  w?: 1
  d?: DeliveryPolicy
  /** ARN of the dead-letter queue. */
  q?: string
  m?: number
  /** Confirmed by handshake. */
  h?: 1
  k?: string
  /** Token's expiry. */
  x?: number
  /** Unsubscribed. */
  u?: 1
  /** Filter policy, and '1' where it is for the body. */
  f?: FilterPolicy
  b?: 1
  /** Confirmed by a signed call; only a signed one unsubscribes. */
  c?: 1
  y?: 1
  /** Who subscribed. */
  v?: string
  /** How it is reached, and the secrets of that, sealed. */
  g?: OutboundSettings
  z?: string
  /** Retry mode, where not policy, and circuit breaker. */
  r?: RetryMode
  j?: CircuitBreaker
  /** What its requests are signed with. */
  i?: WebhookKey[]
  a?: Record<string, string>
  /** Slot and time of creation: appended by place_subscription. */
  o?: number
  t?: number
}

type Packable = Omit<SubscriptionRecord, 'id' | 'arn' | 'topicArn' | 'slot' | 'createdAt'> &
  Partial<Pick<SubscriptionRecord, 'slot' | 'createdAt'>>

/** The stored text; members of a new record that only the script knows are left out. */
export function packSubscription(record: Packable): string {
  const packed: Packed = {
    e: record.endpoint,
    p: impliedProtocol(record.endpoint) === record.protocol ? undefined : record.protocol,
    s: record.status === 'active' ? undefined : record.status,
    w: record.rawMessageDelivery ? 1 : undefined,
    d: record.deliveryPolicy ?? undefined,
    q: record.redrivePolicy?.deadLetterTargetArn,
    m: record.maxInFlight === MAX_IN_FLIGHT_DEFAULT ? undefined : record.maxInFlight,
    h: record.confirmation === 'handshake' ? 1 : undefined,
    k: record.token ?? undefined,
    x: record.tokenExpiresAt ?? undefined,
    u: record.unsubscribed ? 1 : undefined,
    f: record.filterPolicy ?? undefined,
    b: record.filterPolicyScope === 'MessageBody' ? 1 : undefined,
    c: record.confirmationWasAuthenticated ? 1 : undefined,
    y: record.authenticateOnUnsubscribe ? 1 : undefined,
    v: record.principal,
    g: record.outbound ?? undefined,
    z: record.sealed ?? undefined,
    r: record.retryMode === 'policy' ? undefined : record.retryMode,
    j: record.circuitBreaker ?? undefined,
    i: record.webhookKeys && record.webhookKeys.length > 0 ? record.webhookKeys : undefined,
    a: Object.keys(record.attributes).length > 0 ? record.attributes : undefined,
    o: record.slot,
    t: record.createdAt,
  }
  return JSON.stringify(packed)
}

/**
 * Bytes of what callers set. The state of the subscription is left out, so that one can be paused, confirmed and
 * unsubscribed whatever the memory.
 */
export function settingsBytes(record: Packable): number {
  return Buffer.byteLength(packSubscription({ ...record, status: 'paused', unsubscribed: true }))
}

/** The record, or a CorruptRecordError that names `key` and the subscription. */
export function unpackSubscription(
  text: string,
  { id, topicArn, key }: { id: string; topicArn: string; key: string },
): SubscriptionRecord {
  const packed = parseStored(text, `${key} ${id}`) as unknown as Packed
  if (typeof packed.e !== 'string' || typeof packed.o !== 'number' || typeof packed.t !== 'number') {
    throw new CorruptRecordError(`${key} ${id}`, new TypeError('not a subscription'))
  }
  return {
    id,
    arn: subscriptionArn(topicArn, id),
    topicArn,
    protocol: packed.p ?? impliedProtocol(packed.e),
    endpoint: packed.e,
    status: packed.s ?? 'active',
    rawMessageDelivery: packed.w === 1,
    deliveryPolicy: packed.d ?? null,
    redrivePolicy: packed.q === undefined ? null : { deadLetterTargetArn: packed.q },
    maxInFlight: packed.m ?? MAX_IN_FLIGHT_DEFAULT,
    confirmation: packed.h === 1 ? 'handshake' : 'none',
    token: packed.k ?? null,
    tokenExpiresAt: packed.x ?? null,
    unsubscribed: packed.u === 1,
    ...(packed.f && { filterPolicy: packed.f }),
    ...(packed.b === 1 && { filterPolicyScope: 'MessageBody' }),
    ...(packed.c === 1 && { confirmationWasAuthenticated: true }),
    ...(packed.y === 1 && { authenticateOnUnsubscribe: true }),
    ...(packed.v !== undefined && { principal: packed.v }),
    ...(packed.g && { outbound: packed.g }),
    ...(packed.z !== undefined && { sealed: packed.z }),
    ...(packed.r && { retryMode: packed.r }),
    ...(packed.j && { circuitBreaker: packed.j }),
    ...(packed.i && { webhookKeys: packed.i }),
    createdAt: packed.t,
    slot: packed.o,
    attributes: packed.a ?? {},
  }
}

/** Records of queues do not name their protocol. */
const UNNAMED: Protocol = 'sqs'

/** What a record without a protocol means: the one that the endpoint begins with. */
function impliedProtocol(endpoint: string): Protocol {
  const scheme = endpoint.slice(0, Math.max(0, endpoint.indexOf(':')))
  return isProtocol(scheme) ? scheme : UNNAMED
}

/** What the scripts keep beside the record, each '' where unset. */
export interface SubscriptionFields {
  /** Own throttle. */
  rate: string
  maxInFlight: string
  paused: string
  deadLetters: string
  /** When to delete it unless it is confirmed till then. */
  expires: string
  /** Status that it is counted under; unsubscribed ones are not. */
  counted: SubscriptionStatus | ''
  /** SHA-1 of its token. */
  tokenHash: Buffer | ''
  /** Retry mode and circuit breaker, as keys.ts has it. */
  mode: string
  /** Seconds that its deliveries are kept at least. */
  floor: string
}

type FieldSource = Pick<
  SubscriptionRecord,
  | 'protocol'
  | 'status'
  | 'deliveryPolicy'
  | 'redrivePolicy'
  | 'maxInFlight'
  | 'token'
  | 'tokenExpiresAt'
  | 'unsubscribed'
  | 'retryMode'
  | 'circuitBreaker'
>

export function subscriptionFields(record: FieldSource): SubscriptionFields {
  const rate = record.deliveryPolicy?.throttlePolicy?.maxReceivesPerSecond
  const awaited = record.status === 'pending' || record.unsubscribed
  return {
    rate: rate === undefined ? '' : String(rate),
    maxInFlight: String(record.maxInFlight),
    // The farewell of an unsubscribed one leaves its lane even where it was paused.
    paused: record.status === 'paused' && !record.unsubscribed ? '1' : '',
    deadLetters: record.redrivePolicy ? '1' : '',
    expires: awaited && record.tokenExpiresAt !== null ? String(record.tokenExpiresAt) : '',
    counted: record.unsubscribed ? '' : record.status,
    tokenHash: record.token === null ? '' : sha1(record.token),
    mode: modeOf(record),
    floor: String(PROTOCOL_TRAITS[record.protocol].retentionFloorSeconds),
  }
}

const MODES: Record<RetryMode, string> = { policy: '-', standard: 's', adaptive: 'a' }

function modeOf({ retryMode = 'policy', circuitBreaker }: FieldSource): string {
  const letter = MODES[retryMode]
  if (circuitBreaker) return `${letter} ${circuitBreaker.failures} ${circuitBreaker.probeSeconds * 1_000}`
  return letter === '-' ? '' : letter
}

/** What the endpoint index of a topic knows a subscription by. */
export function endpointHash(protocol: Protocol, endpoint: string): Buffer {
  return sha1(protocol + endpoint)
}

export function sha1(text: string): Buffer {
  return createHash('sha1').update(text).digest()
}

/** The 16 bytes of an id that placeOfSubscription accepts. */
export function idBytes(id: string): Buffer {
  const bytes = parseMessageId(id)
  if (!bytes) throw new TypeError(`${id} is no subscription id`)
  return bytes
}
