import { type AttemptResult, type RetryPolicy, SYSTEM_POLICY } from '@fantail/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classify, nextStep } from './next-step.ts'
import { totalRetrySeconds } from './retry-curve.ts'

const answered = (statusCode: number, retryAfterSeconds?: number): AttemptResult => ({
  kind: 'response',
  statusCode,
  durationMs: 5,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
})

const failed = (permanent: boolean): AttemptResult => ({
  kind: 'failure',
  error: permanent ? 'forbidden_address' : 'timeout',
  detail: 'no answer',
  durationMs: 15_000,
  permanent,
})

const POLICY: RetryPolicy = { ...SYSTEM_POLICY.healthyRetryPolicy, maxDelayTarget: 40 }
const STEADY = { protocol: 'https' as const, policy: POLICY, jitter: 0, random: () => 0.5 }

describe('a result', () => {
  it('[32][33][34][35][36] is classed by its status for every status there is', () => {
    for (let status = 100; status < 1_000; status++) {
      const retryable = status < 200 || status === 429 || (status >= 500 && status <= 599)
      const expected = status >= 200 && status <= 299 ? 'delivered' : retryable ? 'retry' : 'permanent'
      expect([status, classify(answered(status), 'https')]).toEqual([status, expected])
    }
  })

  it('is retried on the statuses that the policy lists, and on no others', () => {
    const retryOn = ['5XX', 404, '409']
    const classed = (status: number) => classify(answered(status), 'https', { retryOn })
    expect([500, 599, 404, 409].map(classed)).toEqual(['retry', 'retry', 'retry', 'retry'])
    expect([429, 400, 301].map(classed)).toEqual(['permanent', 'permanent', 'permanent'])
    expect(classed(204)).toBe('delivered')
    expect(classify(answered(500), 'https', { retryOn: [] })).toBe('permanent')
    expect(classify(failed(false), 'https', { retryOn: [] })).toBe('retry')
  })

  it('[37][38] without a response is retried unless it is permanent', () => {
    expect(classify(failed(false), 'https')).toBe('retry')
    expect(classify(failed(true), 'https')).toBe('permanent')
  })
})

describe('the next step', () => {
  it('[25] default policy against a 500 endpoint makes 4 attempts, 20 s apart', () => {
    const policy = SYSTEM_POLICY.healthyRetryPolicy
    const steps = [1, 2, 3, 4].map((attempts) =>
      nextStep({ ...STEADY, policy, result: answered(500), attempts }),
    )
    expect(steps).toEqual([
      { step: 'retry', delayMs: 20_000, cause: 'backoff' },
      { step: 'retry', delayMs: 20_000, cause: 'backoff' },
      { step: 'retry', delayMs: 20_000, cause: 'backoff' },
      { step: 'dead', cause: 'retriesExhausted' },
    ])
  })

  it('[24] numRetries 0 means exactly one attempt', () => {
    const policy = { ...POLICY, numRetries: 0 }
    expect(nextStep({ ...STEADY, policy, result: failed(false), attempts: 1 })).toEqual({
      step: 'dead',
      cause: 'retriesExhausted',
    })
  })

  it('is to wait if a limit of this service kept the attempt back, however many retries are left', () => {
    const result = { ...failed(false), error: 'service_limit' } as AttemptResult
    const wait = (attempts: number, policy = POLICY) =>
      nextStep({ ...STEADY, policy, result, attempts: attempts })
    expect([wait(1), wait(3), wait(99)]).toEqual(Array(3).fill({ step: 'wait', delayMs: 20_000 }))
    expect(wait(1, { ...POLICY, numRetries: 0, numNoDelayRetries: 0 })).toMatchObject({ step: 'wait' })
  })

  it('ends a delivery at once after a 404, and after a 2xx', () => {
    expect(nextStep({ ...STEADY, result: answered(404), attempts: 1 })).toEqual({
      step: 'dead',
      cause: 'permanent',
    })
    expect(nextStep({ ...STEADY, result: answered(204), attempts: 1 })).toEqual({ step: 'delivered' })
  })

  it.each([
    [undefined, 20_000, 'backoff'],
    [5, 20_000, 'backoff'],
    [20, 20_000, 'backoff'],
    [33, 33_000, 'retryAfter'],
    [86_400, 40_000, 'retryAfter'],
  ])('with Retry-After %s the first retry waits %i ms because of %s', (retryAfter, delayMs, cause) => {
    expect(nextStep({ ...STEADY, result: answered(503, retryAfter), attempts: 1 })).toEqual({
      step: 'retry',
      delayMs,
      cause,
    })
  })

  it('a retry names the phase of the curve that it is in', () => {
    const policy = {
      ...POLICY,
      numRetries: 5,
      numNoDelayRetries: 1,
      numMinDelayRetries: 1,
      numMaxDelayRetries: 1,
    }
    const steps = [1, 2, 3, 4, 5, 6].map((attempts) =>
      nextStep({ ...STEADY, policy, result: failed(false), attempts }),
    )
    expect(steps).toEqual([
      { step: 'retry', delayMs: 0, cause: 'immediate' },
      { step: 'retry', delayMs: 20_000, cause: 'preBackoff' },
      { step: 'retry', delayMs: 20_000, cause: 'backoff' },
      { step: 'retry', delayMs: 40_000, cause: 'backoff' },
      { step: 'retry', delayMs: 40_000, cause: 'postBackoff' },
      { step: 'dead', cause: 'retriesExhausted' },
    ])
  })

  it('jitter keeps a delay within its band and leaves immediate retries alone', () => {
    const policy = { ...POLICY, numRetries: 4, numNoDelayRetries: 1 }
    const delayMs = (attempts: number, random: number) => {
      const next = nextStep({
        ...STEADY,
        policy,
        jitter: 0.1,
        random: () => random,
        result: answered(500),
        attempts,
      })
      return next.step === 'retry' ? next.delayMs : undefined
    }
    expect(delayMs(1, 0.9)).toBe(0)
    expect(delayMs(2, 0)).toBe(18_000)
    expect(delayMs(2, 0.5)).toBe(20_000)
    expect(delayMs(2, 0.9999)).toBeGreaterThan(21_990)
    expect(delayMs(2, 0.9999)).toBeLessThanOrEqual(22_000)
  })

  it('jitter never carries the sum of the delays past the bound', () => {
    const curve = fc.record({
      seconds: fc.integer({ min: 1, max: 600 }),
      retries: fc.integer({ min: 1, max: 100 }),
    })
    fc.assert(
      fc.property(curve, fc.double({ min: 0, max: 0.999, noNaN: true }), ({ seconds, retries }, random) => {
        const policy = { ...POLICY, minDelayTarget: seconds, maxDelayTarget: seconds, numRetries: retries }
        fc.pre(totalRetrySeconds(policy) <= 3_600)
        let sumMs = 0
        for (let attempts = 1; attempts <= retries; attempts++) {
          const next = nextStep({
            ...STEADY,
            policy,
            jitter: 0.3,
            random: () => random,
            result: failed(false),
            attempts,
          })
          sumMs += next.step === 'retry' ? next.delayMs : Number.NaN
        }
        expect(sumMs).toBeLessThanOrEqual(3_600_000)
      }),
    )
  })
})

const native = { protocol: 'https', origin: 'native', status: 'active', unsubscribed: false } as const

it.each([
  ['pauses a native webhook', {}, 'gone'],
  ['pauses one that is paused already', { status: 'paused' }, 'gone'],
  ['pauses one of an AWS protocol if its setting says so', { origin: undefined, onGone: 'pause' }, 'gone'],
  ['is permanent for one of an AWS protocol', { origin: undefined }, 'dead'],
  ['is permanent if the setting says so', { onGone: 'deadLetter' }, 'dead'],
  ['is permanent for one that is not confirmed', { status: 'pending' }, 'dead'],
  ['is permanent for one that has ended', { unsubscribed: true }, 'dead'],
] as const)('a 410 %s', (_what, set, step) => {
  const input = { ...STEADY, subscription: { ...native, ...set }, attempts: 1 }
  expect(nextStep({ ...input, result: answered(410) })).toMatchObject({ step })
  expect(nextStep({ ...input, result: answered(404) })).toMatchObject({ step: 'dead' })
  const policy = { ...POLICY, retryOn: [410] }
  expect(nextStep({ ...input, policy, result: answered(410) })).toMatchObject({ step: 'retry' })
})
