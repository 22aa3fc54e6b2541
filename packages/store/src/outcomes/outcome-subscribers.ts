/** The subscriptions of a slice, as the rows of a message show them. */
import { publishedAtOf, type SubscriptionRecord } from '@fantail/contracts'
import { effectivePolicy } from '@fantail/policy'
import type { SliceData } from '../topics/snapshots.ts'

/** The publisher's clock and Redis's may differ. Entries have Redis's time. */
export const CLOCK_SLACK_MS = 5_000

export interface Subscriber {
  record: SubscriptionRecord
  /** One first attempt, and the retries of the policy in force. */
  attemptsMax: number
}

/**
 * The subscriptions of a slice by slot. A subscription that is newer than the message is left out, because its slot may
 * have belonged to an older subscription.
 */
export function subscribersBySlot(data: SliceData | null, messageId: string): Map<number, Subscriber> {
  const bySlot = new Map<number, Subscriber>()
  if (!data) return bySlot
  const createdBy = publishedAtOf(messageId) + CLOCK_SLACK_MS
  for (const subscriber of subscribersOf(data)) {
    if (subscriber.record.createdAt <= createdBy) bySlot.set(subscriber.record.slot, subscriber)
  }
  return bySlot
}

/** All present subscriptions of a slice. A message may be resent to those that are newer than it. */
export function subscribersOf(data: SliceData): Subscriber[] {
  return data.subscriptions.map((record) => {
    const { numRetries } = effectivePolicy(data.topic, record).healthyRetryPolicy
    return { record, attemptsMax: numRetries + 1 }
  })
}
