/** The subscriptions of a slice, as the rows of a message show them. */
import { effectivePolicy } from '@fantail/policy'
import type { BitHolder, FormerSubscription } from '../slices/former-subscriptions.ts'
import type { SliceData } from '../topics/snapshots.ts'

/** The publisher's clock and Redis's may differ. Entries have Redis's time. */
export const CLOCK_SLACK_MS = 5_000

export interface Subscriber extends BitHolder {
  name: string | null
  /** null: the subscription was deleted. */
  endpoint: string | null
  /** One first attempt, and the retries of the policy in force. null: the subscription was deleted. */
  attemptsMax: number | null
  /** Between the probes of its circuit breaker. 0: it has none. */
  probeSeconds: number
  /** It chooses event types, and has no filter policy. */
  hasTypesAlone?: true
  /** The subscription was deleted. Absent: it exists. */
  former?: FormerSubscription
}

/** All present subscriptions of a slice. A message may be resent to those that are newer than it. */
export function subscribersOf(data: SliceData): Subscriber[] {
  return data.subscriptions.map((record) => {
    const {
      id,
      bit,
      departures = 0,
      name = null,
      endpoint,
      circuitBreaker,
      eventTypes,
      filterPolicy,
    } = record
    const { numRetries } = effectivePolicy(data.topic, record).healthyRetryPolicy
    const probeSeconds = circuitBreaker?.probeSeconds ?? 0
    const types = eventTypes && !filterPolicy && { hasTypesAlone: true as const }
    return { id, bit, departures, name, endpoint, attemptsMax: numRetries + 1, probeSeconds, ...types }
  })
}

export function formerSubscriber(former: FormerSubscription): Subscriber {
  const { id, bit, departures = 0, name } = former
  return { id, bit, departures, name, endpoint: null, attemptsMax: null, probeSeconds: 0, former }
}
