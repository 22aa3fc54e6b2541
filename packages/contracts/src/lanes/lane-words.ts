/** Words about a lane that the API, its document and docs/verdicts.md share: verdicts, and why a drain is unknown. */

/** Reasons why the time that a lane needs for its waiting deliveries cannot be estimated. */
export const DRAIN_UNKNOWN = ['paused', 'nothingAttempted', 'nothingSucceeds'] as const
export type DrainUnknown = (typeof DRAIN_UNKNOWN)[number]

/** Verdicts: a lane's state in one word. If several hold, the lane has the first of them. */
export const VERDICTS = {
  gone: 'Fantail paused the subscription because its endpoint answered 410 (Gone).',
  paused: 'The subscription is paused.',
  pending: 'The endpoint has not confirmed the subscription.',
  misconfigured: 'Fantail itself is not configured correctly, so no attempt can be made.',
  noToken:
    'No attempt can be made, because the token server of the endpoint cannot be reached or refuses a token.',
  dlqMissing: 'Dead deliveries wait because the dead-letter queue does not exist.',
  endpointDisabled: 'The push provider has disabled the endpoint.',
  queueMissing: 'The queue to which the subscription delivers does not exist.',
  queueRefuses:
    'The queue to which the subscription delivers refuses its messages, by its policy or its limits.',
  quarantined: 'Messages for the subscription are in the quarantine.',
  circuitOpen: 'The circuit breaker is open and allows only probes.',
  failing: 'The last five attempts failed, or at least two and all attempts of a minute or longer.',
  hung:
    'An attempt has had no answer for 5 s, and none has succeeded in the time that an attempt may take. ' +
    'Time-outs count too.',
  groupBlocked: 'The first message of a FIFO group has failed, and messages have waited for 5 s or longer.',
  tooSlowIn:
    'More deliveries came in the last minute than the throttle, or the latest attempts, let out in a minute.',
  throttled: 'Deliveries wait at a throttle, and no more came in the last minute than it lets out.',
  undispatched:
    'Published messages have waited for a worker for 5 s, perhaps also messages for this subscription.',
  catchingUp: 'Deliveries have waited for 5 s or longer and are being sent. Nothing is wrong.',
  fine: 'None of the others holds: no delivery has waited for 5 s.',
} as const
export type VerdictCode = keyof typeof VERDICTS

/** Verdicts that ask an operator to act. */
export const VERDICTS_IN_NEED: ReadonlySet<VerdictCode> = new Set([
  'gone',
  'paused',
  'pending',
  'misconfigured',
  'noToken',
  'dlqMissing',
  'endpointDisabled',
  'queueMissing',
  'queueRefuses',
  'quarantined',
  'circuitOpen',
  'failing',
  'hung',
  'groupBlocked',
  'tooSlowIn',
  'undispatched',
])
