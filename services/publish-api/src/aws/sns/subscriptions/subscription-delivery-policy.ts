/**
 * A subscription's DeliveryPolicy over the AWS protocols (checklist 8 to 15, 19). It is read with SNS's refusals. It is
 * written exactly as AWS writes it, also with the old members `sicklyRetryPolicy` and `guaranteed`.
 */
import {
  type DeliveryPolicy,
  type RetryPolicy,
  type SubscriptionRecord,
  SYSTEM_POLICY,
  type ThrottlePolicy,
  type TopicRecord,
} from '@fantail/contracts'
import {
  type ContentTypes,
  checkDeliveryPolicy,
  effectivePolicy,
  PROTOCOL_TRAITS,
  parseDeliveryPolicy,
} from '@fantail/policy'
import { parseJsonAttribute, type Refuse } from '../wire/sns-parameters.ts'

interface PolicyRules {
  contentTypes: ContentTypes
  /** Absent: an existing policy is checked. The native API may have accepted it without this limit. */
  maxRetrySeconds?: number
}

/** The stored form. null deletes the policy. */
export function readDeliveryPolicy(text: string, rules: PolicyRules, refuse: Refuse): DeliveryPolicy | null {
  if (text === '') return null
  const policy = parseJsonAttribute('DeliveryPolicy', text, refuse)
  const problem = deliveryPolicyProblem(policy, rules)
  if (problem !== undefined) throw refuse(`DeliveryPolicy: ${problem}`)
  return parseDeliveryPolicy(policy)
}

/** The first problem, in SNS's words: `healthyRetryPolicy.numRetries must be less than or equal to 100`. */
export function deliveryPolicyProblem(policy: unknown, rules: PolicyRules): string | undefined {
  const [problem] = checkDeliveryPolicy(policy, { path: '', ...rules })
  if (!problem) return undefined
  const { path, message } = problem
  // The message about an unknown member already has its name.
  return message.startsWith('Unexpected') ? message : `${path.slice(1)} ${message}`.trim()
}

/** Empty if the protocol accepts no policy. DeliveryPolicy is present only if the subscription has its own. */
export function deliveryPolicyAttributes(
  record: SubscriptionRecord,
  topic: TopicRecord,
): Record<string, string> {
  if (!PROTOCOL_TRAITS[record.protocol].takes.deliveryPolicy) return {}
  const { deliveryPolicy } = record
  const { healthyRetryPolicy, throttlePolicy, requestPolicy } = effectivePolicy(topic, record)
  const effective = document({ healthyRetryPolicy, requestPolicy, ...(throttlePolicy && { throttlePolicy }) })
  return {
    ...(deliveryPolicy && { DeliveryPolicy: document(deliveryPolicy) }),
    EffectiveDeliveryPolicy: effective,
  }
}

/** The AWS protocols have whole numbers only. A fraction that the native API has set is shown rounded up. */
export function shownThrottle({ maxReceivesPerSecond }: ThrottlePolicy): ThrottlePolicy {
  return { maxReceivesPerSecond: Math.ceil(maxReceivesPerSecond) }
}

function document({ healthyRetryPolicy, throttlePolicy, requestPolicy }: DeliveryPolicy): string {
  return JSON.stringify({
    healthyRetryPolicy: healthyRetryPolicy ? inRecordedOrder(healthyRetryPolicy) : null,
    sicklyRetryPolicy: null,
    throttlePolicy: throttlePolicy ? shownThrottle(throttlePolicy) : null,
    requestPolicy: requestPolicy ?? null,
    guaranteed: false,
  })
}

function inRecordedOrder(given: Partial<RetryPolicy>): RetryPolicy {
  const policy = { ...SYSTEM_POLICY.healthyRetryPolicy, ...given }
  return {
    minDelayTarget: policy.minDelayTarget,
    maxDelayTarget: policy.maxDelayTarget,
    numRetries: policy.numRetries,
    numMaxDelayRetries: policy.numMaxDelayRetries,
    numNoDelayRetries: policy.numNoDelayRetries,
    numMinDelayRetries: policy.numMinDelayRetries,
    backoffFunction: policy.backoffFunction,
  }
}
