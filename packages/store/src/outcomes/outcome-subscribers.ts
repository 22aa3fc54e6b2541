/** The subscriptions of a slice as the rows of a message show them. */
import { publishedAtOf, type SubscriptionRecord } from '@fantail/contracts'
import { effectivePolicy } from '@fantail/policy'
import type { SliceData } from '../topics/snapshots.ts'

/** Clocks of the publisher and of Redis may differ; entries carry Redis's time. */
export const CLOCK_SLACK_MS = 5_000

export interface Subscriber {
  record: SubscriptionRecord
  /** The first attempt and the retries of the policy in force. */
  attemptsMax: number
}

/** A slot that was given to a later subscription says nothing about the message. */
export function subscribersBySlot(data: SliceData | null, messageId: string): Map<number, Subscriber> {
  const bySlot = new Map<number, Subscriber>()
  if (!data) return bySlot
  const createdBy = publishedAtOf(messageId) + CLOCK_SLACK_MS
  for (const record of data.subscriptions) {
    if (record.createdAt > createdBy) continue
    const { numRetries } = effectivePolicy(data.topic, record).healthyRetryPolicy
    bySlot.set(record.slot, { record, attemptsMax: numRetries + 1 })
  }
  return bySlot
}
