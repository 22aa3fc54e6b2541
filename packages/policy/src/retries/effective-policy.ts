/**
 * The policy that an attempt follows: subscription over topic over system default, a whole group at a time (checklist
 * 20 to 22).
 */
import {
  type DeliveryPolicy,
  type EffectiveDeliveryPolicy,
  type Protocol,
  type RequestPolicy,
  SYSTEM_POLICY,
  type ThrottlePolicy,
} from '@fantail/contracts'
import { PROTOCOL_TRAITS } from '../protocols/traits.ts'

interface TopicPolicy {
  deliveryPolicy: DeliveryPolicy | null
  disableSubscriptionOverrides: boolean
}

interface SubscriptionPolicy {
  deliveryPolicy: DeliveryPolicy | null
  customerRate?: number | null
  /** Absent: a webhook. */
  protocol?: Protocol
  origin?: 'native'
  rawMessageDelivery?: boolean
}

/**
 * Groups are never mixed. A member that is missing in the chosen retry group comes from the system default, not from
 * the other level. A change of the topic's policy therefore cannot change half of a subscription's curve.
 */
export function effectivePolicy(
  topic: TopicPolicy,
  subscription?: SubscriptionPolicy,
): EffectiveDeliveryPolicy {
  const { takes, defaultPolicy } = PROTOCOL_TRAITS[subscription?.protocol ?? 'https']
  if (!takes.deliveryPolicy) return takes.rate ? throttled(defaultPolicy, subscription) : defaultPolicy
  const own = topic.disableSubscriptionOverrides ? null : subscription?.deliveryPolicy
  const shared = topic.deliveryPolicy
  const retry = own?.healthyRetryPolicy ?? shared?.healthyRetryPolicy
  return {
    healthyRetryPolicy: { ...defaultPolicy.healthyRetryPolicy, ...retry },
    throttlePolicy: lowered(
      own?.throttlePolicy ?? shared?.throttlePolicy ?? null,
      subscription?.customerRate,
    ),
    requestPolicy: own?.requestPolicy ?? shared?.requestPolicy ?? defaultRequest(defaultPolicy, subscription),
  }
}

/** A customer can lower the rate, and never raise it. */
function lowered(
  throttle: ThrottlePolicy | null,
  customerRate: number | null | undefined,
): ThrottlePolicy | null {
  if (!customerRate || (throttle && throttle.maxReceivesPerSecond <= customerRate)) return throttle
  return { maxReceivesPerSecond: customerRate }
}

/** These kinds take no policy, so the topic's policy changes nothing here. */
function throttled(fixed: EffectiveDeliveryPolicy, subscription: SubscriptionPolicy | undefined) {
  const throttlePolicy = subscription?.deliveryPolicy?.throttlePolicy
  return throttlePolicy ? { ...fixed, throttlePolicy } : fixed
}

/**
 * SNS sends its envelope as text. A native subscription states the real type: the envelope is JSON, and a raw body may
 * be JSON.
 */
const NATIVE_ENVELOPE: RequestPolicy = Object.freeze({ headerContentType: 'application/json' })
const NATIVE_RAW: RequestPolicy = Object.freeze({ ...SYSTEM_POLICY.requestPolicy })

function defaultRequest(
  { requestPolicy }: EffectiveDeliveryPolicy,
  subscription: SubscriptionPolicy | undefined,
): RequestPolicy {
  if (subscription?.origin !== 'native') return requestPolicy
  return subscription.rawMessageDelivery ? NATIVE_RAW : NATIVE_ENVELOPE
}

/** Whether a raw JSON body is sent as JSON. That is the case if no other content type was chosen for it. */
export function saysWhatIsJson({ requestPolicy }: EffectiveDeliveryPolicy): boolean {
  return requestPolicy === NATIVE_RAW
}
