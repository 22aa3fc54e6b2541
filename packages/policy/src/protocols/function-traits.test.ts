import { expect, test } from 'vitest'
import { nextStep } from '../retries/next-step.ts'
import { classifyInvocation } from './managed-traits.ts'
import { PROTOCOL_TRAITS } from './traits.ts'

const classesOf = (statuses: number[]) => statuses.map((status) => classifyInvocation(status))

test('[348] an invocation that is accepted is delivered, by whatever 2xx', () => {
  expect(new Set(classesOf([200, 202, 204]))).toEqual(new Set(['delivered']))
})

test('throttling, faults of the service and refusals that end by themselves are retried', () => {
  expect(new Set(classesOf([408, 409, 410, 425, 429, 500, 502, 503, 504]))).toEqual(new Set(['retry']))
})

test('refusals that no retry changes are permanent', () => {
  expect(new Set(classesOf([301, 400, 402, 403, 404, 413, 415]))).toEqual(new Set(['permanent']))
})

test.each([429, 500])(
  '[349] a %i is retried three times at once, twice after a second, then for longer',
  (statusCode) => {
    const { defaultPolicy } = PROTOCOL_TRAITS.lambda
    const delays = [1, 2, 3, 4, 5, 6, 15, 16, 100_015, 100_016].map((attempts) => {
      const step = nextStep({
        result: { kind: 'response', statusCode, durationMs: 1 },
        protocol: 'lambda',
        attempts,
        policy: defaultPolicy.healthyRetryPolicy,
        jitter: 0,
        random: () => 0,
      })
      return step.step === 'retry' ? step.delayMs : step
    })
    const ended = { step: 'dead', cause: 'retriesExhausted' }
    expect(delays).toEqual([0, 0, 0, 1_000, 1_000, 1_000, 20_000, 20_000, 20_000, ended])
  },
)
