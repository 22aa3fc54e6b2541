/**
 * Causes say why a delivery is attempted at its time, why it waits, or why it ended. Logs, the outcome log and the API
 * share this closed list. The OpenAPI document and docs/why.md have the same sentences.
 */

/** Why a retry is made at its time. */
export const RETRY_CAUSES = {
  immediate: 'The retry policy allows retries without delay (`numNoDelayRetries`).',
  preBackoff: 'The retry policy first makes some retries with its shortest delay (`numMinDelayRetries`).',
  backoff: 'The retry policy waits longer before each further retry.',
  postBackoff: 'The retry policy makes its last retries with its longest delay (`numMaxDelayRetries`).',
  retryAfter: 'The endpoint asked for more time with `Retry-After`.',
} as const

/** Why a due delivery waits, or why it is attempted early. */
export const WAIT_CAUSES = {
  retryNow: 'An operator asked to retry now.',
  redrive: 'A redrive brought the delivery back from a dead-letter queue.',
  resend: 'An operator had the message sent again.',
  throttle: 'The subscription has a throttle, which limits its requests per second.',
  serviceLimit:
    'A limit of Fantail itself kept the attempt back, such as that of text messages under way. Nothing was ' +
    'sent, and no attempt is counted.',
  circuitOpen: 'The subscription’s circuit breaker is open, so Fantail sends only a probe from time to time.',
  retryQuota: 'The subscription’s retry mode limits retries by a quota, and the quota is empty.',
  unprovenEndpoint:
    'The endpoint is new, or did not answer within a second. Its deliveries take turns with those of other ' +
    'such endpoints.',
  capacity: 'The delivery is due, and no worker has had a free slot for it yet.',
  paused: 'The subscription is paused.',
  gone:
    'The endpoint answered 410 (Gone), so Fantail paused the subscription. No attempt is counted. After a resume, ' +
    'one delivery is a probe for all others.',
  dlqMissing:
    'The delivery is dead, and its dead-letter queue does not exist. It waits for the queue. If the ' +
    'queue does not come, the delivery ends with `deadLetterQueueMissing`.',
  misconfigured:
    'Fantail itself is not configured correctly: a credential was refused or has expired, or a setting is ' +
    'missing. No attempt is counted. Fantail tries once a minute until the configuration works.',
  noToken:
    'The endpoint needs an access token, and the token server cannot be reached or refuses one. No attempt is ' +
    'counted. Fantail asks it once a minute.',
  groupOrder: 'An earlier message of the same FIFO group still waits or is being sent.',
  isolated: 'Several workers died or froze while they matched the message, so the message is matched alone.',
  leasesEnded: 'Several workers died or froze while they handled the delivery, so it waits longer each time.',
} as const

export const END_CAUSES = {
  permanent: 'The attempt failed in a way that no retry can change, such as a refusal by the endpoint.',
  retriesExhausted: 'The last retry failed.',
  outcomeUnknown:
    'The provider got the whole request and gave no answer. It may have sent the message, so Fantail does not ' +
    'send the request again.',
  expired: 'The message is older than its topic’s retention.',
  setAside: 'An operator set the message aside, so that the others go on.',
  deadLetterQueueMissing:
    'The delivery was dead, and its dead-letter queue does not exist. A delivery of a native ' +
    'subscription waits for the queue first (`dlqMissing`).',
  deadLetterQueueDenied: 'The policy of the dead-letter queue does not allow the topic to send.',
  deadLetterQuota:
    'The topic’s own dead-letter queue was full, so its oldest dead letters were removed. The dead letter of ' +
    'this delivery was among them.',
  unsubscribed: 'The subscription was deleted.',
  purged: 'An operator purged the waiting deliveries of the subscription.',
  filterPolicy:
    'The message does not match the subscription’s filter policy, or the event types that the subscription chooses.',
  eventTypes: 'The event types that the subscription chooses do not include the message’s.',
  quarantined: 'The delivery’s data cannot be decoded, and is in the quarantine. `reason` has the error.',
  quarantineDeleted: 'An operator deleted the delivery’s entry in the quarantine.',
  unknown: 'The delivery is no longer in its lane, and the outcome log has no entry of its end.',
} as const

export const DELIVERY_CAUSES = { ...RETRY_CAUSES, ...WAIT_CAUSES, ...END_CAUSES } as const

export type RetryCause = keyof typeof RETRY_CAUSES
export type WaitCause = keyof typeof WAIT_CAUSES
export type EndCause = keyof typeof END_CAUSES
export type DeliveryCause = keyof typeof DELIVERY_CAUSES

export interface Why {
  cause: DeliveryCause
  /**
   * Counted from the end of the previous attempt, or from publishing. null if it is unknown, or if no attempt follows.
   */
  delayMs: number | null
}

/** A cause that is stored with a delivery. For an ended delivery, its reason is stored instead. */
export interface StoredWhy extends Why {
  cause: RetryCause | WaitCause
}
