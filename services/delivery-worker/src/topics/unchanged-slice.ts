/**
 * Tells whether a slice that is read again has the same texts, so that its compiled form stays in use. Compiling
 * 100,000 plain webhooks and collecting the old ones took more than a second of CPU.
 */
import { createHash } from 'node:crypto'
import type { SubscriptionRecord } from '@fantail/contracts'
import type { Steps } from '@fantail/policy'
import type { PackedSlice, SliceData } from '@fantail/store'
import type { CompiledSlice } from './compiled-slice.ts'

/** Hashing this many bytes takes about as long as parsing one. */
const BYTES_PER_STEP = 16

/** A hash of all texts that were read, with their lengths: the topic's record, and ids and records of subscriptions. */
export function* fingerprintOf({ topicText, records }: PackedSlice): Steps<string> {
  const hash = createHash('sha256').update(`${topicText.length} `).update(topicText)
  for (const text of records) {
    hash.update(`${text.length} `).update(text)
    yield Math.ceil(text.length / BYTES_PER_STEP)
  }
  return hash.digest('base64')
}

/**
 * Whether the compiled form depends only on the texts. Records that cannot be read are missing in `data`, and are
 * reported at each load. Opened secrets also depend on the keys of this process.
 */
export function isLasting({ records }: PackedSlice, { subscriptions }: SliceData): boolean {
  return subscriptions.length * 2 === records.length && !subscriptions.some(hasSecrets)
}

function hasSecrets({ outbound, sealed, webhookKeys }: SubscriptionRecord): boolean {
  return outbound != null || sealed != null || webhookKeys != null
}

/** Drops the tallies, because a subscription may get a seat among the statistics later, or lose it. */
export function dropTallies({ byId }: CompiledSlice): void {
  for (const subscription of byId.values()) subscription.counts = undefined
}
