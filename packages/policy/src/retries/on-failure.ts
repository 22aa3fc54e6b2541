/**
 * Describes in one line what happens to a delivery that keeps failing: how many attempts, for how long, and where it
 * goes.
 */
import type { RetryPolicy } from '@fantail/contracts'
import { totalRetrySeconds } from './retry-curve.ts'

interface Failing {
  policy: RetryPolicy
  /** How long the lane keeps deliveries. */
  retentionSeconds: number
  /** Name of the dead-letter queue; null: the delivery is discarded. */
  queue: string | null
}

/** A status that is not retried ends a delivery at once, even if retries are left. */
const REFUSED_FOR_GOOD = '; at once if refused for good'

export function describeOnFailure({ policy, retentionSeconds, queue }: Failing): string {
  const attempts = policy.numRetries + 1
  const times = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  const end = queue === null ? 'discarded' : `to ${queue}`
  const seconds = totalRetrySeconds(policy)
  if (endsByRetention(seconds, retentionSeconds)) {
    const kept = durationInWords(retentionSeconds)
    return `after ${kept}, when the topic’s retention ends, before the last of ${times}: ${end}${REFUSED_FOR_GOOD}`
  }
  const duration = seconds === 0 ? '' : ` in ${durationInWords(seconds)}`
  return `after ${times}${duration} ${end}${attempts === 1 ? '' : REFUSED_FOR_GOOD}`
}

/** Whether the retention ends before the last retry. */
export function endsByRetention(totalSeconds: number, retentionSeconds: number): boolean {
  return totalSeconds > retentionSeconds
}

const UNITS: [seconds: number, name: string][] = [
  [172_800, 'd'],
  [3_600, 'h'],
  [60, 'min'],
]
const SECONDS_PER: Record<string, number> = { d: 86_400, h: 3_600, min: 60 }

/** Rounded to a tenth: `90 s` is `1.5 min`. */
export function durationInWords(seconds: number): string {
  const [, unit = 's'] = UNITS.find(([from]) => seconds >= from) ?? []
  const value = Math.round((seconds / (SECONDS_PER[unit] ?? 1)) * 10) / 10
  return `${value} ${unit}`
}
