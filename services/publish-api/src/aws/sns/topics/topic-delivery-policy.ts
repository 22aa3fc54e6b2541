/**
 * A topic's DeliveryPolicy over the AWS protocols (checklist 1 to 7, 15). Its groups are under `http`, each with
 * `default` before its name. The store has the form of subscriptions instead. The policy is read with SNS's refusals,
 * and written member by member as recorded.
 */
import { isObject, type RetryPolicy, SYSTEM_POLICY, type TopicRecord } from '@fantail/contracts'
import { checkDeliveryPolicy, effectivePolicy, parseDeliveryPolicy } from '@fantail/policy'
import type { TopicSettings } from '@fantail/store'
import { shownThrottle } from '../subscriptions/subscription-delivery-policy.ts'
import { parseJsonAttribute, type Refuse } from '../wire/sns-parameters.ts'

type Members = Record<string, unknown>

/**
 * Groups by their names in topics, with their names in a subscription's policy. `sickly…` is an old member without
 * effect.
 */
const GROUPS = new Map([
  ['defaultHealthyRetryPolicy', 'healthyRetryPolicy'],
  ['defaultSicklyRetryPolicy', 'sicklyRetryPolicy'],
  ['defaultThrottlePolicy', 'throttlePolicy'],
  ['defaultRequestPolicy', 'requestPolicy'],
])
const TOPIC_NAMES = new Map([...GROUPS].map(([topic, own]) => [own, topic]))
const OVERRIDES = 'disableSubscriptionOverrides'

type Policy = Pick<TopicSettings, 'deliveryPolicy' | 'disableSubscriptionOverrides'>

/** The new policy replaces the whole earlier one. An empty text deletes it. */
interface Rules {
  refuse: Refuse
  maxRetrySeconds: number
}

export function readTopicDeliveryPolicy(text: string, { refuse, maxRetrySeconds }: Rules): Policy {
  if (text === '') return { deliveryPolicy: null, disableSubscriptionOverrides: false }
  const fail = (problem: string) => refuse(`DeliveryPolicy: ${problem}`)
  const document = membersOf(parseJsonAttribute('DeliveryPolicy', text, refuse), 'policy', fail)
  const { http = {}, ...others } = document
  const [stranger] = Object.keys(others)
  if (stranger !== undefined) throw fail(`Unexpected JSON member: ${stranger}`)
  const { [OVERRIDES]: overrides = null, ...groups } = membersOf(http ?? {}, 'http', fail)
  const unknown = Object.keys(groups).find((name) => !GROUPS.has(name))
  if (unknown !== undefined) throw fail(`Unexpected JSON member: ${unknown}`)
  if (overrides !== null && typeof overrides !== 'boolean')
    throw fail(`http.${OVERRIDES} must be true or false`)
  const policy = Object.fromEntries(Object.entries(groups).map(([name, group]) => [GROUPS.get(name), group]))
  const [problem] = checkDeliveryPolicy(policy, { path: '', maxRetrySeconds, contentTypes: 'plain' })
  if (problem) throw fail(inTopicWords(problem))
  return { deliveryPolicy: parseDeliveryPolicy(policy), disableSubscriptionOverrides: overrides ?? false }
}

function membersOf(value: unknown, what: string, fail: (problem: string) => Error): Members {
  if (isObject(value)) return value
  throw fail(`${what} must be a JSON object`)
}

/** Writes `.healthyRetryPolicy.numRetries` as `http.defaultHealthyRetryPolicy.numRetries`. */
function inTopicWords({ path, message }: { path: string; message: string }): string {
  if (message.startsWith('Unexpected')) return message
  const [, group = '', ...rest] = path.split('.')
  return `${['http', TOPIC_NAMES.get(group) ?? group, ...rest].join('.')} ${message}`
}

type TopicPolicy = Pick<TopicRecord, 'deliveryPolicy' | 'disableSubscriptionOverrides'>

/** DeliveryPolicy is present if one is set, with only the given members. EffectiveDeliveryPolicy is always present. */
export function topicPolicyAttributes(topic: TopicPolicy): Record<string, string> {
  const { deliveryPolicy, disableSubscriptionOverrides } = topic
  const { throttlePolicy, ...effective } = effectivePolicy(topic)
  const isSet = deliveryPolicy !== null || disableSubscriptionOverrides
  return {
    ...(isSet && { DeliveryPolicy: documentOf(deliveryPolicy ?? {}, disableSubscriptionOverrides) }),
    EffectiveDeliveryPolicy: documentOf(
      { ...effective, ...(throttlePolicy && { throttlePolicy }) },
      disableSubscriptionOverrides,
    ),
  }
}

type Groups = NonNullable<TopicRecord['deliveryPolicy']>

function documentOf(
  { healthyRetryPolicy, throttlePolicy, requestPolicy }: Groups,
  overrides: boolean,
): string {
  return JSON.stringify({
    http: {
      ...(healthyRetryPolicy && { defaultHealthyRetryPolicy: inRecordedOrder(healthyRetryPolicy) }),
      [OVERRIDES]: overrides,
      ...(throttlePolicy && { defaultThrottlePolicy: shownThrottle(throttlePolicy) }),
      ...(requestPolicy && { defaultRequestPolicy: requestPolicy }),
    },
  })
}

const RECORDED_ORDER: (keyof RetryPolicy)[] = [
  'minDelayTarget',
  'maxDelayTarget',
  'numRetries',
  'numMaxDelayRetries',
  'numNoDelayRetries',
  'numMinDelayRetries',
  'backoffFunction',
]

/** Adds members that SNS requires. A policy of the native API may lack them, and then their default applies. */
function inRecordedOrder(group: Partial<RetryPolicy>): Partial<RetryPolicy> {
  const { minDelayTarget, maxDelayTarget, numRetries } = SYSTEM_POLICY.healthyRetryPolicy
  const given = { minDelayTarget, maxDelayTarget, numRetries, ...group }
  return Object.fromEntries(RECORDED_ORDER.filter((name) => name in given).map((name) => [name, given[name]]))
}
