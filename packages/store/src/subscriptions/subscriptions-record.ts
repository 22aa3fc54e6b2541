/** A subscription as it is stored: its record (subscription-fields.ts), and what scripts keep beside that. */
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
import { parseStored } from '../records/stored-json.ts'
import { type StoredSubscription, SUBSCRIPTION } from './subscription-fields.ts'

type Packable = Partial<StoredSubscription> & Pick<StoredSubscription, 'endpoint' | 'protocol'>

/** The stored text; members of a new record that only the script knows are left out. */
export function packSubscription(record: Packable): string {
  return JSON.stringify(SUBSCRIPTION.pack(record))
}

/**
 * Bytes of the settings of callers. The subscription's state does not count, so that it can be paused, confirmed and
 * unsubscribed at any memory.
 */
export function settingsBytes(record: Packable): number {
  return Buffer.byteLength(packSubscription({ ...record, status: 'paused', unsubscribed: true }))
}

/** The record, or a CorruptRecordError that names `key` and the subscription. */
export function unpackSubscription(
  text: string,
  { id, topicArn, key }: { id: string; topicArn: string; key: string },
): SubscriptionRecord {
  const at = `${key} ${id}`
  const stored = SUBSCRIPTION.unpack(parseStored(text, at), at)
  return { id, arn: subscriptionArn(topicArn, id), topicArn, ...stored }
}

/** Values that scripts keep beside the record, each '' if unset. */
export interface SubscriptionFields {
  /** Own. */
  throttle: string
  maxInFlight: number
  paused: string
  hasDlq: string
  /** When to delete it unless it is confirmed till then. */
  expires: string
  /** Status that it is counted under; unsubscribed ones are not. */
  counted: SubscriptionStatus | ''
  /** SHA-1 of its token. */
  tokenHash: Buffer | ''
  /** Retry mode and circuit breaker, as keys.ts has it. */
  mode: string
  /** Seconds that its deliveries are kept at least. */
  floor: number
}

type FieldSource = Pick<
  SubscriptionRecord,
  | 'protocol'
  | 'status'
  | 'deliveryPolicy'
  | 'redrivePolicy'
  | 'deadLetters'
  | 'maxInFlight'
  | 'token'
  | 'tokenExpiresAt'
  | 'unsubscribed'
  | 'retryMode'
  | 'circuitBreaker'
>

export function subscriptionFields(record: FieldSource): SubscriptionFields {
  const awaited = record.status === 'pending' || record.unsubscribed
  return {
    throttle: throttleOf(record),
    maxInFlight: record.maxInFlight,
    // The farewell of an unsubscribed one leaves its lane even where it was paused.
    paused: record.status === 'paused' && !record.unsubscribed ? '1' : '',
    hasDlq: record.redrivePolicy || record.deadLetters ? '1' : '',
    expires: awaited && record.tokenExpiresAt !== null ? String(record.tokenExpiresAt) : '',
    counted: record.unsubscribed ? '' : record.status,
    tokenHash: record.token === null ? '' : sha1(record.token),
    mode: modeOf(record),
    floor: PROTOCOL_TRAITS[record.protocol].retentionFloorSeconds,
  }
}

/** '' follows the topic. A kind without policies does not; its throttle stands behind `=`, and 0 is none. */
function throttleOf({ protocol, deliveryPolicy }: FieldSource): string {
  const { takes, defaultPolicy } = PROTOCOL_TRAITS[protocol]
  const own = deliveryPolicy?.throttlePolicy ?? undefined
  if (takes.deliveryPolicy) return own === undefined ? '' : String(own.maxReceivesPerSecond)
  const throttle = (takes.throttle ? own : undefined) ?? defaultPolicy.throttlePolicy
  return `=${throttle?.maxReceivesPerSecond ?? 0}`
}

const MODES: Record<RetryMode, string> = { policy: '-', standard: 's', adaptive: 'a' }

function modeOf({ retryMode = 'policy', circuitBreaker }: FieldSource): string {
  const letter = MODES[retryMode]
  if (circuitBreaker) return `${letter} ${circuitBreaker.failures} ${circuitBreaker.probeSeconds * 1_000}`
  return letter === '-' ? '' : letter
}

/** The subscription's key in the topic's index of endpoints. */
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
