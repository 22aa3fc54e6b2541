/** Subscribes: creates a subscription, or returns the existing one with the same topic and endpoint. */
import {
  FantailError,
  type FilterPolicyScope,
  isObject,
  isProtocol,
  type Problem,
  type Protocol,
  parseArn,
  parsePlatformEndpointArn,
  type RedrivePolicy,
  type SubscriptionRecord,
  type TopicRecord,
} from '@fantail/contracts'
import type { NewSubscriptionInput } from '@fantail/contracts/schemas/subscriptions/subscription-schemas'
import { canBeAsked, type EndpointAddress, PROTOCOL_TRAITS, readEndpoint } from '@fantail/policy'
import { placeOfSubscription } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import { invalid, notFound } from '../http/error-answers.ts'
import { checkChosenTypes } from './chosen-types.ts'
import { type Authentication, askAgain, askToConfirm, createToken } from './confirmations.ts'
import { filterProblems } from './filters.ts'
import { agreesOutbound, keepEndpoint, type OutboundChange, outboundProblems } from './outbound.ts'
import {
  agrees,
  attributeProblems,
  orderingProblems,
  policyProblems,
  rawProblems,
  SETTING_DEFAULTS,
  type SubscriptionSettings,
  servedProblems,
  settingsOf,
  webhookProblems,
} from './subscription-settings.ts'

/** The parts of the API that an endpoint's check and its subscription need. */
export type SubscribeTools = Pick<
  ApiDeps,
  | 'addressGuard'
  | 'attempters'
  | 'clock'
  | 'confirmationLimits'
  | 'eventTypes'
  | 'lanes'
  | 'log'
  | 'platformEndpoints'
  | 'queueCache'
  | 'queues'
  | 'settings'
  | 'subscriptions'
  | 'topics'
  | 'vault'
>

export interface Subscribe {
  topic: TopicRecord
  address: EndpointAddress
  given: Partial<SubscriptionSettings>
  /** The place of dead letters, for a new subscription without a redrive policy. */
  deadLetters?: 'topicQueue' | undefined
  outbound?: OutboundChange | undefined
  /** For a new subscription. */
  confirmation: 'none' | 'handshake'
  /** The caller named the confirmation. An existing subscription must then have the same one. */
  confirmationGiven: boolean
  authentication?: Authentication
  /** Base of the links in a confirmation message. */
  publicUrl: string
  /** ARN of the key's user who subscribes. */
  principal?: string
  /** Set if the subscription behaves as one of the native API. Only for a new subscription. */
  origin?: 'native'
  /** The origin that the caller named. An existing subscription must have the same one. */
  originGiven?: 'native' | 'aws' | undefined
  /** A new subscription is paused. */
  status?: 'paused'
}

export interface Subscribed {
  subscription: SubscriptionRecord
  created: boolean
  /** Something that the caller may not have meant. */
  warning?: string | undefined
}

/** Problems of a new subscription's body that the schema cannot find. */
export function newSubscriptionProblems(deps: SubscribeTools, body: Record<string, unknown>): Problem[] {
  const { endpoint, protocol, confirmation, rawMessageDelivery, status } = body
  const known = isProtocol(protocol) ? protocol : undefined
  const address =
    typeof endpoint === 'string' && endpoint !== ''
      ? readEndpoint(endpoint, known, deps.settings.arn)
      : undefined
  const problems = address === undefined ? [] : 'path' in address ? [address] : servedProblems(deps, address)
  const found = address && 'protocol' in address ? address.protocol : undefined
  const context = { protocol: found, raw: rawMessageDelivery === true }
  return [
    ...problems,
    ...confirmationProblems(found, confirmation),
    ...statusProblems(found, { confirmation, status }),
    ...rawProblems(context),
    ...policyProblems(body.deliveryPolicy, context),
    ...filterProblems(filteringOf(body)),
    ...outboundProblems(body.outbound, found),
  ]
}

function confirmationProblems(protocol: Protocol | undefined, given: unknown): Problem[] {
  if (protocol === undefined || (given !== 'handshake' && given !== 'none')) return []
  const { confirmedBy, endpoint } = PROTOCOL_TRAITS[protocol]
  const only = canBeAsked(protocol) ? 'handshake' : 'none'
  if (given === only || confirmedBy === 'endpoint') return []
  return [{ path: 'confirmation', message: `must be ${only} if the endpoint is ${endpoint.name}` }]
}

/** A subscription that waits for its confirmation has no other status. */
function statusProblems(
  protocol: Protocol | undefined,
  { confirmation, status }: Record<string, unknown>,
): Problem[] {
  const isPending =
    confirmation === 'handshake' ||
    (protocol !== undefined && PROTOCOL_TRAITS[protocol].confirmedBy === 'person')
  if (status === undefined || !isPending) return []
  return [{ path: 'status', message: 'must be left out if the endpoint has to confirm' }]
}

/** The members that have the right type. The schema reports the others. */
function filteringOf({ filterPolicy, filterPolicyScope: scope }: Record<string, unknown>) {
  if (!isObject(filterPolicy)) return {}
  if (scope !== undefined && scope !== null && !isScope(scope)) return {}
  return { filterPolicy, filterPolicyScope: scope }
}

function isScope(value: unknown): value is FilterPolicyScope {
  return value === 'MessageAttributes' || value === 'MessageBody'
}

interface NativeSubscribe extends Pick<Subscribe, 'publicUrl' | 'principal' | 'status'> {
  topicArn: string
  input: z.output<typeof NewSubscriptionInput>
}

/** Subscribes with the native API's body. Throws `not_found`, `validation_failed` or `subscription_exists`. */
export async function subscribeNatively(
  deps: SubscribeTools,
  { topicArn, input, ...by }: NativeSubscribe,
): Promise<Subscribed> {
  const address = readEndpoint(input.endpoint, input.protocol, deps.settings.arn)
  if ('path' in address) throw invalid([address])
  const given = settingsOf(input, deps.settings)
  const redrivePolicy = given.redrivePolicy ?? null
  const problems = [
    ...orderingProblems({ topicArn, ...address, redrivePolicy }),
    ...webhookProblems({ ...given, protocol: address.protocol }),
    ...attributeProblems(input.attributes),
  ]
  if (problems.length > 0) throw invalid(problems)
  const topic = await deps.topics.get(topicArn)
  if (!topic) throw notFound('topic')
  const warning = await checkChosenTypes(deps, topic, given)
  const confirmation = input.confirmation ?? usualConfirmation(address)
  const confirmationGiven = input.confirmation !== undefined
  const { outbound } = input
  await provideDeadLetterQueue(deps, { redrivePolicy, createQueue: input.redrivePolicy?.createQueue })
  const isNative = input.origin !== 'aws'
  // Failed messages must not vanish. They are discarded only if the caller says null, or wants what SNS does.
  const deadLetters = isNative && given.redrivePolicy === undefined ? ('topicQueue' as const) : undefined
  const made = {
    confirmation,
    confirmationGiven,
    deadLetters,
    ...(isNative && { origin: 'native' as const }),
    originGiven: input.origin,
    ...(input.status && { status: input.status }),
  }
  return { ...(await subscribe(deps, { topic, address, given, outbound, ...made, ...by })), warning }
}

/** The default confirmation of a protocol. Kinds that reach a person always need a handshake. */
function usualConfirmation({ protocol }: EndpointAddress): 'handshake' | 'none' {
  return PROTOCOL_TRAITS[protocol].confirmedBy === 'person' ? 'handshake' : 'none'
}

/** Throws `not_found` if the topic is gone, `subscription_exists` or TopicFullError. */
export async function subscribe(deps: SubscribeTools, request: Subscribe): Promise<Subscribed> {
  const { topic, address, given, confirmation, publicUrl, outbound } = request
  const { endpoint } = address
  await refuseMissingDevice(deps, address, topic.arn)
  const kept = await keepEndpoint(deps, { topicArn: topic.arn, endpoint, outbound })
  await noteLease(deps, address, topic.arn)
  const { subscription, created } = await deps.subscriptions.create({
    topicArn: topic.arn,
    protocol: address.protocol,
    ...SETTING_DEFAULTS,
    ...(request.deadLetters && { deadLetters: request.deadLetters }),
    ...given,
    ...kept,
    ...request.authentication,
    ...(request.origin && { origin: request.origin }),
    ...(request.status && { status: request.status }),
    ...(request.principal !== undefined && { principal: request.principal }),
    confirmation,
    ...(confirmation === 'handshake' && createToken(topic.uid, deps.clock())),
  })
  if (!created && !isSame(deps, subscription, request)) {
    const message = `subscription ${subscription.id} has this endpoint with other settings`
    throw new FantailError('subscription_exists', message)
  }
  await registerDeadLetters(deps, subscription)
  if (subscription.status !== 'pending') return { subscription, created }
  // If the topic was created again in between, the token would belong to the earlier one and never be found.
  const asked = created && placeOfSubscription(subscription.id)?.topicUid === topic.uid
  if (asked) await askToConfirm(deps, subscription, publicUrl)
  else return { subscription: await askAgain(deps, subscription.id, publicUrl), created }
  return { subscription, created }
}

export const NO_PLATFORM_ENDPOINT = 'names no platform endpoint'

/** A deleted platform endpoint keeps its subscriptions. Subscribing it again answers them, as in SNS. */
export async function refuseMissingDevice(
  { platformEndpoints, subscriptions }: SubscribeTools,
  { endpoint }: Pick<EndpointAddress, 'endpoint'>,
  topicArn: string,
): Promise<void> {
  if (!parsePlatformEndpointArn(endpoint) || (await platformEndpoints.get(endpoint))) return
  const { items } = await subscriptions.list({ topicArn, endpoint, limit: 1 })
  if (items.length === 0) throw FantailError.invalid('endpoint', NO_PLATFORM_ENDPOINT)
}

/** When a queue's lease ends, the subscriptions to the queue are deleted. So their topics are stored first. */
export async function noteLease(
  { queueCache, queues }: SubscribeTools,
  { endpoint }: Pick<EndpointAddress, 'endpoint'>,
  topicArn: string,
): Promise<void> {
  if (parseArn(endpoint)?.service !== 'sqs') return
  const queue = await queueCache.find(endpoint)
  if (queue?.leaseSeconds) await queues.noteLeasedTopic(endpoint, topicArn)
}

function isSame({ vault }: SubscribeTools, subscription: SubscriptionRecord, request: Subscribe): boolean {
  const { given, outbound, confirmation, confirmationGiven, originGiven } = request
  if (!agreesOutbound(vault, subscription, outbound)) return false
  if (originGiven !== undefined && originGiven !== (subscription.origin ?? 'aws')) return false
  return agrees(subscription, given) && (!confirmationGiven || confirmation === subscription.confirmation)
}

/**
 * Registers after the subscription was made, because its ARN is not known before. After a crash in between, repeating
 * the request repairs the index.
 */
async function registerDeadLetters(
  { queues }: SubscribeTools,
  { arn, redrivePolicy }: SubscriptionRecord,
): Promise<void> {
  if (redrivePolicy) await queues.addSource(redrivePolicy.deadLetterTargetArn, arn)
}

interface NamedQueue {
  redrivePolicy: RedrivePolicy | null | undefined
  /** The queue is created if it does not exist. */
  createQueue: boolean | undefined
}

/**
 * The dead-letter queue that a request of the native API names. It must exist, or the request must ask to create it.
 * Throws `validation_failed` if there is no such queue. SNS accepts a missing queue and discards its letters, so this
 * is not checked over the AWS protocols.
 */
export async function provideDeadLetterQueue(
  { queues, log }: Pick<ApiDeps, 'queues' | 'log'>,
  { redrivePolicy, createQueue }: NamedQueue,
): Promise<void> {
  if (!redrivePolicy) return
  const { deadLetterTargetArn: queueArn } = redrivePolicy
  if ((await queues.get(queueArn)) !== null) return
  if (!createQueue) {
    const message = 'names a queue that does not exist; set `"createQueue": true` to make it'
    throw FantailError.invalid('redrivePolicy.deadLetterTargetArn', message)
  }
  const { created } = await queues.create(queueArn, {})
  if (created) log.info({ queueArn }, 'queue.created')
}
