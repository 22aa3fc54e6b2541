/** What an attempt obeys: subscription over topic over system default, whole groups at a time (checklist 20 to 22). */
import type { DeliveryPolicy, EffectiveDeliveryPolicy, Protocol } from '@fantail/contracts'
import { QUEUE_POLICY, SYSTEM_POLICY } from './system-policy.ts'

export interface TopicPolicy {
  deliveryPolicy: DeliveryPolicy | null
  disableSubscriptionOverrides: boolean
}

export interface SubscriptionPolicy {
  deliveryPolicy: DeliveryPolicy | null
  /** A queue's policy is fixed; where it is absent, the subscription is taken for an HTTP one. */
  protocol?: Protocol
}

/**
 * Groups never mix: members missing from the chosen retry group come from the system default, not from the other
 * level, so that a topic's change cannot bend half of a subscription's curve.
 */
export function effectivePolicy(
  topic: TopicPolicy,
  subscription?: SubscriptionPolicy,
): EffectiveDeliveryPolicy {
  if (subscription?.protocol === 'sqs') return QUEUE_POLICY
  const own = topic.disableSubscriptionOverrides ? null : subscription?.deliveryPolicy
  const shared = topic.deliveryPolicy
  const retry = own?.healthyRetryPolicy ?? shared?.healthyRetryPolicy
  return {
    healthyRetryPolicy: { ...SYSTEM_POLICY.healthyRetryPolicy, ...retry },
    throttlePolicy: own?.throttlePolicy ?? shared?.throttlePolicy ?? null,
    requestPolicy: own?.requestPolicy ?? shared?.requestPolicy ?? SYSTEM_POLICY.requestPolicy,
  }
}
