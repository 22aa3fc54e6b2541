/**
 * Why a delivery is attempted when it is, why it waits, and why it ended: the closed list that the log, the outcome log
 * and the API share. The sentences stand in the OpenAPI document and in docs/why.md.
 */

/** Causes of a retry's time. */
export const RETRY_CAUSES = {
  immediate: 'The retry policy allows retries without delay (`numNoDelayRetries`).',
  preBackoff: 'The retry policy waits its shortest delay before the backoff (`numMinDelayRetries`).',
  backoff: 'The retry policy backs off.',
  postBackoff: 'The retry policy waits its longest delay after the backoff (`numMaxDelayRetries`).',
  retryAfter: 'The endpoint asked for more time with `Retry-After`.',
} as const

/** Causes that make a due delivery wait, or that let one go early. */
export const WAIT_CAUSES = {
  retryNow: 'An operator asked to retry now.',
  redrive: 'A redrive brought it back from a dead-letter queue.',
  throttle: 'The subscription has a throttle.',
  circuitOpen: 'The subscription’s circuit breaker is open.',
  retryQuota: 'The retry mode’s quota is empty.',
  unprovenEndpoint:
    'The endpoint has not yet answered in time, so its deliveries take turns with those of others.',
  capacity: 'It is due and waits for a worker with a free slot.',
  paused: 'The subscription is paused.',
  dlqMissing:
    'It failed for good, and its dead-letter queue does not exist. ' +
    'It waits for the queue, and ends with `deadLetterQueueMissing` if that stays away.',
  groupOrder: 'An earlier message of its FIFO group has not ended.',
  isolated: 'Workers died or froze again and again while they matched the message, so it is matched alone.',
  leasesEnded:
    'Workers died or froze again and again while they had it in hand, so it waits longer each time.',
} as const

/** Why nobody can say how long a lane takes for what waits in it. */
export const DRAIN_UNKNOWN = ['paused', 'nothingAttempted', 'nothingSucceeds'] as const
export type DrainUnknown = (typeof DRAIN_UNKNOWN)[number]

/** Causes that end a delivery. */
export const END_CAUSES = {
  permanent: 'The endpoint refused it in a way that no retry changes.',
  retriesExhausted: 'The last retry failed.',
  expired: 'The message is older than its topic keeps messages.',
  deadLetterQueueMissing:
    'Its dead-letter queue does not exist. A native subscription waits for it first (`dlqMissing`).',
  deadLetterQueueDenied: 'The policy of its dead-letter queue refused it.',
  unsubscribed: 'The subscription was deleted.',
  purged: 'An operator purged the subscription’s deliveries.',
  filterPolicy: 'The subscription’s filter policy does not match.',
  quarantined: 'It cannot be decoded; `reason` says what is wrong.',
  quarantineDeleted: 'An operator deleted its entry in the quarantine.',
  unknown: 'It left its lane, and nothing says how it ended.',
} as const

export const DELIVERY_CAUSES = { ...RETRY_CAUSES, ...WAIT_CAUSES, ...END_CAUSES } as const

export type RetryCause = keyof typeof RETRY_CAUSES
export type WaitCause = keyof typeof WAIT_CAUSES
export type EndCause = keyof typeof END_CAUSES
export type DeliveryCause = keyof typeof DELIVERY_CAUSES

export interface Why {
  because: DeliveryCause
  /** From the end of the attempt before, or from publishing; null where it is not known or nothing follows. */
  delayMs: number | null
}

/** A cause that is stored with a delivery; ends are stored as its reason. */
export interface StoredWhy extends Why {
  because: RetryCause | WaitCause
}
