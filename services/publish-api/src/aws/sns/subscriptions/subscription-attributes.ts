/**
 * The settable attributes of a subscription (checklist 141 to 143). Texts of Subscribe and SetSubscriptionAttributes
 * become settings. Raw delivery and the filter's scope are read first, because the valid values of other attributes
 * depend on them. ReplayPolicy is read by replay-policy.ts, because it is no setting.
 */
import {
  type FilterPolicyScope,
  isFifoName,
  isObject,
  parseArn,
  type RedrivePolicy,
  type SubscriptionRecord,
} from '@fantail/contracts'
import { FilterPolicyError, traitsOf } from '@fantail/policy'
import { readFilterPolicy } from '../../../subscriptions/filters.ts'
import type { SubscriptionSettings } from '../../../subscriptions/subscription-settings.ts'
import { invalidParameter, parseJsonAttribute, type Refuse } from '../wire/sns-parameters.ts'
import { deliveryPolicyProblem, readDeliveryPolicy } from './subscription-delivery-policy.ts'

export const refuseOnSubscribe: Refuse = (text) => invalidParameter(`Attributes Reason: ${text}`)
export const refuseOnSet: Refuse = (text) => invalidParameter(text)

/** The subscription to which the attributes belong, with their previous values. */
type Subscriber = Pick<SubscriptionRecord, 'topicArn' | 'endpoint' | 'attributes'> &
  Pick<
    SubscriptionSettings,
    'rawMessageDelivery' | 'deliveryPolicy' | 'filterPolicy' | 'filterPolicyScope'
  > & {
    /** Any of SNS's. */
    protocol: string
  }

interface ReadingRules {
  maxRetrySeconds: number
  refuse: Refuse
}

type Given = Record<string, string>
type Read = Partial<SubscriptionSettings>

const SETTABLE = new Set([
  'DeliveryPolicy',
  'FilterPolicy',
  'FilterPolicyScope',
  'RawMessageDelivery',
  'RedrivePolicy',
  'SubscriptionRoleArn',
  'ReplayPolicy',
])

/** The settings that the given attributes mean. Throws the first error. */
export function readSettings(given: Given, before: Subscriber, rules: ReadingRules): Read {
  const { refuse } = rules
  if (!Object.keys(given).every((name) => SETTABLE.has(name))) throw refuse('AttributeName')
  const base = { ...readRaw(given, before, refuse), ...readScope(given, refuse) }
  const after = { ...before, ...base }
  return {
    ...base,
    ...readPolicy(given, after, rules),
    ...readFilter(given, after, refuse),
    ...(given.RedrivePolicy !== undefined && {
      redrivePolicy: readRedrivePolicy(given.RedrivePolicy, before, refuse),
      deadLetters: null,
    }),
    ...readRole(given, before),
  }
}

function readRaw({ RawMessageDelivery: text }: Given, { protocol }: Subscriber, refuse: Refuse): Read {
  if (text === undefined) return {}
  const value = text.toLowerCase()
  if (value !== 'true' && value !== 'false') {
    throw refuse(`RawMessageDelivery: Invalid value [${text}]. Must be true or false.`)
  }
  if (!traitsOf(protocol)?.takes.rawDelivery) {
    throw refuse(`Delivery protocol [${protocol}] does not support raw message delivery.`)
  }
  return { rawMessageDelivery: value === 'true' }
}

const SCOPES: readonly FilterPolicyScope[] = ['MessageAttributes', 'MessageBody']

function readScope({ FilterPolicyScope: text }: Given, refuse: Refuse): Read {
  if (text === undefined) return {}
  const filterPolicyScope = SCOPES.find((scope) => scope === text)
  if (filterPolicyScope) return { filterPolicyScope }
  throw refuse(
    `FilterPolicyScope: Invalid value [${text}]. Please use either MessageBody or MessageAttributes`,
  )
}

/** If only the scope changes, the existing filter is checked against the new scope. */
function readFilter(
  { FilterPolicy: text, FilterPolicyScope: scope }: Given,
  after: Subscriber,
  refuse: Refuse,
): Read {
  try {
    if (text !== undefined) return { filterPolicy: readFilterPolicy(text, after.filterPolicyScope) }
    if (scope !== undefined && after.filterPolicy) {
      readFilterPolicy(JSON.stringify(after.filterPolicy), after.filterPolicyScope)
    }
    return {}
  } catch (error) {
    if (!(error instanceof FilterPolicyError)) throw error
    throw refuse(UNPREFIXED.test(error.message) ? error.message : `FilterPolicy: ${error.message}`)
  }
}

/** SNS writes this text without the attribute's name before it (recorded). */
const UNPREFIXED = /^Filter policy scope /

/**
 * If raw delivery changes, the existing policy is checked again, because raw delivery decides which content types it
 * may name.
 */
function readPolicy(
  { DeliveryPolicy: text, RawMessageDelivery }: Given,
  after: Subscriber,
  rules: ReadingRules,
): Read {
  const { refuse, maxRetrySeconds } = rules
  const policyRules = { contentTypes: after.rawMessageDelivery ? ('raw' as const) : ('plain' as const) }
  if (text === undefined) {
    if (RawMessageDelivery === undefined || after.deliveryPolicy === null) return {}
    const problem = deliveryPolicyProblem(after.deliveryPolicy, policyRules)
    if (problem !== undefined) throw refuse(`DeliveryPolicy: ${problem}`)
    return {}
  }
  if (text !== '' && !traitsOf(after.protocol)?.takes.deliveryPolicy) {
    throw refuse(`DeliveryPolicy: Delivery protocol [${after.protocol}] does not support delivery policies.`)
  }
  return { deliveryPolicy: readDeliveryPolicy(text, { ...policyRules, maxRetrySeconds }, refuse) }
}

/** The value is stored and shown. Only Firehose would use it, which is not supported. */
function readRole({ SubscriptionRoleArn: text }: Given, { attributes }: Subscriber): Read {
  if (text === undefined) return {}
  const { SubscriptionRoleArn: _, ...rest } = attributes
  return { attributes: text === '' ? rest : { ...rest, SubscriptionRoleArn: text } }
}

/**
 * RedrivePolicy of a subscription (checklist 149, 158, 160). null removes the policy. Whether the queue exists is not
 * checked, because in SNS it may be made later.
 */
function readRedrivePolicy(
  text: string,
  { topicArn, protocol, endpoint }: Subscriber,
  refuse: Refuse,
): RedrivePolicy | null {
  if (text === '') return null
  const policy = parseJsonAttribute('RedrivePolicy', text, refuse)
  const unknown = isObject(policy) && Object.keys(policy).find((name) => name !== 'deadLetterTargetArn')
  if (unknown) throw refuse(`RedrivePolicy: invalid JSON. Attribute ${unknown} is unknown.`)
  const target = targetOf(policy)
  if (target === undefined) throw refuse('RedrivePolicy: deadLetterTargetArn is an invalid arn')
  const ordered = isFifoName(topicArn)
  if (ordered && traitsOf(protocol)?.isQueue && isFifoName(endpoint) && !isFifoName(target)) {
    throw refuse('RedrivePolicy: must use a FIFO queue as DLQ for a FIFO Subscription to a FIFO Topic.')
  }
  if (!ordered && isFifoName(target)) {
    throw refuse('RedrivePolicy: must use a standard queue as DLQ for a subscription to a standard topic.')
  }
  return { deadLetterTargetArn: target }
}

function targetOf(policy: unknown): string | undefined {
  const members = typeof policy === 'object' && policy !== null ? policy : {}
  const { deadLetterTargetArn: target } = members as { deadLetterTargetArn?: unknown }
  return typeof target === 'string' && parseArn(target)?.service === 'sqs' ? target : undefined
}
