/**
 * The policy that an attempt follows: subscription over topic over system default, a whole group at a time (checklist
 * 20 to 22).
 */
import type { DeliveryPolicy, EffectiveDeliveryPolicy, Protocol } from '@fantail/contracts'
import { PROTOCOL_TRAITS } from '../protocols/traits.ts'

interface TopicPolicy {
  deliveryPolicy: DeliveryPolicy | null
  disableSubscriptionOverrides: boolean
}

interface SubscriptionPolicy {
  deliveryPolicy: DeliveryPolicy | null
  /** Absent: a webhook. */
  protocol?: Protocol
}

/**
 * Groups are never mixed. Members missing from the chosen retry group come from the system default and not from the
 * other level. A change of the topic's policy therefore cannot change half of a subscription's curve.
 */
export function effectivePolicy(
  topic: TopicPolicy,
  subscription?: SubscriptionPolicy,
): EffectiveDeliveryPolicy {
  const { takes, defaultPolicy } = PROTOCOL_TRAITS[subscription?.protocol ?? 'https']
  if (!takes.deliveryPolicy) return defaultPolicy
  const own = topic.disableSubscriptionOverrides ? null : subscription?.deliveryPolicy
  const shared = topic.deliveryPolicy
  const retry = own?.healthyRetryPolicy ?? shared?.healthyRetryPolicy
  return {
    healthyRetryPolicy: { ...defaultPolicy.healthyRetryPolicy, ...retry },
    throttlePolicy: own?.throttlePolicy ?? shared?.throttlePolicy ?? null,
    requestPolicy: own?.requestPolicy ?? shared?.requestPolicy ?? defaultPolicy.requestPolicy,
  }
}
