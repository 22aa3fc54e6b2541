/**
 * The times of the attempts of a delivery that keeps failing, with the random part of each delay. The worker’s own code
 * decides each step, so the plot cannot differ from the worker's behaviour.
 */
import type { RetryPolicy } from '@fantail/contracts'
import { nextStep, previewRetries } from '@fantail/policy'

export interface CurvePoint {
  retry: number
  phase: ReturnType<typeof previewRetries>[number]['phase']
  delaySeconds: number
  atSeconds: number
  /** Earliest and latest. */
  outer: readonly [number, number]
  /** Where nine of ten deliveries are. */
  core: readonly [number, number]
}

const RUNS = 200
const LOW = 0.05
const HIGH = 0.95
/** The largest number that `Math.random` can give. */
const ALMOST_ONE = 1 - 2 ** -53

export function curveOf(policy: RetryPolicy, jitter: number): CurvePoint[] {
  const nominal = previewRetries(policy)
  const earliest = timesOf(policy, jitter, () => 0)
  const latest = timesOf(policy, jitter, () => ALMOST_ONE)
  const runs = Array.from({ length: RUNS }, (_, seed) => timesOf(policy, jitter, randomOf(seed + 1)))
  return nominal.map((point, index) => {
    const sorted = runs.map((times) => times[index] ?? 0).sort((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor(share * (RUNS - 1))] ?? 0
    return {
      ...point,
      outer: [earliest[index] ?? 0, latest[index] ?? 0],
      core: [at(LOW), at(HIGH)],
    }
  })
}

/** Seconds from the first attempt to each retry, if attempts take no time. */
function timesOf({ retryOn: _, ...policy }: RetryPolicy, jitter: number, random: () => number): number[] {
  let atMs = 0
  return Array.from({ length: policy.numRetries }, (_, index) => {
    const step = nextStep({
      result: { kind: 'response', statusCode: 503, durationMs: 0 },
      protocol: 'https',
      attempts: index + 1,
      policy,
      jitter,
      random,
    })
    if (step.step === 'retry') atMs += step.delayMs
    return atMs / 1_000
  })
}

/**
 * Numbers that look random but are the same for the same seed (mulberry32), so that the plot does not change when it is
 * drawn again.
 */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
