/** TagResource, UntagResource, ListTagsForResource (checklist 114): tags of topics. */
import { type AwsCall, AwsError, type AwsInput, type Operation } from '@fantail/aws-wire'
import {
  FantailError,
  TAG_KEY_CHARS_MAX,
  TAG_VALUE_CHARS_MAX,
  TAGS_MAX,
  type TopicRecord,
} from '@fantail/contracts'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { checkTopicArn, invalidParameter, missingParameter } from '../wire/sns-parameters.ts'

export const TAG_LIST = { list: { struct: { Key: 'string', Value: 'string' } } } as const

const RESERVED_KEY = 'Tags Reason: aws: prefixed tag key names are not allowed for external use.'

/** A Map, because a key may be any text. */
type Tags = Map<string, string>

export function topicTagOperations(deps: ApiDeps): Operation[] {
  return [
    {
      name: 'TagResource',
      input: { ResourceArn: 'string', Tags: TAG_LIST },
      output: {},
      run: (input, call) => tagTopic(deps, input, call),
    },
    {
      name: 'UntagResource',
      input: { ResourceArn: 'string', TagKeys: { list: 'string' } },
      output: {},
      run: (input, call) => untagTopic(deps, input, call),
    },
    {
      name: 'ListTagsForResource',
      input: { ResourceArn: 'string' },
      output: { Tags: TAG_LIST },
      run: async ({ ResourceArn }, call) => {
        const topic = await deps.topics.get(checkTopicArn(ResourceArn, call, 'ResourceArn'))
        if (!topic) throw noSuchResource()
        return { Tags: Array.from(tagsOf(topic), ([Key, Value]) => ({ Key, Value })) }
      },
    },
  ]
}

async function tagTopic(deps: ApiDeps, { ResourceArn, Tags }: AwsInput, call: AwsCall): Promise<undefined> {
  const arn = checkTopicArn(ResourceArn, call, 'ResourceArn')
  if (Tags === undefined) throw missingParameter('Tags')
  const given = readTags(Tags)
  await changeTags(deps, { arn, call, change: (tags) => checkCount(new Map([...tags, ...given])) })
}

async function untagTopic(
  deps: ApiDeps,
  { ResourceArn, TagKeys }: AwsInput,
  call: AwsCall,
): Promise<undefined> {
  const arn = checkTopicArn(ResourceArn, call, 'ResourceArn')
  if (TagKeys === undefined) throw missingParameter('TagKeys')
  const keys = new Set(TagKeys as string[])
  const change = (tags: Tags) => new Map([...tags].filter(([key]) => !keys.has(key)))
  await changeTags(deps, { arn, call, change })
}

interface TagChange {
  arn: string
  call: AwsCall
  change: (tags: Tags) => Tags
}

async function changeTags(deps: ApiDeps, { arn, call, change }: TagChange): Promise<void> {
  try {
    await deps.topics.update(arn, (topic) => ({ tags: Object.fromEntries(change(tagsOf(topic))) }))
    deps.log.info({ requestId: call.requestId, topicArn: arn, members: ['tags'] }, 'topic.changed')
  } catch (error) {
    throw error instanceof FantailError && error.code === 'not_found' ? noSuchResource() : error
  }
}

function tagsOf({ tags = {} }: Pick<TopicRecord, 'tags'>): Tags {
  return new Map(Object.entries(tags))
}

/** Checks the tags of a request. Empty if none are given. */
export function readTags(given: unknown): Tags {
  const list = (given as { Key?: string; Value?: string }[] | undefined) ?? []
  for (const [index, { Key = '', Value = '' }] of list.entries()) {
    const member = `tags.${index + 1}.member`
    if (Key === '') throw constraint(Key, `${member}.key`, 'greater than or equal to 1')
    if (/^aws:/i.test(Key)) throw invalidParameter(RESERVED_KEY)
    if (Key.length > TAG_KEY_CHARS_MAX) {
      throw constraint(Key, `${member}.key`, `less than or equal to ${TAG_KEY_CHARS_MAX}`)
    }
    if (Value.length > TAG_VALUE_CHARS_MAX) {
      throw constraint(Value, `${member}.value`, `less than or equal to ${TAG_VALUE_CHARS_MAX}`)
    }
  }
  const tags = new Map(list.map(({ Key = '', Value = '' }) => [Key, Value]))
  if (tags.size < list.length) throw invalidParameter('Duplicated keys are not allowed.')
  return checkCount(tags)
}

function constraint(value: string, member: string, length: string): AwsError {
  const text = `Value '${value}' at '${member}' failed to satisfy constraint: Member must have length ${length}`
  return new AwsError('ValidationError', `1 validation error detected: ${text}`)
}

function checkCount(tags: Tags): Tags {
  if (tags.size <= TAGS_MAX) return tags
  throw new AwsError('TagLimitExceeded', 'Could not complete request: tag quota of per resource exceeded')
}

/** The key of a given tag that the topic lacks, or has with another value. */
export function differingTag(given: Tags, topic: TopicRecord): string | undefined {
  const own = tagsOf(topic)
  return [...given.keys()].find((key) => own.get(key) !== given.get(key))
}

function noSuchResource(): AwsError {
  return new AwsError('ResourceNotFound', 'Resource does not exist', { status: 404 })
}
