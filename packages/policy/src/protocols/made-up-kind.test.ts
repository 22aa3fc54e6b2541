/**
 * Tests the traits with an invented endpoint kind: a fixed policy with a throttle, and an endpoint syntax of its own.
 */
import { ARN_DEFAULTS } from '@fantail/contracts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { effectivePolicy } from '../retries/effective-policy.ts'
import { classify, nextStep } from '../retries/next-step.ts'
import { CUSTOMER_MANAGED_POLICY } from './fixed-traits.ts'
import { canBeAsked, PROTOCOL_TRAITS, readEndpoint } from './traits.ts'

const PER_SECOND = 10
const real = PROTOCOL_TRAITS.https

beforeAll(() => {
  PROTOCOL_TRAITS.https = {
    ...real,
    endpoint: { ...real.endpoint, read: PROTOCOL_TRAITS.http.endpoint.read },
    defaultPolicy: { ...CUSTOMER_MANAGED_POLICY, throttlePolicy: { maxReceivesPerSecond: PER_SECOND } },
    takes: { ...real.takes, deliveryPolicy: false, rate: true },
    confirmedBy: 'person',
  }
})

afterAll(() => {
  PROTOCOL_TRAITS.https = real
})

test('kinds may share a syntax: the one that was named counts, else the first', () => {
  const endpoint = 'http://example.com/'
  expect(readEndpoint(endpoint, 'https', ARN_DEFAULTS)).toEqual({ protocol: 'https', endpoint })
  expect(readEndpoint(endpoint, undefined, ARN_DEFAULTS)).toEqual({ protocol: 'http', endpoint })
})

test('it takes the throttle of a policy, and nothing else', () => {
  const policy = { throttlePolicy: { maxReceivesPerSecond: 2 } }
  const topic = {
    deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 1 } },
    disableSubscriptionOverrides: true,
  }
  const of = (deliveryPolicy: typeof policy | null) =>
    effectivePolicy(topic, { deliveryPolicy, protocol: 'https' }).throttlePolicy
  expect([of(null), of(policy)]).toEqual([{ maxReceivesPerSecond: PER_SECOND }, policy.throttlePolicy])
  expect(effectivePolicy(topic, { deliveryPolicy: policy, protocol: 'https' }).healthyRetryPolicy).toBe(
    CUSTOMER_MANAGED_POLICY.healthyRetryPolicy,
  )
})

test('a resultClass on a response counts instead of its status', () => {
  const response = { kind: 'response', statusCode: 403, durationMs: 1 } as const
  const classes = (['delivered', 'retry', 'permanent'] as const).map((resultClass) =>
    classify({ ...response, resultClass }, 'https'),
  )
  expect(classes).toEqual(['delivered', 'retry', 'permanent'])
})

test('the fixed policy has its full count and spans, and a failure may ask for more time up to its longest delay', () => {
  const failure = {
    kind: 'failure',
    error: 'connection_failed',
    detail: '',
    durationMs: 1,
    permanent: false,
  } as const
  const stepAfter = (attempts: number, retryAfterSeconds?: number) =>
    nextStep({
      result: { ...failure, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) },
      protocol: 'https',
      attempts,
      policy: CUSTOMER_MANAGED_POLICY.healthyRetryPolicy,
      jitter: 0,
      random: Math.random,
      maxRetrySeconds: 3_600,
    })
  expect(stepAfter(1)).toMatchObject({ step: 'retry', delayMs: 10_000 })
  expect(stepAfter(1, 60)).toMatchObject({ step: 'retry', delayMs: 60_000, cause: 'retryAfter' })
  expect(stepAfter(1, 6_000)).toMatchObject({ delayMs: 600_000 })
  expect(stepAfter(50)).toMatchObject({ step: 'retry', delayMs: 600_000 })
  expect(stepAfter(51)).toEqual({ step: 'dead', cause: 'retriesExhausted' })
})

test('it can be asked to confirm', () => {
  expect((['http', 'https', 'sqs'] as const).map(canBeAsked)).toEqual([true, true, false])
})
