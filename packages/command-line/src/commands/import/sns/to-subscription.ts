/** A subscription of SNS as the document has it. It arrives paused, and no endpoint has to confirm again. */
import {
  type FilterPolicyScope,
  isObject,
  isProtocol,
  nameOfArn,
  objectOf,
  type Protocol,
} from '@fantail/contracts'
import {
  canBeAsked,
  checkDeliveryPolicy,
  FilterPolicyError,
  PROTOCOL_TRAITS,
  parseAccessPolicy,
  parseDeliveryPolicy,
  parseFilterPolicy,
  takesFromTopic,
  traitsOf,
} from '@fantail/policy'
import { isOff } from '../../aws/subscription-pairs.ts'
import type { SubscriptionState } from '../../service/state-file.ts'
import { type Attributes, type SourceSubscription, targetOf } from './aws-source.ts'
import { keyOf, presentOf, type Translation } from './translation.ts'

/** Attributes that are read here, or that SNS computes. */
const KNOWN =
  /^(SubscriptionArn|TopicArn|Owner|Protocol|Endpoint|PendingConfirmation|ConfirmationWasAuthenticated|SubscriptionPrincipal|EffectiveDeliveryPolicy|DeliveryPolicy|FilterPolicy|FilterPolicyScope|RawMessageDelivery|RedrivePolicy|SubscriptionRoleArn|ReplayPolicy|ReplayStatus)$/
const HIDDEN_PASSWORD = /^https?:\/\/[^/?#]*\*{4,}@/i

/** undefined: it does not come over, and the findings say why. */
export function toSubscription(
  given: SourceSubscription,
  translation: Translation,
): SubscriptionState | undefined {
  const { endpoint, protocol, attributes } = given
  const obstacle = obstacleOf(given, translation)
  if (obstacle) {
    translation.findings.add(obstacle, objectOfPlan(given))
    return undefined
  }
  if (!attributes || !isProtocol(protocol)) return undefined
  const readFilter = isOff({ attributes }) ? filterOfSwitched : filterOf
  const filter = readFilter(given, translation, attributes)
  if (!filter) return undefined
  const { confirmedBy, endpoint: syntax } = PROTOCOL_TRAITS[protocol]
  const isRaw = attributes.RawMessageDelivery === 'true'
  noteRest(given, attributes, translation)
  return {
    endpoint,
    // SNS has no names. One that was given here stays.
    name: presentOf(given, translation)?.name ?? null,
    settings: {
      origin: 'aws',
      // Both kinds of mail have the same syntax.
      ...(!syntax.isUrl && confirmedBy === 'person' && { protocol }),
      // Who has to confirm gets nothing before.
      ...(confirmedBy !== 'person' && { status: 'paused' }),
      rawMessageDelivery: isRaw,
      deliveryPolicy: policyOf(given, attributes, translation),
      redrivePolicy: redrivePolicyOf(given, attributes, translation),
      ...filter,
      attributes: attributes.SubscriptionRoleArn
        ? { SubscriptionRoleArn: attributes.SubscriptionRoleArn }
        : {},
    },
  }
}

export function objectOfPlan({ topicArn, protocol, endpoint }: SourceSubscription): string {
  return `${protocol} ${endpoint} of ${nameOfArn(topicArn)}`
}

type Obstacle = Parameters<Translation['findings']['add']>[0]

function obstacleOf(given: SourceSubscription, translation: Translation): Obstacle | undefined {
  const { protocol, endpoint, isConfirmed, attributes } = given
  const lost = (text: string, remedy?: string): Obstacle => ({
    matter: 'messages',
    what: 'lost',
    text,
    ...(remedy !== undefined && { remedy }),
  })
  if (!isConfirmed)
    return {
      ...lost('the endpoint has not confirmed at SNS, which sends it nothing either'),
      matter: 'delivery',
    }
  if (!attributes)
    return lost('its settings could not be read, and without its filter it would get every message')
  if (!isProtocol(protocol)) return lost(`the protocol ${protocol} is not known here`)
  // The server masks passwords in the same way.
  if (HIDDEN_PASSWORD.test(endpoint) && !presentOf(given, translation))
    return lost(
      'SNS shows the password of the endpoint as asterisks',
      'subscribe it by `fantail subs add TOPIC https://user:password@host/ --set origin=aws`, then import again',
    )
  if (PROTOCOL_TRAITS[protocol].isQueue && !translation.queues.has(endpoint))
    return lost(
      'its queue is of another account or region, or was deleted',
      'import that account or region first, or at the same time by --region; or subscribe it at AWS (FANTAIL_AWS_TARGETS)',
    )
  const refused = translation.refused.get(keyOf(given))
  return refused === undefined ? undefined : lost(`it cannot be subscribed here: ${refused}`)
}

/** `fantail cutover` has replaced the filter at AWS by one that matches nothing, and Fantail has the real one. */
function filterOfSwitched(given: SourceSubscription, translation: Translation): Partial<Filter> | undefined {
  const isHere = presentOf(given, translation) !== undefined
  translation.findings.add(
    {
      matter: 'messages',
      what: isHere ? 'changed' : 'lost',
      text: isHere
        ? 'it is switched from AWS to Fantail, so that its filter policy here stays as it is'
        : 'it is switched off at AWS by `fantail cutover TOPIC-ARN`, which hides its filter policy, and is missing here',
    },
    objectOfPlan(given),
  )
  return isHere ? {} : undefined
}

interface Filter {
  filterPolicy: Record<string, unknown> | null
  filterPolicyScope: FilterPolicyScope
}

/** undefined: the filter is refused here, and without it the subscription would get every message. */
function filterOf(
  given: SourceSubscription,
  { findings }: Translation,
  { FilterPolicy: text = '', FilterPolicyScope: named }: Attributes,
): Filter | undefined {
  const filterPolicyScope = named === 'MessageBody' ? 'MessageBody' : 'MessageAttributes'
  try {
    const policy = text === '' ? {} : parseFilterPolicy(text, filterPolicyScope)
    return { filterPolicy: Object.keys(policy).length > 0 ? policy : null, filterPolicyScope }
  } catch (error) {
    if (!(error instanceof FilterPolicyError)) throw error
    const finding = {
      matter: 'messages',
      what: 'lost',
      text: `its filter policy is refused: ${error.explained}`,
    } as const
    findings.add(finding, objectOfPlan(given))
    return undefined
  }
}

/** The groups of SNS's document. It also has old members without effect, and null for a group that is not set. */
export function ownPolicyOf(protocol: Protocol, text: string | undefined) {
  const given = text === undefined ? undefined : objectOf(text)
  if (!given || !PROTOCOL_TRAITS[protocol].takes.deliveryPolicy) return null
  const policy = parseDeliveryPolicy(given)
  return isObject(policy) && Object.keys(policy).length > 0 ? policy : null
}

function policyOf(given: SourceSubscription, attributes: Attributes, { findings }: Translation) {
  const policy = ownPolicyOf(given.protocol as Protocol, attributes.DeliveryPolicy)
  const contentTypes = attributes.RawMessageDelivery === 'true' ? 'raw' : 'plain'
  const [problem] = checkDeliveryPolicy(policy, { path: '', contentTypes })
  if (!problem) return policy
  const why = `${problem.path.slice(1)} ${problem.message}`
  findings.add(
    { matter: 'delivery', what: 'lost', text: `its delivery policy is refused: ${why}` },
    objectOfPlan(given),
  )
  return null
}

function redrivePolicyOf(given: SourceSubscription, { RedrivePolicy }: Attributes, translation: Translation) {
  const target = targetOf(RedrivePolicy)
  if (target === undefined) return null
  if (translation.queues.has(target)) return { deadLetterTargetArn: target }
  const text = `its dead-letter queue ${target} was not found, so that failed messages are discarded`
  translation.findings.add({ matter: 'messages', what: 'lost', text }, objectOfPlan(given))
  return null
}

function noteRest(given: SourceSubscription, attributes: Attributes, translation: Translation): void {
  const { findings } = translation
  const object = objectOfPlan(given)
  for (const [name, text] of Object.entries(attributes))
    if (!KNOWN.test(name) && text !== '')
      findings.add(
        { matter: 'details', what: 'lost', text: `attribute ${name}, which is not known here` },
        object,
      )
  if (attributes.ReplayPolicy)
    findings.add(
      { matter: 'messages', what: 'lost', text: 'its replay, because the archive stays at SNS' },
      object,
    )
  if (attributes.SubscriptionRoleArn)
    findings.add(
      { matter: 'details', what: 'changed', text: 'SubscriptionRoleArn is kept, and has no effect here' },
      object,
    )
  const { protocol, endpoint, topicArn } = given
  if (isProtocol(protocol) && canBeAsked(protocol) && PROTOCOL_TRAITS[protocol].confirmedBy === 'person')
    findings.add(
      { matter: 'messages', what: 'changed', text: 'the address gets a mail, and must confirm again' },
      object,
    )
  const isQueue = traitsOf(protocol)?.isQueue === true
  const policy = translation.policies.get(endpoint)
  const facts = { now: Date.now(), resource: endpoint, topicArn, tags: {}, organizations: undefined }
  if (isQueue && !takesFromTopic(policy === undefined ? undefined : parseAccessPolicy(policy), facts))
    findings.add(
      {
        matter: 'messages',
        what: 'lost',
        text: 'the access policy of the queue refuses the topic, so that deliveries fail',
        remedy: 'change the policy: docs/security.md lists what conditions can ask for here',
      },
      object,
    )
}
