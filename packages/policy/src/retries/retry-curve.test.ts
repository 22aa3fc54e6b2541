import { type BackoffFunction, type RetryPolicy, SYSTEM_POLICY } from '@fantail/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AWS_MANAGED_POLICY, CUSTOMER_MANAGED_POLICY } from '../protocols/fixed-traits.ts'
import { BACKOFF, nominalDelayMs, previewRetries, retryPhase, totalRetrySeconds } from './retry-curve.ts'

const FUNCTIONS = Object.keys(BACKOFF) as BackoffFunction[]

const retryPolicy = fc
  .record({
    low: fc.integer({ min: 1, max: 3_600 }),
    high: fc.integer({ min: 1, max: 3_600 }),
    numNoDelayRetries: fc.nat(20),
    numMinDelayRetries: fc.nat(20),
    numMaxDelayRetries: fc.nat(20),
    backoff: fc.nat(40),
    backoffFunction: fc.constantFrom(...FUNCTIONS),
  })
  .map(
    ({ low, high, backoff, ...rest }): RetryPolicy => ({
      ...rest,
      minDelayTarget: Math.min(low, high),
      maxDelayTarget: Math.max(low, high),
      numRetries: rest.numNoDelayRetries + rest.numMinDelayRetries + rest.numMaxDelayRetries + backoff,
    }),
  )

/** A second model of the backoff phase. It goes step by step from the first delay, as the functions' names suggest. */
function modelBackoff(policy: RetryPolicy, count: number): number[] {
  const { minDelayTarget: min, maxDelayTarget: max, backoffFunction } = policy
  const steps = count - 1
  const increments = Array.from({ length: Math.max(steps, 0) }, (_, k) => {
    if (backoffFunction === 'linear') return 1
    return backoffFunction === 'arithmetic' ? 2 * k + 1 : 2 ** k
  })
  const whole = increments.reduce((sum, part) => sum + part, 0)
  const ratio = Math.exp(Math.log(max / min) / steps)
  const delays = count > 0 ? [min] : []
  for (const increment of increments) {
    const last = delays.at(-1) ?? min
    delays.push(backoffFunction === 'geometric' ? last * ratio : last + ((max - min) * increment) / whole)
  }
  return delays
}

function model(policy: RetryPolicy) {
  const { numNoDelayRetries, numMinDelayRetries, numMaxDelayRetries, minDelayTarget, maxDelayTarget } = policy
  const backoff = policy.numRetries - numNoDelayRetries - numMinDelayRetries - numMaxDelayRetries
  return [
    ...Array.from({ length: numNoDelayRetries }, () => ({ phase: 'immediate', delay: 0 })),
    ...Array.from({ length: numMinDelayRetries }, () => ({ phase: 'preBackoff', delay: minDelayTarget })),
    ...modelBackoff(policy, backoff).map((delay) => ({ phase: 'backoff', delay })),
    ...Array.from({ length: numMaxDelayRetries }, () => ({ phase: 'postBackoff', delay: maxDelayTarget })),
  ]
}

describe('retry curve', () => {
  it('follows an independent model for every policy', () => {
    fc.assert(
      fc.property(retryPolicy, (policy) => {
        const planned = previewRetries(policy)
        const expected = model(policy)
        expect(planned.map(({ phase }) => phase)).toEqual(expected.map(({ phase }) => phase))
        let at = 0
        for (const [index, { delay }] of expected.entries()) {
          at += delay
          expect(planned[index]?.delaySeconds).toBeCloseTo(delay, 2)
          expect(planned[index]?.atSeconds).toBeCloseTo(at, 2)
          expect(nominalDelayMs(policy, index + 1)).toBe(
            Math.round((planned[index]?.delaySeconds ?? -1) * 1000),
          )
        }
        expect(totalRetrySeconds(policy)).toBeCloseTo(at, 2)
      }),
    )
  })

  it('[29] every function starts at minDelayTarget, ends at maxDelayTarget and never decreases', () => {
    fc.assert(
      fc.property(retryPolicy, (policy) => {
        const delays = previewRetries(policy)
          .filter(({ phase }) => phase === 'backoff')
          .map(({ delaySeconds }) => delaySeconds)
        fc.pre(delays.length > 1)
        expect(delays[0]).toBe(policy.minDelayTarget)
        expect(delays.at(-1)).toBe(policy.maxDelayTarget)
        expect(delays).toEqual(delays.toSorted((a, b) => a - b))
      }),
    )
  })

  it.each(FUNCTIONS)('[30] with min = max %s is constant', (name) => {
    for (let i = 1; i <= 50; i++) expect(BACKOFF[name](7, 7, i, 50)).toBe(7)
  })

  it.each(FUNCTIONS)('a lone %s backoff retry waits minDelayTarget', (name) => {
    expect(BACKOFF[name](5, 260, 1, 1)).toBe(5)
  })

  it('[28] linear, 3 backoff retries, 20→40 gives 20, 30, 40', () => {
    const policy = { ...SYSTEM_POLICY.healthyRetryPolicy, maxDelayTarget: 40 }
    expect(previewRetries(policy).map(({ delaySeconds }) => delaySeconds)).toEqual([20, 30, 40])
  })

  it.each([
    ['linear', [5, 33.3, 61.7, 90, 118.3, 146.7, 175, 203.3, 231.7, 260]],
    ['arithmetic', [5, 8.1, 17.6, 33.3, 55.4, 83.7, 118.3, 159.3, 206.5, 260]],
    ['geometric', [5, 7.8, 12, 18.7, 28.9, 44.9, 69.7, 108.1, 167.6, 260]],
    ['exponential', [5, 5.5, 6.5, 8.5, 12.5, 20.5, 36.4, 68.4, 132.3, 260]],
  ] as const)('%s over 10 retries from 5 to 260 s is the chart that AWS shows', (name, chart) => {
    const delays = chart.map((_, index) => BACKOFF[name](5, 260, index + 1, 10))
    expect(delays.map((delay) => Math.round(delay * 10) / 10)).toEqual(chart)
  })

  it('[27] phases run immediate → pre-backoff → backoff → post-backoff', () => {
    const policy: RetryPolicy = {
      minDelayTarget: 1,
      maxDelayTarget: 60,
      numRetries: 50,
      numNoDelayRetries: 3,
      numMinDelayRetries: 2,
      numMaxDelayRetries: 35,
      backoffFunction: 'exponential',
    }
    const phases = previewRetries(policy).map(({ phase }) => phase)
    expect([...new Set(phases)]).toEqual(['immediate', 'preBackoff', 'backoff', 'postBackoff'])
    expect(phases.lastIndexOf('immediate')).toBe(2)
    expect(phases.lastIndexOf('preBackoff')).toBe(4)
    expect(phases.lastIndexOf('backoff')).toBe(14)
  })

  it('[26] numNoDelayRetries retries follow each other without delay', () => {
    const policy = { ...SYSTEM_POLICY.healthyRetryPolicy, numRetries: 3, numNoDelayRetries: 3 }
    expect(previewRetries(policy).map(({ atSeconds }) => atSeconds)).toEqual([0, 0, 0])
    expect(totalRetrySeconds(policy)).toBe(0)
  })

  it('the queues’ policy answers any retry without walking its 100,015', () => {
    const { healthyRetryPolicy: policy } = AWS_MANAGED_POLICY
    const delays = [1, 3, 4, 5, 6, 15, 16, 100_015].map((retry) => nominalDelayMs(policy, retry))
    expect(delays).toEqual([0, 0, 1_000, 1_000, 1_000, 20_000, 20_000, 20_000])
    expect(retryPhase(policy, 100_015)).toBe('postBackoff')
    expect(totalRetrySeconds(policy) / 86_400).toBeCloseTo(23.15, 2)
  })

  it('[307] mail, text messages and push wait 10, 10, 10, 11.2, 13.5 s, and 6.7 h in all', () => {
    const { healthyRetryPolicy: policy } = CUSTOMER_MANAGED_POLICY
    const delays = previewRetries(policy).map(({ delaySeconds }) => Math.round(delaySeconds * 10) / 10)
    expect(delays.slice(0, 13)).toEqual([
      10, 10, 10, 11.2, 13.5, 18.1, 27.3, 45.8, 82.7, 156.6, 304.4, 600, 600,
    ])
    expect(delays.slice(11)).toEqual(Array.from({ length: 39 }, () => 600))
    expect(totalRetrySeconds(policy)).toBeCloseTo(24_090, 0)
  })
})
