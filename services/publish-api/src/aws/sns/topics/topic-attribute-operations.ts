/** Reads and sets a topic's attributes (checklist 108, 109), also its data protection policy. */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import { parseArn, type TopicRecord } from '@fantail/contracts'
import type { CountedTopic } from '@fantail/store'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { isHiddenAttribute } from '../../../topics/stored-only-attributes.ts'
import { whenArchived } from '../../../topics/topic-changes.ts'
import { ofTopic } from '../publish/read-message.ts'
import { checkTopicArn, missingParameter, noSuchTopic } from '../wire/sns-parameters.ts'
import { accessPolicyOf } from './topic-access-policy.ts'
import { archivePolicyOf, readTopicAttributes, refuseOnSet } from './topic-attributes.ts'
import { topicPolicyAttributes } from './topic-delivery-policy.ts'

export function topicAttributeOperations(deps: ApiDeps): Operation[] {
  return [
    {
      name: 'GetTopicAttributes',
      input: { TopicArn: 'string' },
      output: { Attributes: { map: 'string' } },
      run: async ({ TopicArn }, call) => {
        const found = await deps.topics.getWithCounts(checkTopicArn(TopicArn, call))
        if (!found) throw noSuchTopic()
        return { Attributes: { ...attributesOf(found), ...(await archiveAttributes(deps, found.topic)) } }
      },
    },
    {
      name: 'SetTopicAttributes',
      input: { TopicArn: 'string', AttributeName: 'string', AttributeValue: 'string' },
      output: null,
      run: (input, call) => setTopicAttribute(deps, input, call),
    },
    {
      name: 'GetDataProtectionPolicy',
      input: { ResourceArn: 'string' },
      output: { DataProtectionPolicy: 'string' },
      run: async ({ ResourceArn }, call) => {
        const topic = await deps.topics.get(checkTopicArn(ResourceArn, call, 'ResourceArn'))
        if (!topic) throw noSuchTopic()
        return { DataProtectionPolicy: topic.attributes.DataProtectionPolicy ?? '' }
      },
    },
    {
      name: 'PutDataProtectionPolicy',
      input: { ResourceArn: 'string', DataProtectionPolicy: 'string' },
      output: null,
      run: async ({ ResourceArn, DataProtectionPolicy }, call) => {
        const arn = checkTopicArn(ResourceArn, call, 'ResourceArn')
        if (DataProtectionPolicy === undefined) throw missingParameter('DataProtectionPolicy')
        return set(deps, call, { arn, name: 'DataProtectionPolicy', text: String(DataProtectionPolicy) })
      },
    },
  ]
}

function attributesOf({ topic, subscriptions, deleted }: CountedTopic): Record<string, string> {
  const shown = Object.entries(topic.attributes).filter(([name]) => !isHiddenAttribute(name))
  return {
    TopicArn: topic.arn,
    Owner: parseArn(topic.arn)?.account ?? '',
    DisplayName: topic.displayName,
    Policy: accessPolicyOf(topic),
    ...topicPolicyAttributes(topic),
    SubscriptionsConfirmed: String(subscriptions.active + subscriptions.paused),
    SubscriptionsPending: String(subscriptions.pending),
    SubscriptionsDeleted: String(deleted),
    ...(topic.fifo && fifoAttributes(topic)),
    ...Object.fromEntries(shown),
  }
}

async function archiveAttributes(
  { archiveFigures }: Pick<ApiDeps, 'archiveFigures'>,
  topic: TopicRecord,
): Promise<Record<string, string>> {
  if (!topic.fifo || !topic.archive) return {}
  const figures = await archiveFigures(topic)
  return {
    ArchivePolicy: archivePolicyOf(topic),
    ...(figures && { BeginningArchiveTime: new Date(figures.since).toISOString() }),
  }
}

function fifoAttributes({ contentBasedDeduplication = false, fifoThroughputScope }: TopicRecord) {
  return {
    FifoTopic: 'true',
    ContentBasedDeduplication: String(contentBasedDeduplication),
    ...(fifoThroughputScope && { FifoThroughputScope: fifoThroughputScope }),
  }
}

async function setTopicAttribute(deps: ApiDeps, input: AwsInput, call: AwsCall): Promise<undefined> {
  const arn = checkTopicArn(input.TopicArn, call)
  if (input.AttributeName === undefined) throw missingParameter('AttributeName')
  const name = String(input.AttributeName)
  // This attribute has an operation of its own.
  if (name === 'DataProtectionPolicy') throw refuseOnSet('AttributeName')
  return set(deps, call, { arn, name, text: String(input.AttributeValue ?? '') })
}

interface Attribute {
  arn: string
  name: string
  text: string
}

async function set(
  deps: ApiDeps,
  { requestId }: AwsCall,
  { arn, name, text }: Attribute,
): Promise<undefined> {
  const { maxRetrySeconds, archive } = deps.settings
  const rules = { arn, refuse: refuseOnSet, maxRetrySeconds, hasArchives: archive !== undefined }
  const changed = deps.topics.update(arn, ({ attributes }) =>
    readTopicAttributes({ [name]: text }, attributes, rules),
  )
  await ofTopic(() => changed)
  deps.topicCache.forget(arn)
  if (name === 'ArchivePolicy') await whenArchived()
  deps.log.info({ requestId, topicArn: arn, members: [name] }, 'topic.changed')
  deps.withoutEffect.note('topic', arn, { [name]: text })
}
