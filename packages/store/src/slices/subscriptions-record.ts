/** The stored form of a subscription: its record (subscription-fields.ts), and values that scripts keep next to it. */
import { createHash } from 'node:crypto'
import {
  type Protocol,
  parseMessageId,
  type RetryMode,
  type SubscriptionRecord,
  type SubscriptionStatus,
  subscriptionArn,
} from '@fantail/contracts'
import { PROTOCOL_TRAITS } from '@fantail/policy'
import { parseRecord, sumRecord } from '../records/checksums.ts'
import { openJson } from '../records/stored-json.ts'
import { type StoredSubscription, SUBSCRIPTION } from '../records/subscription-fields.ts'

type Packable = Partial<StoredSubscription> & Pick<StoredSubscription, 'endpoint' | 'protocol'>

export function packSubscription(record: Packable): string {
  return sumRecord(SUBSCRIPTION.pack(record))
}

/** The text of a new record without its end, because only the script knows its last members. */
export function openSubscription(record: Packable): string {
  return openJson(SUBSCRIPTION.pack(record))
}

/**
 * Bytes of the settings that callers make. The subscription's state does not count, so that it can be paused, confirmed
 * and unsubscribed when memory is full.
 */
export function settingsBytes(record: Packable): number {
  const longest = { status: 'paused', pausedBecause: 'failing', resumes: 1e9, unsubscribed: true } as const
  return Buffer.byteLength(packSubscription({ ...record, ...longest }))
}

/** Reads a record. Throws an UnreadableRecordError that names `key` and the subscription. */
export function unpackSubscription(
  text: string,
  { id, topicArn, key }: { id: string; topicArn: string; key: string },
): SubscriptionRecord {
  const at = `${key} ${id}`
  const stored = SUBSCRIPTION.unpack(parseRecord(text, at), at)
  return { id, arn: subscriptionArn(topicArn, id), topicArn, ...stored }
}

/** Values that scripts keep next to the record, each '' if unset. */
export interface SubscriptionFields {
  /** Own. */
  rate: string
  maxInFlight: number
  /** '1', or why Fantail itself paused it. */
  paused: string
  hasDlq: string
  /** When the subscription is deleted, unless it is confirmed before. */
  expires: string
  /** The status under which it is counted. Unsubscribed ones are not counted. */
  counted: SubscriptionStatus | ''
  /** SHA-1 of its token. */
  tokenHash: Buffer | ''
  /** Retry mode and circuit breaker, in the form that keys.ts describes. */
  mode: string
  /** Rates of message groups, in the form of group-rate.lua. */
  groupRates: string
  /** The least time for which its deliveries are kept, in seconds. */
  floor: number
}

type FieldSource = Pick<
  SubscriptionRecord,
  | 'protocol'
  | 'status'
  | 'pausedBecause'
  | 'deliveryPolicy'
  | 'customerRate'
  | 'redrivePolicy'
  | 'deadLetters'
  | 'maxInFlight'
  | 'token'
  | 'tokenExpiresAt'
  | 'unsubscribed'
  | 'retryMode'
  | 'circuitBreaker'
  | 'groupThrottle'
>

export function subscriptionFields(record: FieldSource): SubscriptionFields {
  const awaited = record.status === 'pending' || record.unsubscribed
  return {
    rate: rateOf(record),
    maxInFlight: record.maxInFlight,
    // The last message to an unsubscribed endpoint must leave its lane, even if the lane was paused.
    paused: record.status === 'paused' && !record.unsubscribed ? (record.pausedBecause ?? '1') : '',
    hasDlq: record.redrivePolicy || record.deadLetters ? '1' : '',
    expires: awaited && record.tokenExpiresAt !== null ? String(record.tokenExpiresAt) : '',
    counted: record.unsubscribed ? '' : record.status,
    tokenHash: record.token === null ? '' : sha1(record.token),
    mode: modeOf(record),
    groupRates: groupRatesOf(record),
    floor: PROTOCOL_TRAITS[record.protocol].retentionFloorSeconds,
  }
}

/**
 * '' if the subscription follows the topic. The rate of a customer is written after `<`. A kind without policies does
 * not follow the topic: its throttle is written after `=`, and 0 means none.
 */
function rateOf({ protocol, deliveryPolicy, customerRate }: FieldSource): string {
  const { takes, defaultPolicy } = PROTOCOL_TRAITS[protocol]
  const own = deliveryPolicy?.throttlePolicy ?? undefined
  if (takes.deliveryPolicy)
    return `${own?.maxReceivesPerSecond ?? ''}${customerRate ? `<${customerRate}` : ''}`
  const rate = (takes.rate ? own : undefined) ?? defaultPolicy.throttlePolicy
  return `=${rate?.maxReceivesPerSecond ?? 0}`
}

const MODES: Record<RetryMode, string> = { policy: '-', standard: 's', adaptive: 'a' }

function modeOf({ retryMode = 'policy', circuitBreaker }: FieldSource): string {
  const letter = MODES[retryMode]
  if (circuitBreaker) return `${letter} ${circuitBreaker.failures} ${circuitBreaker.probeSeconds * 1_000}`
  return letter === '-' ? '' : letter
}

function groupRatesOf({ groupThrottle }: FieldSource): string {
  if (!groupThrottle) return ''
  const overrides = Object.entries(groupThrottle.overrides ?? {}).map(([group, rate]) => `${group}=${rate}\t`)
  return `${groupThrottle.maxReceivesPerSecond ?? ''}\t${overrides.join('')}`
}

/** The subscription's field in the topic's index of endpoints. */
export function endpointHash(protocol: Protocol, endpoint: string): Buffer {
  return sha1(protocol + endpoint)
}

export function sha1(text: string): Buffer {
  return createHash('sha1').update(text).digest()
}

/** The 16 bytes of an id. placeOfSubscription must have accepted the id. */
export function idBytes(id: string): Buffer {
  const bytes = parseMessageId(id)
  if (!bytes) throw new TypeError(`${id} is not a subscription id`)
  return bytes
}
