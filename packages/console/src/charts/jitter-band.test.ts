import type { RetryPolicy } from '@fantail/contracts'
import { PRESETS, previewRetries } from '@fantail/policy'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { curveOf } from './jitter-band.ts'

const patient = PRESETS.patient?.policy as RetryPolicy

test('without jitter the bands are the curve', () => {
  const curve = curveOf(patient, 0)
  expect(curve.map(({ atSeconds }) => atSeconds)).toEqual(
    previewRetries(patient).map(({ atSeconds }) => atSeconds),
  )
  for (const { atSeconds, outer, core } of curve) {
    for (const bound of [...outer, ...core]) expect(bound).toBeCloseTo(atSeconds, 1)
  }
})

const policies = fc
  .record({
    minDelayTarget: fc.integer({ min: 1, max: 60 }),
    more: fc.integer({ min: 0, max: 600 }),
    phases: fc.tuple(fc.nat(5), fc.nat(5), fc.nat(5), fc.nat(20)),
    backoffFunction: fc.constantFrom('linear', 'arithmetic', 'geometric', 'exponential'),
  })
  .map(
    ({ minDelayTarget, more, phases: [none, low, high, backoff], backoffFunction }): RetryPolicy => ({
      minDelayTarget,
      maxDelayTarget: minDelayTarget + more,
      numRetries: none + low + high + backoff,
      numNoDelayRetries: none,
      numMinDelayRetries: low,
      numMaxDelayRetries: high,
      backoffFunction,
    }),
  )

test('the core lies within the outer bounds, the curve too, and jitter never exceeds its share', () => {
  fc.assert(
    fc.property(policies, fc.double({ min: 0, max: 0.5, noNaN: true }), (policy, jitter) => {
      for (const { atSeconds, outer, core } of curveOf(policy, jitter)) {
        expect(outer[0]).toBeLessThanOrEqual(core[0])
        expect(core[0]).toBeLessThanOrEqual(core[1])
        expect(core[1]).toBeLessThanOrEqual(outer[1])
        // Delays are whole milliseconds.
        const rounding = 0.001 * policy.numRetries
        expect(outer[0]).toBeGreaterThanOrEqual(atSeconds * (1 - jitter) - rounding)
        expect(outer[1]).toBeLessThanOrEqual(atSeconds * (1 + jitter) + rounding)
      }
    }),
    { numRuns: 50 },
  )
})

test('the same policy gives the same plot', () => {
  expect(curveOf(patient, 0.1)).toEqual(curveOf(patient, 0.1))
})
