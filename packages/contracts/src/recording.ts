/** Recorded attempts: which are recorded, and the words that describe them. */

/** Which attempts of a topic's subscriptions are recorded. */
export const ATTEMPT_RECORDINGS = ['none', 'failures', 'all'] as const
export type AttemptRecording = (typeof ATTEMPT_RECORDINGS)[number]

/** The recording of a topic without its own setting. Failures are few, and they are what people ask about. */
export const RECORDING_DEFAULT = 'failures' satisfies AttemptRecording

/** The phase of the retry policy in which an attempt was made. */
export const ATTEMPT_PHASES = ['first', 'immediate', 'preBackoff', 'backoff', 'postBackoff'] as const
export type AttemptPhase = (typeof ATTEMPT_PHASES)[number]

/** The part of an attempt in which it failed. */
export const ATTEMPT_STAGES = ['dns', 'connect', 'proxy', 'tls', 'answer', 'body'] as const
export type AttemptStage = (typeof ATTEMPT_STAGES)[number]

/** The decisions of a worker after an attempt. */
export const ATTEMPT_DECISIONS = [
  'delivered',
  'retry',
  'dead',
  'circuitOpen',
  'misconfigured',
  'gone',
] as const
export type AttemptDecision = (typeof ATTEMPT_DECISIONS)[number]

/** @limit Bytes of an answer's body that are recorded with an attempt. Past them: the body is cut. */
export const RECORDED_BODY_BYTES_MAX = 1_024
