/** Turns an attempt's result into the delivery's next step (checklist 32 to 38). */
import {
  type AttemptResult,
  type OnGone,
  type Protocol,
  RETENTION_SECONDS_MAX,
  RETRY_SECONDS_MAX,
  type ResultClass,
  type RetryCause,
  type RetryPolicy,
  type SubscriptionRecord,
} from '@fantail/contracts'
import { isRetriedOn } from '../protocols/retry-on.ts'
import { PROTOCOL_TRAITS } from '../protocols/traits.ts'
import { nominalDelayMs, retryPhase, totalRetrySeconds } from './retry-curve.ts'

const UNSENT_WAIT_MS = 1_000
const GONE = 410

export type NextStep =
  | { step: 'delivered' }
  | { step: 'retry'; delayMs: number; cause: RetryCause }
  | { step: 'dead'; cause: 'permanent' | 'retriesExhausted' | 'outcomeUnknown' }
  /** No attempt is counted, and the lane is blocked until the configuration works. */
  | { step: 'misconfigured' }
  /** The endpoint is gone. No attempt is counted, and the subscription is paused. */
  | { step: 'gone' }
  /** Nothing was sent, so no attempt is counted. */
  | { step: 'wait'; delayMs: number }

interface NextStepInput {
  result: AttemptResult
  protocol: Protocol
  /** The subscription that a 410 may pause. Absent: there is none. */
  subscription?: Pick<SubscriptionRecord, 'protocol' | 'origin' | 'onGone' | 'status' | 'unsubscribed'>
  /** Number of attempts made, this one included. */
  attempts: number
  policy: RetryPolicy
  /** How much a delay may vary: 0.1 means 0.9 to 1.1 times the nominal delay. */
  jitter: number
  /** In [0, 1). */
  random: () => number
  /** Longest sum of one delivery's delays. Jitter never exceeds it. */
  maxRetrySeconds?: number
}

/**
 * Classifies a result. The policy's `retryOn` chooses which statuses are retried. It does not apply to failures without
 * an answer.
 */
export function classify(
  result: AttemptResult,
  protocol: Protocol,
  { retryOn }: Pick<RetryPolicy, 'retryOn'> = {},
): ResultClass | 'misconfigured' {
  if (result.kind === 'misconfigured') return 'misconfigured'
  if (result.kind === 'failure') return result.permanent ? 'permanent' : 'retry'
  const usual = result.resultClass ?? PROTOCOL_TRAITS[protocol].classifyStatus(result.statusCode)
  if (usual === 'delivered' || retryOn === undefined) return usual
  return isRetriedOn(result.statusCode, retryOn) ? 'retry' : 'permanent'
}

/** Whether a limit of this service kept the attempt back, so that nothing was sent. */
export function isUnsent(result: AttemptResult): boolean {
  return result.kind === 'failure' && result.error === 'service_limit'
}

/** The delay of a retry counts from the end of the attempt. */
export function nextStep(input: NextStepInput): NextStep {
  const { result, protocol, attempts, policy } = input
  if (isUnsent(result)) return { step: 'wait', delayMs: unsentDelayMs(input) }
  switch (classify(result, protocol, policy)) {
    case 'delivered':
      return { step: 'delivered' }
    case 'misconfigured':
      return { step: 'misconfigured' }
    case 'permanent':
      if (isPausing(input)) return { step: 'gone' }
      return { step: 'dead', cause: isUnknown(result) ? 'outcomeUnknown' : 'permanent' }
    case 'retry':
      // The n-th attempt is followed by the n-th retry. If the policy was shortened meanwhile, `attempts` may exceed
      // its number of retries.
      if (attempts > policy.numRetries) return { step: 'dead', cause: 'retriesExhausted' }
      return retryStep(whileThrottled(input))
  }
}

/** Whether a 410 pauses the subscription. One that waits for its confirmation, or has ended, is not paused. */
function isPausing({ result, subscription }: NextStepInput): boolean {
  if (result.kind !== 'response' || result.statusCode !== GONE || !subscription) return false
  const { status, unsubscribed } = subscription
  return status !== 'pending' && !unsubscribed && actionOnGone(subscription) === 'pause'
}

/**
 * The delay of the policy's first retry, and never less than a second. Without such a delay, all deliveries that wait
 * for the same limit would check it again and again.
 */
function unsentDelayMs(input: NextStepInput): number {
  return Math.max(UNSENT_WAIT_MS, jitteredDelayMs({ ...input, attempts: 1 }))
}

function isUnknown(result: AttemptResult): boolean {
  return result.kind === 'failure' && result.error === 'outcome_unknown'
}

/** With the slower delays that the kind has for throttled endpoints. */
function whileThrottled(input: NextStepInput): NextStepInput {
  const { result, protocol, attempts } = input
  const slower = PROTOCOL_TRAITS[protocol].throttledPolicy?.healthyRetryPolicy
  if (slower === undefined || result.kind !== 'response' || !result.isThrottled) return input
  return { ...input, policy: slower, attempts: Math.min(attempts, slower.numRetries) }
}

/** The longer of the two delays is used. If they are equal, the curve is the cause. */
function retryStep(input: NextStepInput): NextStep {
  const { result, attempts, policy } = input
  const curveMs = jitteredDelayMs(input)
  const askedMs = retryAfterMs(result, policy)
  if (askedMs > curveMs) return { step: 'retry', delayMs: askedMs, cause: 'retryAfter' }
  return { step: 'retry', delayMs: curveMs, cause: retryPhase(policy, attempts) }
}

function jitteredDelayMs({ attempts, policy, jitter, random, maxRetrySeconds }: NextStepInput): number {
  const nominal = nominalDelayMs(policy, attempts)
  if (nominal === 0 || jitter === 0) return nominal
  const factor = 1 + jitter * (2 * random() - 1)
  if (factor <= 1) return Math.round(nominal * factor)
  return Math.floor(nominal * Math.min(factor, roomAbove(policy, maxRetrySeconds ?? RETRY_SECONDS_MAX)))
}

/** The factor by which every delay may grow before their sum exceeds the bound; at least 1. */
function roomAbove(policy: RetryPolicy, maxRetrySeconds: number): number {
  const total = totalRetrySeconds(policy)
  // Only the native API accepts a policy whose delays exceed SNS's bound. Its bound is the longest retention.
  const bound = total > maxRetrySeconds ? RETENTION_SECONDS_MAX : maxRetrySeconds
  return Math.max(1, bound / total)
}

/** The delay that the endpoint asks for, at most the longest delay of its policy. */
function retryAfterMs(result: AttemptResult, policy: RetryPolicy): number {
  if (result.kind === 'misconfigured' || result.retryAfterSeconds === undefined) return 0
  return Math.min(result.retryAfterSeconds, policy.maxDelayTarget) * 1_000
}

/**
 * Standard Webhooks asks senders to disable an endpoint that answers 410, and SNS dead-letters each delivery. So the
 * API that made the subscription decides, unless the setting does. null: it is no webhook.
 */
export function actionOnGone({
  protocol,
  origin,
  onGone,
}: Pick<SubscriptionRecord, 'protocol' | 'origin' | 'onGone'>): OnGone | null {
  if (!PROTOCOL_TRAITS[protocol].takes.webhookKeys) return null
  return onGone ?? (origin === 'native' ? 'pause' : 'deadLetter')
}
