/** A topic of SNS as the document has it. */
import { type DeliveryPolicy, isFifoName, isObject, objectOf, resolveTopic } from '@fantail/contracts'
import { checkDeliveryPolicy, parseDeliveryPolicy } from '@fantail/policy'
import { findAccess, keptPolicy } from './access-findings.ts'
import type { Attributes, SourceTopic } from './aws-source.ts'
import { keptTags, sealedAttributes } from './tags-and-encryption.ts'
import type { Translation } from './translation.ts'

type Settings = Record<string, unknown>

/** Attributes that are kept as they are. */
const KEPT =
  /^(SignatureVersion|TracingConfig|MaximumMessageSize|DataProtectionPolicy|(HTTP|Firehose|Lambda|Application|SQS)(Success|Failure)Feedback(RoleArn|SampleRate))$/
/** Read in another way, or what SNS computes. */
const OTHERS =
  /^(TopicArn|Owner|DisplayName|Policy|DeliveryPolicy|EffectiveDeliveryPolicy|Subscriptions(Confirmed|Pending|Deleted)|FifoTopic|ContentBasedDeduplication|FifoThroughputScope|KmsMasterKeyId|ArchivePolicy|BeginningArchiveTime)$/

export function toTopic(topic: SourceTopic, translation: Translation): Settings {
  const { arn, attributes, tags, isProtectionUnread } = topic
  const { findings } = translation
  // SNS signs always.
  const always = { signing: 'sns', tags: keptTags(arn, tags, findings) }
  if (!attributes) return always
  const unread = isProtectionUnread ? presentProtection(arn, translation) : {}
  return { ...always, ...settingsOf(arn, { ...attributes, ...unread }, translation) }
}

/** The policy that an earlier import has brought. A change of attributes replaces all of them. */
function presentProtection(arn: string, { here: { found, server } }: Translation): Attributes {
  const present = found.topics.find(({ name }) => resolveTopic(name, server) === arn)
  const { DataProtectionPolicy } = (present?.settings.attributes ?? {}) as Attributes
  return DataProtectionPolicy === undefined ? {} : { DataProtectionPolicy }
}

function settingsOf(arn: string, attributes: Attributes, translation: Translation): Settings {
  const { findings } = translation
  const Policy = keptPolicy('topic', arn, attributes.Policy, findings)
  findAccess('topic', arn, attributes, translation)
  const named = Object.entries(attributes).filter(([, text]) => text !== '')
  for (const [name] of named)
    if (!KEPT.test(name) && !OTHERS.test(name))
      findings.add(
        { matter: 'details', what: 'lost', text: `attribute ${name}, which is not known here` },
        arn,
      )
  return {
    displayName: attributes.DisplayName ?? '',
    ...policyOf(arn, attributes.DeliveryPolicy, translation),
    ...(isFifoName(arn) && fifoOf(arn, attributes, translation)),
    attributes: {
      ...Object.fromEntries(named.filter(([name]) => KEPT.test(name))),
      ...(Policy !== undefined && { Policy }),
      ...sealedAttributes('topic', arn, attributes, translation),
    },
  }
}

/** Groups by their names in topics, with their names in subscriptions and here. */
const GROUPS: Record<string, string> = {
  defaultHealthyRetryPolicy: 'healthyRetryPolicy',
  defaultThrottlePolicy: 'throttlePolicy',
  defaultRequestPolicy: 'requestPolicy',
}

interface TopicPolicy {
  deliveryPolicy: DeliveryPolicy | null
  disableSubscriptionOverrides: boolean
}

/** The groups of a topic's policy, which are under `http`. `defaultSicklyRetryPolicy` has no effect at SNS. */
export function topicPolicyOf(text: string | undefined): TopicPolicy {
  const http = text === undefined ? undefined : objectOf(text)?.http
  if (!isObject(http)) return { deliveryPolicy: null, disableSubscriptionOverrides: false }
  const groups = Object.entries(GROUPS).flatMap(([name, group]) =>
    isObject(http[name]) ? [[group, http[name]] as const] : [],
  )
  return {
    deliveryPolicy: groups.length > 0 ? parseDeliveryPolicy(Object.fromEntries(groups)) : null,
    disableSubscriptionOverrides: http.disableSubscriptionOverrides === true,
  }
}

function policyOf(arn: string, text: string | undefined, { findings }: Translation): TopicPolicy {
  const policy = topicPolicyOf(text)
  const [problem] = checkDeliveryPolicy(policy.deliveryPolicy, { path: '', contentTypes: 'plain' })
  if (!problem) return policy
  const why = `${problem.path.slice(1)} ${problem.message}`
  findings.add({ matter: 'delivery', what: 'lost', text: `the delivery policy is refused: ${why}` }, arn)
  return { ...policy, deliveryPolicy: null }
}

function fifoOf(
  arn: string,
  { ContentBasedDeduplication, FifoThroughputScope, ArchivePolicy }: Attributes,
  { here, findings }: Translation,
): Settings {
  const days = Number(objectOf(ArchivePolicy ?? '')?.MessageRetentionPeriod)
  const isArchived = days > 0
  if (isArchived && !here.server.hasArchives)
    findings.add(
      {
        matter: 'messages',
        what: 'lost',
        text: 'the archive, because this server has no place for archives',
        remedy: 'set FANTAIL_ARCHIVE, and import again',
      },
      arn,
    )
  else if (isArchived)
    findings.add(
      { matter: 'messages', what: 'changed', text: 'the archive begins empty; the old one stays at SNS' },
      arn,
    )
  return {
    contentBasedDeduplication: ContentBasedDeduplication === 'true',
    ...(FifoThroughputScope && { fifoThroughputScope: FifoThroughputScope }),
    ...(isArchived && here.server.hasArchives && { archive: { days } }),
  }
}
