/**
 * A subscription's settings: read from a request's members, compared with those of an existing subscription, and
 * checked together.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  type FilterPolicy,
  isFifoName,
  isObject,
  PROTOCOLS,
  type Problem,
  type Protocol,
  resolveQueue,
  type SubscriptionRecord,
} from '@fantail/contracts'
import type { NewSubscriptionInput } from '@fantail/contracts/schemas/subscriptions/subscription-schemas'
import {
  checkDeliveryPolicy,
  type EndpointAddress,
  inWords,
  PROTOCOL_TRAITS,
  parseDeliveryPolicy,
  refusedSetting,
} from '@fantail/policy'
import { SUBSCRIPTION, type SubscriptionSettings } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps, Settings } from '../deps/api-deps.ts'

export type { SubscriptionSettings }
export const SETTING_DEFAULTS: SubscriptionSettings = SUBSCRIPTION.settingDefaults

type Input = Omit<
  z.output<typeof NewSubscriptionInput>,
  'endpoint' | 'protocol' | 'confirmation' | 'origin' | 'status' | 'outbound'
>
/** Settings in the body. `redrivePolicy` also sets `deadLetters`. */
type BodySetting = Exclude<keyof SubscriptionSettings, 'deadLetters'>
type Given<Member extends BodySetting> = NonNullable<Input[Member]>

/** Readers of members whose stored form differs from the given one. */
const READ: {
  [Member in BodySetting]?: (given: Given<Member>, settings: Settings) => SubscriptionSettings[Member]
} = {
  deliveryPolicy: (given) => parseDeliveryPolicy(given),
  redrivePolicy: ({ deadLetterTargetArn: name }, { arn }) => {
    if (name === undefined) return null
    return { deadLetterTargetArn: resolveQueue(name, arn, 'redrivePolicy.deadLetterTargetArn') }
  },
  filterPolicy: (given) => (isEmpty(given) ? null : given),
}

/** The given members, with `null` as the default and queues as ARNs. */
export function settingsOf(input: Input, settings: Settings): Partial<SubscriptionSettings> {
  const members = Object.keys(SETTING_DEFAULTS).filter(
    (member): member is BodySetting => input[member as BodySetting] !== undefined,
  )
  const given = Object.fromEntries(members.map((member) => [member, settingOf(member, input, settings)]))
  return { ...given, ...deadLettersOf(input) }
}

/** `{}` names no queue, so the topic's own queue is used. */
function deadLettersOf({ redrivePolicy }: Input): Pick<Partial<SubscriptionSettings>, 'deadLetters'> {
  if (redrivePolicy === undefined) return {}
  const isOwn = redrivePolicy !== null && redrivePolicy.deadLetterTargetArn === undefined
  return { deadLetters: isOwn ? 'topicQueue' : null }
}

function settingOf<Member extends BodySetting>(member: Member, input: Input, settings: Settings) {
  const given = input[member]
  if (given === null || given === undefined) return SETTING_DEFAULTS[member]
  const read = READ[member]
  return read ? read(given, settings) : given
}

/** Whether the filter has no keys, so that it counts as none. */
function isEmpty(policy: FilterPolicy): boolean {
  return Object.keys(policy).length === 0
}

/** Whether each given member equals the record's. Absent members of the record have their defaults. */
export function agrees(record: SubscriptionRecord, given: Partial<SubscriptionSettings>): boolean {
  const members = Object.keys(given) as (keyof SubscriptionSettings)[]
  return members.every((member) =>
    isDeepStrictEqual(plain(record[member] ?? SETTING_DEFAULTS[member]), plain(given[member])),
  )
}

/** The value without prototypes and absent members, for comparisons. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

/** Why this process cannot deliver to an endpoint. A kind may need settings, and may refuse some endpoints. */
export function servedProblems(
  { attempters }: Pick<ApiDeps, 'attempters'>,
  { protocol, endpoint }: EndpointAddress,
): Problem[] {
  const attempter = attempters[protocol]
  if (attempter.lacks !== undefined) {
    const message = `cannot be delivered to: ${protocol} endpoints need ${attempter.lacks}, which is not set`
    return [{ path: 'endpoint', message }]
  }
  const message = attempter.refusalOf?.(endpoint)
  return message === undefined ? [] : [{ path: 'endpoint', message }]
}

/** The only attribute of SNS without a member here. */
const ROLE = 'SubscriptionRoleArn'

export function attributeProblems(given: Record<string, string> | null | undefined): Problem[] {
  const unknown = Object.keys(given ?? {}).filter((name) => name !== ROLE)
  return unknown.map((name) => ({ path: `attributes.${name}`, message: `must be ${ROLE}` }))
}

interface PolicyContext {
  /** Undefined if the given members do not show it. */
  protocol: Protocol | undefined
  raw: boolean
}

/**
 * Every problem of a subscription's policy by the rules of the native API. These rules include the rules of the AWS
 * protocols. Raw delivery decides which content types are allowed.
 */
export function policyProblems(policy: unknown, { protocol, raw }: PolicyContext): Problem[] {
  if (policy === undefined || policy === null) return []
  const path = 'deliveryPolicy'
  const message = refusedSetting(protocol, 'deliveryPolicy')
  if (message !== undefined && (!isObject(policy) || refusedSetting(protocol, 'rate') !== undefined)) {
    return [{ path, message }]
  }
  if (message !== undefined) {
    const others = Object.keys(policy).filter((member) => member !== 'throttlePolicy')
    if (others.length > 0) return others.map((member) => ({ path: `${path}.${member}`, message }))
  }
  return checkDeliveryPolicy(policy, { path, contentTypes: raw ? 'raw' : 'plain' })
}

export function rawProblems({ protocol, raw }: PolicyContext): Problem[] {
  const message = raw ? refusedSetting(protocol, 'rawDelivery') : undefined
  return message === undefined ? [] : [{ path: 'rawMessageDelivery', message }]
}

type OfWebhooks = Partial<
  Pick<SubscriptionRecord, 'retryMode' | 'circuitBreaker' | 'groupThrottle' | 'onGone' | 'svixHeaders'>
> & {
  protocol: Protocol | undefined
}

/** Settings that only webhooks take. */
export function webhookProblems({ onGone, svixHeaders, ...paced }: OfWebhooks): Problem[] {
  const message = refusedSetting(paced.protocol, 'webhookKeys')
  const refused = Object.entries({ onGone, svixHeaders }).flatMap(([path, given]) =>
    given && message !== undefined ? [{ path, message }] : [],
  )
  return [...pacingProblems(paced), ...refused]
}

function pacingProblems(given: Omit<OfWebhooks, 'onGone' | 'svixHeaders'>): Problem[] {
  const { protocol, retryMode, circuitBreaker, groupThrottle } = given
  const message = refusedSetting(protocol, 'pacing')
  if (message === undefined) return []
  const paths = [
    ...(retryMode && retryMode !== 'policy' ? ['retryMode'] : []),
    ...(circuitBreaker ? ['circuitBreaker'] : []),
    ...(groupThrottle ? ['groupThrottle'] : []),
  ]
  return paths.map((path) => ({ path, message }))
}

type Ordered = Pick<SubscriptionRecord, 'topicArn' | 'protocol' | 'endpoint' | 'redrivePolicy'>

/** FIFO and standard topics and queues that cannot be combined (checklist 146, 147, 158). */
export function orderingProblems({ topicArn, protocol, endpoint, redrivePolicy }: Ordered): Problem[] {
  const ordered = isFifoName(topicArn)
  const fifoQueue = PROTOCOL_TRAITS[protocol].isQueue && isFifoName(endpoint)
  const problems: Problem[] = []
  if (ordered && PROTOCOL_TRAITS[protocol].fifo.topics === 'never') {
    const takers = PROTOCOLS.filter((other) => PROTOCOL_TRAITS[other].fifo.topics !== 'never')
    const message = `must be of ${inWords(takers, 'or')}, as the topic is a FIFO topic`
    problems.push({ path: 'endpoint', message })
  }
  if (fifoQueue && !ordered) {
    problems.push({ path: 'endpoint', message: 'must be a standard queue, as the topic is a standard one' })
  }
  if (!redrivePolicy) return problems
  const fifoDeadLetters = isFifoName(redrivePolicy.deadLetterTargetArn)
  const path = 'redrivePolicy.deadLetterTargetArn'
  if (fifoQueue && ordered && !fifoDeadLetters) {
    problems.push({ path, message: 'must be a FIFO queue, as the topic and the subscribed queue are' })
  }
  if (!ordered && fifoDeadLetters) {
    problems.push({ path, message: 'must be a standard queue, as the topic is a standard one' })
  }
  return problems
}
