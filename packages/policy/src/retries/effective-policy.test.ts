import { type DeliveryPolicy, SYSTEM_POLICY } from '@fantail/contracts'
import { describe, expect, it } from 'vitest'
import { AWS_MANAGED_POLICY } from '../protocols/fixed-traits.ts'
import { effectivePolicy } from './effective-policy.ts'

const RETRY = { minDelayTarget: 5, maxDelayTarget: 6, numRetries: 1 }
const JSON_TYPE = { headerContentType: 'application/json' }

const topic = (deliveryPolicy: DeliveryPolicy | null, disableSubscriptionOverrides = false) => ({
  deliveryPolicy,
  disableSubscriptionOverrides,
})

describe('effective policy', () => {
  it('is the system default where nobody set anything', () => {
    expect(effectivePolicy(topic(null), { deliveryPolicy: null })).toEqual(SYSTEM_POLICY)
    expect(SYSTEM_POLICY.requestPolicy.headerContentType).toBe('text/plain; charset=UTF-8')
  })

  it('completes a healthy policy of three members from the defaults', () => {
    expect(effectivePolicy(topic({ healthyRetryPolicy: RETRY })).healthyRetryPolicy).toEqual({
      ...RETRY,
      numNoDelayRetries: 0,
      numMinDelayRetries: 0,
      numMaxDelayRetries: 0,
      backoffFunction: 'linear',
    })
  })

  it('a subscription with only requestPolicy keeps the topic’s retries and throttle', () => {
    const throttlePolicy = { maxReceivesPerSecond: 10 }
    const effective = effectivePolicy(topic({ healthyRetryPolicy: RETRY, throttlePolicy }), {
      deliveryPolicy: { requestPolicy: JSON_TYPE },
    })
    expect(effective.healthyRetryPolicy).toMatchObject(RETRY)
    expect(effective.throttlePolicy).toEqual(throttlePolicy)
    expect(effective.requestPolicy).toEqual(JSON_TYPE)
  })

  it('a subscription with only a retry policy inherits the topic’s requestPolicy', () => {
    const effective = effectivePolicy(topic({ requestPolicy: JSON_TYPE }), {
      deliveryPolicy: { healthyRetryPolicy: RETRY },
    })
    expect(effective.requestPolicy).toEqual(JSON_TYPE)
    expect(effective.healthyRetryPolicy).toMatchObject(RETRY)
  })

  it('missing members of a subscription’s retry group come from the system, not from the topic', () => {
    const shared = { ...RETRY, numRetries: 9, numNoDelayRetries: 4 }
    const effective = effectivePolicy(topic({ healthyRetryPolicy: shared }), {
      deliveryPolicy: { healthyRetryPolicy: RETRY },
    })
    expect(effective.healthyRetryPolicy.numNoDelayRetries).toBe(0)
  })

  it('disableSubscriptionOverrides=true makes deliveries follow the topic policy', () => {
    const subscription = { deliveryPolicy: { healthyRetryPolicy: RETRY, requestPolicy: JSON_TYPE } }
    expect(effectivePolicy(topic(null, true), subscription)).toEqual(SYSTEM_POLICY)
  })

  it('a customer’s rate lowers the throttle and never raises it', () => {
    const rate = (operators: number | null, customerRate: number | null) => {
      const throttlePolicy = operators === null ? {} : { throttlePolicy: { maxReceivesPerSecond: operators } }
      const own = { deliveryPolicy: throttlePolicy, customerRate }
      return effectivePolicy(topic(null), own).throttlePolicy?.maxReceivesPerSecond
    }
    expect([rate(null, null), rate(null, 5), rate(5, null)]).toEqual([undefined, 5, 5])
    expect([rate(5, 2), rate(5, 9), rate(5, 5)]).toEqual([2, 5, 5])
  })

  it('a queue’s policy is fixed for any topic and subscription', () => {
    const policy = { healthyRetryPolicy: RETRY, throttlePolicy: { maxReceivesPerSecond: 1 } }
    expect(effectivePolicy(topic(policy), { deliveryPolicy: policy, protocol: 'sqs' })).toBe(
      AWS_MANAGED_POLICY,
    )
  })
})
