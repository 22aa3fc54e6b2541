/**
 * The four-phase retry curve (checklist 24 to 31): immediate, pre-backoff, backoff, post-backoff, always in that order.
 * All delays here are nominal: without jitter, and without the duration of attempts.
 */
import type { BackoffFunction, RetryPolicy } from '@fantail/contracts'

type RetryPhase = 'immediate' | 'preBackoff' | 'backoff' | 'postBackoff'

interface PlannedRetry {
  /** 1 is the first retry, which is the second attempt. */
  retry: number
  phase: RetryPhase
  delaySeconds: number
  /** Seconds since the first attempt, if every attempt failed at once. */
  atSeconds: number
}

/** Position of retry i of n, from 0 (first) to 1 (last). If n is 1, the position is 0. */
const position = (i: number, n: number) => (n > 1 ? (i - 1) / (n - 1) : 0)

/**
 * Delay of backoff retry `i` of `n` between `min` and `max`. AWS publishes names and a chart, but no formulas. Only
 * linear is confirmed, and the others are read off the chart. A formula is changed only here. Each must start at min,
 * end at max, never fall, and be constant if min equals max (checklist 28 to 30).
 * https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html
 */
export const BACKOFF: Record<BackoffFunction, (min: number, max: number, i: number, n: number) => number> = {
  linear: (min, max, i, n) => min + (max - min) * position(i, n),
  // Its increments form an arithmetic progression.
  arithmetic: (min, max, i, n) => min + (max - min) * position(i, n) ** 2,
  // Each delay is the same multiple of the one before.
  geometric: (min, max, i, n) => min * (max / min) ** position(i, n),
  // Each increment is twice the one before.
  exponential: (min, max, i, n) =>
    n > 1 ? min + ((max - min) * (2 ** (i - 1) - 1)) / (2 ** (n - 1) - 1) : min,
}

function backoffRetries(policy: RetryPolicy): number {
  return policy.numRetries - policy.numNoDelayRetries - policy.numMinDelayRetries - policy.numMaxDelayRetries
}

/** The phase of a retry, counted from 1. Retries after the last one count as the last phase. */
export function retryPhase(policy: RetryPolicy, retry: number): RetryPhase {
  let left = retry - policy.numNoDelayRetries
  if (left <= 0) return 'immediate'
  left -= policy.numMinDelayRetries
  if (left <= 0) return 'preBackoff'
  return left <= backoffRetries(policy) ? 'backoff' : 'postBackoff'
}

/** Whole milliseconds from the end of the failed attempt to the start of retry `retry`. */
export function nominalDelayMs(policy: RetryPolicy, retry: number): number {
  return Math.round(delaySeconds(policy, retry) * 1_000)
}

/** Every retry of the curve in order. There are numRetries of them, far too many for the queues' policy. */
export function previewRetries(policy: RetryPolicy): PlannedRetry[] {
  let at = 0
  return Array.from({ length: policy.numRetries }, (_, index) => {
    const retry = index + 1
    at += delaySeconds(policy, retry)
    return {
      retry,
      phase: retryPhase(policy, retry),
      delaySeconds: nominalDelayMs(policy, retry) / 1_000,
      atSeconds: toMilliseconds(at),
    }
  })
}

/** Sum of all delays, before rounding. The sum of rounded delays would refuse policies that reach the limit exactly. */
export function totalRetrySeconds(policy: RetryPolicy): number {
  const { minDelayTarget: min, maxDelayTarget: max } = policy
  const backoff = backoffRetries(policy)
  let total = policy.numMinDelayRetries * min + policy.numMaxDelayRetries * max
  for (let i = 1; i <= backoff; i++) total += BACKOFF[policy.backoffFunction](min, max, i, backoff)
  return toMilliseconds(total)
}

function delaySeconds(policy: RetryPolicy, retry: number): number {
  switch (retryPhase(policy, retry)) {
    case 'immediate':
      return 0
    case 'preBackoff':
      return policy.minDelayTarget
    case 'backoff': {
      const i = retry - policy.numNoDelayRetries - policy.numMinDelayRetries
      const backoff = BACKOFF[policy.backoffFunction]
      return backoff(policy.minDelayTarget, policy.maxDelayTarget, i, backoffRetries(policy))
    }
    case 'postBackoff':
      return policy.maxDelayTarget
  }
}

const toMilliseconds = (seconds: number) => Math.round(seconds * 1_000) / 1_000

interface Failing {
  policy: RetryPolicy
  /** How long the lane keeps deliveries. */
  retentionSeconds: number
  /** Name of the dead-letter queue; null: the delivery is discarded. */
  queue: string | null
}

/** A status that is not retried ends a delivery at once, even if retries are left. */
const REFUSED_PERMANENTLY = '; at once if refused permanently'

/**
 * Describes in one line what happens to a delivery that keeps failing: how many attempts, for how long, and where it
 * goes.
 */
export function describeOnFailure({ policy, retentionSeconds, queue }: Failing): string {
  const attempts = policy.numRetries + 1
  const times = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  const end = queue === null ? 'discarded' : `to ${queue}`
  const seconds = totalRetrySeconds(policy)
  if (endsByRetention(seconds, retentionSeconds)) {
    const kept = durationInWords(retentionSeconds)
    return `after ${kept}, when the topic’s retention ends, before the last of ${times}: ${end}${REFUSED_PERMANENTLY}`
  }
  const duration = seconds === 0 ? '' : ` in ${durationInWords(seconds)}`
  return `after ${times}${duration} ${end}${attempts === 1 ? '' : REFUSED_PERMANENTLY}`
}

/** Whether the retention ends before the last retry. */
export function endsByRetention(totalSeconds: number, retentionSeconds: number): boolean {
  return totalSeconds > retentionSeconds
}

/** From how many seconds each unit is used, its seconds and its name. */
const UNITS: [from: number, seconds: number, name: string][] = [
  [172_800, 86_400, 'd'],
  [3_600, 3_600, 'h'],
  [60, 60, 'min'],
]

/** Rounded to a tenth: `90 s` is `1.5 min`. */
export function durationInWords(seconds: number): string {
  const [, size = 1, unit = 's'] = UNITS.find(([from]) => seconds >= from) ?? []
  const value = Math.round((seconds / size) * 10) / 10
  return `${value} ${unit}`
}
