/**
 * Causes: why a delivery is attempted at its time, waits, or ended. Logs, the outcome log and the API share this closed
 * list. The OpenAPI document and docs/why.md have the sentences.
 */

/** Causes of a retry's time. */
export const RETRY_CAUSES = {
  immediate: 'The retry policy allows retries without delay (`numNoDelayRetries`).',
  preBackoff: 'The retry policy waits its shortest delay before the backoff (`numMinDelayRetries`).',
  backoff: 'The retry policy backs off.',
  postBackoff: 'The retry policy waits its longest delay after the backoff (`numMaxDelayRetries`).',
  retryAfter: 'The endpoint asked for more time with `Retry-After`.',
} as const

/** Causes for which a due delivery waits, or is attempted early. */
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
  misconfigured:
    'The service’s own configuration keeps every attempt from the endpoint: a credential that is refused or has ' +
    'expired, or a setting that is absent. It costs no attempt, and is tried once a minute until it works.',
  groupOrder: 'An earlier message of its FIFO group has not ended.',
  isolated: 'Workers died or froze again and again while they matched the message, so it is matched alone.',
  leasesEnded:
    'Workers died or froze again and again while they had it in hand, so it waits longer each time.',
} as const

/** Reasons why nobody can say how long a lane will take to deliver its waiting deliveries. */
export const DRAIN_UNKNOWN = ['paused', 'nothingAttempted', 'nothingSucceeds'] as const
export type DrainUnknown = (typeof DRAIN_UNKNOWN)[number]

/** Causes that end a delivery. */
export const END_CAUSES = {
  permanent: 'The endpoint refused it in a way that no retry changes.',
  retriesExhausted: 'The last retry failed.',
  outcomeUnknown:
    'The provider got the whole request and gave no answer. It may have sent the message, so nothing is repeated.',
  expired: 'The message is older than its topic keeps messages.',
  deadLetterQueueMissing:
    'Its dead-letter queue does not exist. A native subscription waits for it first (`dlqMissing`).',
  deadLetterQueueDenied: 'The policy of its dead-letter queue refused it.',
  deadLetterQuota:
    'Its dead letter was the oldest when its topic’s own queue reached its bound of bytes, and was removed.',
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
  /**
   * Counted from the end of the previous attempt, or from publishing. null if it is unknown, or if no attempt follows.
   */
  delayMs: number | null
}

/** A cause that is stored with a delivery. For an ended delivery, its reason is stored instead. */
export interface StoredWhy extends Why {
  because: RetryCause | WaitCause
}
