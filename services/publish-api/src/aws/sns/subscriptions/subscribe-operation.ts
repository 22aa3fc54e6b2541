/**
 * Subscribe (checklist 55, 136 to 147). A webhook is pending until it confirms. A queue of the caller's account is
 * confirmed at once. A queue of another account gets a message that asks it to confirm. `confirmedBy` of the traits
 * decides.
 */
import { type AwsCall, AwsError, type AwsInput, type Operation } from '@fantail/aws-wire'
import {
  type ArnDefaults,
  ENDPOINT_CHARS_MAX,
  FantailError,
  isFifoName,
  isProtocol,
  PROTOCOLS,
  type Protocol,
  parseArn,
} from '@fantail/contracts'
import type { Attempters } from '@fantail/delivery'
import { type EndpointAddress, inWords, PROTOCOL_TRAITS, traitsOf } from '@fantail/policy'
import { TopicFullError } from '@fantail/store'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import type { Authentication } from '../../../subscriptions/confirmations.ts'
import { refusedHost } from '../../../subscriptions/outbound.ts'
import {
  NO_PLATFORM_ENDPOINT,
  type Subscribe,
  type Subscribed,
  subscribe,
} from '../../../subscriptions/subscribe.ts'
import { SETTING_DEFAULTS, type SubscriptionSettings } from '../../../subscriptions/subscription-settings.ts'
import {
  checkTopicArn,
  invalidParameter,
  missingParameter,
  noSuchTopic,
  unprefixed,
} from '../wire/sns-parameters.ts'
import { checkReplay, readReplayPolicy, setReplay } from './replay-policy.ts'
import { readSettings, refuseOnSubscribe } from './subscription-attributes.ts'

export function subscribeOperation(deps: ApiDeps): Operation {
  return {
    name: 'Subscribe',
    input: {
      TopicArn: 'string',
      Protocol: 'string',
      Endpoint: 'string',
      Attributes: { map: 'string' },
      ReturnSubscriptionArn: 'boolean',
    },
    output: { SubscriptionArn: 'string' },
    run: async (input, call) => {
      const { subscription, created } = await subscribeByWire(deps, input, call)
      const { id: subscriptionId, arn, topicArn, protocol, status } = subscription
      if (created) {
        deps.topicCache.forget(topicArn)
        const { requestId } = call
        deps.log.info({ requestId, topicArn, subscriptionId, protocol, status }, 'subscription.created')
        deps.withoutEffect.note('subscription', arn, attributesIn(input))
      }
      const shown = status !== 'pending' || input.ReturnSubscriptionArn === true
      return { SubscriptionArn: shown ? arn : 'pending confirmation' }
    },
  }
}

function attributesIn({ Attributes }: AwsInput): Record<string, string> {
  return (Attributes ?? {}) as Record<string, string>
}

async function subscribeByWire(deps: ApiDeps, input: AwsInput, call: AwsCall): Promise<Subscribed> {
  const topicArn = checkTopicArn(input.TopicArn, call)
  const protocol = checkProtocol(input.Protocol)
  const topic = await deps.topics.get(topicArn)
  if (!topic) throw noSuchTopic()
  const given = checkEndpoint(protocol, input.Endpoint, deps.settings.arn)
  checkKinds(topicArn, given, deps.settings.fifoHttp)
  const settings = readSettings(
    attributesIn(input),
    { ...SETTING_DEFAULTS, topicArn, protocol: given.protocol, endpoint: given.endpoint },
    { refuse: refuseOnSubscribe, maxRetrySeconds: deps.settings.maxRetrySeconds },
  )
  checkRole(protocol, settings)
  const { ReplayPolicy: replayText } = attributesIn(input)
  const replay = replayText === undefined ? null : readReplayPolicy(replayText, topicArn, refuseOnSubscribe)
  if (replay) await checkReplay(deps, topicArn, refuseOnSubscribe)
  const address = checkServed(given, deps.attempters)
  refuseUnreachable(deps, address, call)
  const request: Subscribe = {
    topic,
    address,
    given: settings,
    ...confirmationOf(address, call),
    confirmationGiven: false,
    publicUrl: call.origin,
    ...(call.principal !== undefined && { principal: call.principal }),
  }
  const subscribed = await subscribe(deps, request).catch((error) =>
    Promise.reject(toRefusal(error, address)),
  )
  if (replay && subscribed.created && subscribed.subscription.status !== 'pending')
    await setReplay(deps, subscribed.subscription, replay)
  return subscribed
}

/** The role is stored and shown only. The operator's settings decide which streams may be written to. */
function checkRole(protocol: string, { attributes = {} }: Partial<SubscriptionSettings>): void {
  if (traitsOf(protocol)?.needsRole && attributes.SubscriptionRoleArn === undefined)
    throw refuseOnSubscribe(`SubscriptionRoleArn must be specified for ${protocol}`)
}

/** The text is like SNS's error for an unreachable host. The log has the reason. */
function refuseUnreachable(deps: ApiDeps, { endpoint }: EndpointAddress, call: AwsCall): void {
  const refused = refusedHost(deps.addressGuard, endpoint)
  if (!refused) return
  deps.log.info({ requestId: call.requestId, ...refused }, 'subscription.unreachable')
  throw invalidParameter('Unreachable Endpoint')
}

/** Refuses kinds of topics and endpoints that do not fit together (checklist 146, 147). */
function checkKinds(topicArn: string, { protocol, endpoint }: GivenEndpoint, fifoHttp: boolean): void {
  const ordered = isFifoName(topicArn)
  const traits = traitsOf(protocol)
  const takesFifo = traits?.fifo.topics === 'sns' || (traits?.fifo.topics === 'extension' && fifoHttp)
  if (ordered && !takesFifo) {
    throw invalidParameter(`Invalid protocol type: ${protocol}`)
  }
  if (!ordered && traits?.isQueue && isFifoName(endpoint)) {
    throw invalidParameter(
      'Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics',
    )
  }
}

interface Confirming {
  confirmation: 'none' | 'handshake'
  authentication?: Authentication
}

/**
 * If a signed call confirms the subscription by subscribing, as for the caller's own queue, only a signed call may
 * delete it.
 */
function confirmationOf({ protocol, endpoint }: EndpointAddress, { account, signed }: AwsCall): Confirming {
  const { confirmedBy } = PROTOCOL_TRAITS[protocol]
  const isOwn = confirmedBy === 'account' && parseArn(endpoint)?.account === account
  if (confirmedBy !== 'subscriber' && !isOwn) return { confirmation: 'handshake' }
  if (!signed) return { confirmation: 'none' }
  return {
    confirmation: 'none',
    authentication: { confirmationWasAuthenticated: true, authenticateOnUnsubscribe: true },
  }
}

function toRefusal(error: unknown, { endpoint }: EndpointAddress): unknown {
  if (error instanceof TopicFullError) {
    return new AwsError('SubscriptionLimitExceeded', 'Subscription limit exceeded', { status: 403 })
  }
  if (!(error instanceof FantailError)) return error
  if (error.code === 'not_found') return noSuchTopic()
  // A platform endpoint that does not exist, or credentials that cannot be stored.
  if (error.code === 'validation_failed') {
    const problem = error.details?.[0]?.message ?? error.message
    // SNS has no space before the ARN.
    const isMissing = problem === NO_PLATFORM_ENDPOINT
    const text = isMissing ? `Endpoint does not exist for endpoint arn${endpoint}` : problem
    return invalidParameter(`Endpoint Reason: ${text}`)
  }
  if (error.code !== 'subscription_exists') return error
  return refuseOnSubscribe('Subscription already exists with different attributes')
}

interface GivenEndpoint {
  protocol: Protocol
  endpoint: string
  address: EndpointAddress
}

/**
 * Protocols and endpoints of Subscribe (checklist 136 to 139). An endpoint is first checked as SNS does, so that a
 * client learns of its mistake. A kind whose settings this process lacks is refused after that. Checks that SNS has the
 * protocol. The endpoint is checked only after the topic was found, as recorded.
 */
function checkProtocol(protocol: unknown): Protocol {
  if (protocol === undefined) throw missingParameter('Protocol')
  const name = String(protocol)
  if (isProtocol(name)) return name
  throw invalidParameter(`Amazon SNS does not support this protocol string: ${name}`)
}

export function checkEndpoint(protocol: Protocol, endpoint: unknown, defaults: ArnDefaults): GivenEndpoint {
  const text = String(endpoint ?? '')
  return { protocol, endpoint: text, address: addressOf(protocol, text, defaults) }
}

/** Returns the endpoint. Throws if the protocol, or this endpoint, is not supported. */
function checkServed({ protocol, address }: GivenEndpoint, attempters: Attempters): EndpointAddress {
  const attempter = attempters[address.protocol]
  if (attempter.lacks !== undefined) throw unservedProtocol(protocol, attempters)
  const refusal = attempter.refusalOf?.(address.endpoint)
  if (refusal !== undefined) throw invalidParameter(`Endpoint Reason: ${refusal}`)
  return address
}

function unservedProtocol(protocol: Protocol, attempters: Attempters): AwsError {
  const served = PROTOCOLS.filter((name) => attempters[name].lacks === undefined)
  const { lacks } = attempters[protocol]
  return invalidParameter(
    `Protocol Reason: this service delivers to ${inWords(served, 'and')} endpoints and cannot deliver to ${protocol}` +
      (lacks === undefined ? '' : `: ${lacks} is not set`),
  )
}

function addressOf(protocol: Protocol, endpoint: string, defaults: ArnDefaults): EndpointAddress {
  const syntax = PROTOCOL_TRAITS[protocol].endpoint
  const read = syntax.read(endpoint, defaults, false)
  if (read === undefined || (syntax.isUrl && !URL.canParse(endpoint))) {
    throw unprefixed(syntax.snsRefusal(endpoint))
  }
  if ('message' in read) throw invalidParameter(`Endpoint Reason: ${read.message}`)
  if (endpoint.length <= ENDPOINT_CHARS_MAX) return { protocol, ...read }
  throw invalidParameter(`Endpoint Reason: must have at most ${ENDPOINT_CHARS_MAX} characters`)
}
