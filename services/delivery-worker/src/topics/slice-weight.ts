/** The bytes that a compiled slice takes in memory, estimated. The bound of the cache of slices uses them. */
import type { SubscriptionRecord } from '@fantail/contracts'
import type { CompiledSlice } from './compiled-slice.ts'

/** The slice and its topic. */
const SLICE_BYTES = 2_000
/**
 * A plain webhook took 1,016 bytes. Its first delivery adds about 140 for its counts and the parsed endpoint. This
 * figure decides whether a worker keeps all slices of a topic with 100,000 subscriptions, or reads them for each
 * message.
 */
const SUBSCRIPTION_BYTES = 1_160
/** All groups took 350 bytes. */
const DELIVERY_POLICY_BYTES = 400
/** A key, and the object that signs with it. */
const WEBHOOK_KEY_BYTES = 1_000
/** A short text that few subscriptions have. */
const MEMBER_BYTES = 200

export function weightOf({ byId, filters }: CompiledSlice): number {
  // The records contain the filter policies too.
  let bytes = SLICE_BYTES + 2 * (filters?.weight ?? 0)
  for (const { record } of byId.values()) bytes += subscriptionBytes(record)
  return bytes
}

function subscriptionBytes(record: SubscriptionRecord): number {
  const { endpoint, move, deliveryPolicy, redrivePolicy, webhookKeys, metadata } = record
  let bytes = SUBSCRIPTION_BYTES + endpoint.length
  if (deliveryPolicy) bytes += DELIVERY_POLICY_BYTES
  if (redrivePolicy) bytes += MEMBER_BYTES
  if (record.name) bytes += MEMBER_BYTES
  if (record.principal) bytes += MEMBER_BYTES
  if (record.token) bytes += MEMBER_BYTES
  if (move) bytes += MEMBER_BYTES + move.endpoint.length
  if (webhookKeys) bytes += webhookKeys.length * WEBHOOK_KEY_BYTES
  if (record.outbound || record.sealed) bytes += outboundBytes(record)
  if (metadata) bytes += textsBytes(metadata)
  if (Object.keys(record.attributes).length > 0) bytes += textsBytes(record.attributes)
  return bytes
}

/** Bytes of certificates and secrets, and of the TLS objects that are made from them. */
function outboundBytes({ outbound, sealed }: SubscriptionRecord): number {
  const { certificate = '', ca = '' } = outbound ?? {}
  return 4 * (certificate.length + ca.length + (sealed?.length ?? 0))
}

/** Each character may take two bytes. */
function textsBytes(texts: Record<string, string>): number {
  return Object.entries(texts).reduce((sum, [key, value]) => sum + 2 * (key.length + value.length) + 50, 200)
}
