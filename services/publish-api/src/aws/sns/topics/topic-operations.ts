/** CreateTopic, DeleteTopic and ListTopics (checklist 103 to 107, 110 to 113). */
import { type AwsCall, AwsError, type AwsInput, type Operation } from '@fantail/aws-wire'
import { FantailError, isFifoName, isTopicName, topicArn } from '@fantail/contracts'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { deleteTopic } from '../../../topics/topic-changes.ts'
import { checkTopicArn, invalidParameter, listPage } from '../wire/sns-parameters.ts'
import { differingAttribute, readTopicAttributes, refuseOnCreate } from './topic-attributes.ts'
import { differingTag, readTags, TAG_LIST } from './topic-tags.ts'

export function topicOperations(deps: ApiDeps): Operation[] {
  return [
    {
      name: 'CreateTopic',
      input: {
        Name: 'string',
        Attributes: { map: 'string' },
        Tags: TAG_LIST,
        DataProtectionPolicy: 'string',
      },
      output: { TopicArn: 'string' },
      run: async (input, call) => ({ TopicArn: await createTopic(deps, input, call) }),
    },
    {
      name: 'DeleteTopic',
      input: { TopicArn: 'string' },
      output: null,
      run: (input, call) => deleteByWire(deps, input, call),
    },
    {
      name: 'ListTopics',
      input: { NextToken: 'string' },
      output: { Topics: { list: { struct: { TopicArn: 'string' } } }, NextToken: 'string' },
      run: ({ NextToken }, call) => listTopics(deps, call, NextToken),
    },
  ]
}

/** An existing topic stays unchanged, and is returned if it has everything that was given. */
async function createTopic(deps: ApiDeps, input: AwsInput, call: AwsCall): Promise<string> {
  const { FifoTopic, ...attributes } = givenAttributes(input)
  const name = checkName(input.Name, FifoTopic)
  const { account, region, requestId } = call
  const arn = topicArn(name, { ...deps.settings.arn, account, region })
  const { maxRetrySeconds, archive } = deps.settings
  const rules = { arn, refuse: refuseOnCreate, maxRetrySeconds, hasArchives: archive !== undefined }
  const settings = readTopicAttributes(attributes, {}, rules)
  const tags = readTags(input.Tags)
  const made = {
    ...settings,
    signing: 'sns' as const,
    ...(tags.size > 0 && { tags: Object.fromEntries(tags) }),
  }
  const { topic, created } = await deps.topics.create(arn, made)
  if (created) {
    deps.topicCache.forget(arn)
    deps.log.info({ requestId, topicArn: arn, members: Object.keys(settings) }, 'topic.created')
    deps.withoutEffect.note('topic', arn, attributes)
    return arn
  }
  if (differingAttribute(attributes, topic, rules) !== undefined) {
    throw refuseOnCreate('Topic already exists with different attributes')
  }
  if (differingTag(tags, topic) !== undefined) {
    throw invalidParameter('Tags Reason: Topic already exists with different tags')
  }
  return arn
}

/** The data protection policy is a parameter of its own, and is stored as an attribute. */
function givenAttributes({ Attributes, DataProtectionPolicy }: AwsInput): Record<string, string> {
  const given = { ...(Attributes as Record<string, string> | undefined) }
  if (Object.hasOwn(given, 'DataProtectionPolicy')) throw invalidParameter('AttributeName')
  return DataProtectionPolicy === undefined
    ? given
    : { ...given, DataProtectionPolicy: String(DataProtectionPolicy) }
}

/** The name says which kind of topic it is. FifoTopic must agree. */
function checkName(given: unknown, fifoTopic = 'false'): string {
  const name = String(given ?? '')
  const fifo = fifoTopic.toLowerCase()
  if (fifo !== 'true' && fifo !== 'false') {
    throw refuseOnCreate(`FifoTopic: Invalid value [${fifoTopic}]. Must be true or false.`)
  }
  if (!isTopicName(name) || isFifoName(name) !== (fifo === 'true')) throw invalidParameter('Topic Name')
  return name
}

async function deleteByWire(deps: ApiDeps, { TopicArn }: AwsInput, call: AwsCall): Promise<undefined> {
  const arn = checkTopicArn(TopicArn, call)
  await deleteTopic(deps, arn, call.requestId).catch((error) => Promise.reject(orArchived(error)))
}

function orArchived(error: unknown): unknown {
  if (!(error instanceof FantailError && error.code === 'wrong_state')) return error
  return new AwsError('InvalidState', 'Invalid state: Cannot delete a topic with an ArchivePolicy')
}

async function listTopics(deps: ApiDeps, { account, region }: AwsCall, token: unknown) {
  const arnPrefix = topicArn('', { ...deps.settings.arn, account, region })
  const { items, NextToken } = await listPage(token, (page) => deps.topics.list({ arnPrefix, ...page }))
  return { Topics: items.map(({ arn }) => ({ TopicArn: arn })), NextToken }
}
