import { SYSTEM_POLICY } from '@fantail/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkDeliveryPolicy, type PolicyCheck, parseDeliveryPolicy } from './check-delivery-policy.ts'
import { totalRetrySeconds } from './retry-curve.ts'

const CHECK: PolicyCheck = { path: 'deliveryPolicy', maxRetrySeconds: 3_600, contentTypes: 'plain' }
const HEALTHY = { minDelayTarget: 1, maxDelayTarget: 60, numRetries: 10 }

function problemsOf(policy: unknown, check: Partial<PolicyCheck> = {}): string[] {
  return checkDeliveryPolicy(policy, { ...CHECK, ...check }).map(({ path, message }) => `${path} ${message}`)
}

const retryProblems = (members: object) => problemsOf({ healthyRetryPolicy: { ...HEALTHY, ...members } })

describe('delivery policy', () => {
  it.each([
    ['numRetries 101', { numRetries: 101 }, 'numRetries must be less than or equal to 100'],
    ['minDelayTarget 0', { minDelayTarget: 0 }, 'minDelayTarget must be greater than or equal to 1'],
    ['no minDelayTarget', { minDelayTarget: undefined }, 'minDelayTarget must be specified'],
    ['no maxDelayTarget', { maxDelayTarget: undefined }, 'maxDelayTarget must be specified'],
    ['no numRetries', { numRetries: undefined }, 'numRetries must be specified'],
    [
      'maxDelayTarget < minDelayTarget',
      { minDelayTarget: 61 },
      'maxDelayTarget must be greater than or equal to minDelayTarget',
    ],
    ['maxDelayTarget 3601', { maxDelayTarget: 3_601 }, 'maxDelayTarget must be less than or equal to 3600'],
    [
      'phase counts summing to more than numRetries',
      { numNoDelayRetries: 4, numMinDelayRetries: 4, numMaxDelayRetries: 3 },
      'numRetries must be greater than or equal to total of numMinDelayRetries, numNoDelayRetries and numMaxDelayRetries',
    ],
    ['a negative count', { numMaxDelayRetries: -1 }, 'numMaxDelayRetries must be greater than or equal to 0'],
    ['a fraction', { numRetries: 2.5 }, 'numRetries must be an integer'],
    ['a number as text', { minDelayTarget: '1' }, 'minDelayTarget must be an integer'],
    ['a member given as null', { numMinDelayRetries: null }, 'numMinDelayRetries must be an integer'],
    [
      'backoffFunction outside the four names',
      { backoffFunction: 'toString' },
      'backoffFunction must be one of linear, arithmetic, geometric, exponential',
    ],
    ['an unknown member', { jitter: 1 }, 'jitter Unexpected JSON member: jitter'],
  ])('refuses %s', (_, members, problem) => {
    expect(retryProblems(members)).toEqual([`deliveryPolicy.healthyRetryPolicy.${problem}`])
  })

  it('refuses a policy whose scheduled delays exceed the bound, and takes one that meets it', () => {
    const hour = { minDelayTarget: 60, maxDelayTarget: 60, numRetries: 60 }
    expect(retryProblems(hour)).toEqual([])
    expect(retryProblems({ ...hour, numRetries: 61 })).toEqual([
      'deliveryPolicy.healthyRetryPolicy must delay retries by less than or equal to 3600 seconds in total, not 3660; FANTAIL_MAX_RETRY_SECONDS sets this limit',
    ])
    expect(
      problemsOf({ healthyRetryPolicy: { ...hour, numRetries: 61 } }, { maxRetrySeconds: 3_660 }),
    ).toEqual([])
  })

  it('refuses shapes of the topic level of SNS', () => {
    expect(problemsOf({ http: { defaultThrottlePolicy: null } })).toEqual([
      'deliveryPolicy.http Unexpected JSON member: http',
    ])
  })

  it('maxReceivesPerSecond 0 is refused, absent is refused, 1 is accepted', () => {
    const throttle = (throttlePolicy: object) => problemsOf({ throttlePolicy })
    const path = 'deliveryPolicy.throttlePolicy.maxReceivesPerSecond'
    expect(throttle({ maxReceivesPerSecond: 0 })).toEqual([`${path} must be greater than or equal to 1`])
    expect(throttle({})).toEqual([`${path} must be specified`])
    expect(throttle({ maxReceivesPerSecond: 1 })).toEqual([])
  })

  it('headerContentType text/csv is refused without raw delivery and accepted with it', () => {
    const csv = { requestPolicy: { headerContentType: 'text/csv' } }
    expect(problemsOf(csv)).toEqual([
      'deliveryPolicy.requestPolicy.headerContentType must be one of application/json, text/plain, with or without a charset',
    ])
    expect(problemsOf(csv, { contentTypes: 'raw' })).toEqual([])
  })

  it.each(['application/json', 'text/plain; charset=UTF-8', 'Text/Plain;charset="utf-8"'])(
    'accepts the content type %s',
    (headerContentType) => expect(problemsOf({ requestPolicy: { headerContentType } })).toEqual([]),
  )

  it.each([
    7,
    '',
    'text/plain; q=1',
    'text/plain\r\nX-Evil: 1',
    'text/plain; charset=UTF-8\n',
    'text/plain,text/csv',
  ])('refuses the content type %j', (headerContentType) =>
    expect(problemsOf({ requestPolicy: { headerContentType } })).toHaveLength(1),
  )

  it('names every problem at once', () => {
    const policy = {
      healthyRetryPolicy: { minDelayTarget: 0, numRetries: 101, backoffFunction: 'cubic' },
      throttlePolicy: 5,
      requestPolicy: [],
      colour: 'red',
    }
    expect(problemsOf(policy)).toEqual([
      'deliveryPolicy.colour Unexpected JSON member: colour',
      'deliveryPolicy.healthyRetryPolicy.minDelayTarget must be greater than or equal to 1',
      'deliveryPolicy.healthyRetryPolicy.maxDelayTarget must be specified',
      'deliveryPolicy.healthyRetryPolicy.numRetries must be less than or equal to 100',
      'deliveryPolicy.healthyRetryPolicy.backoffFunction must be one of linear, arithmetic, geometric, exponential',
      'deliveryPolicy.throttlePolicy must be a JSON object',
      'deliveryPolicy.requestPolicy must be a JSON object',
    ])
  })

  it('accepts and drops null groups, sicklyRetryPolicy and guaranteed', () => {
    const policy = { healthyRetryPolicy: null, sicklyRetryPolicy: { numRetries: 9_999 }, guaranteed: false }
    const throttled = { ...policy, throttlePolicy: { maxReceivesPerSecond: 1 } }
    expect(problemsOf(policy)).toEqual([])
    expect(parseDeliveryPolicy(policy)).toEqual({})
    expect(problemsOf(throttled)).toEqual([])
    expect(parseDeliveryPolicy(throttled)).toEqual({ throttlePolicy: { maxReceivesPerSecond: 1 } })
  })

  it('takes null for no policy, and stores a policy as it was given', () => {
    expect(problemsOf(null)).toEqual([])
    expect(parseDeliveryPolicy(null)).toBeNull()
    expect(parseDeliveryPolicy({ healthyRetryPolicy: HEALTHY })).toEqual({ healthyRetryPolicy: HEALTHY })
  })

  it('never throws, and what it accepts has a total within the bound', () => {
    const member = fc.oneof(
      fc.integer({ min: -1, max: 3_700 }),
      fc.integer({ min: 0, max: 12 }),
      fc.jsonValue(),
    )
    const healthyRetryPolicy = fc.record(
      {
        minDelayTarget: member,
        maxDelayTarget: member,
        numRetries: member,
        numNoDelayRetries: member,
        numMinDelayRetries: member,
        numMaxDelayRetries: member,
        backoffFunction: fc.constantFrom('linear', 'arithmetic', 'geometric', 'exponential'),
      },
      { requiredKeys: ['minDelayTarget', 'maxDelayTarget', 'numRetries'] },
    )
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.record({ healthyRetryPolicy })), (policy) => {
        if (checkDeliveryPolicy(policy, CHECK).length > 0) return
        const retry = {
          ...SYSTEM_POLICY.healthyRetryPolicy,
          ...parseDeliveryPolicy(policy)?.healthyRetryPolicy,
        }
        const total = totalRetrySeconds(retry)
        expect(total).toBeGreaterThanOrEqual(0)
        expect(total).toBeLessThanOrEqual(3_600)
      }),
      { numRuns: 500 },
    )
  })
})
