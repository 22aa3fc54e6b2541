/** TagQueue, UntagQueue, ListQueueTags. */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import { TAG_KEY_CHARS_MAX, TAG_VALUE_CHARS_MAX, TAGS_MAX } from '@fantail/contracts'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { queueArnOf, queueOf, whereQueueExists } from '../wire/queue-url.ts'
import { invalidParameterValue, missingParameter } from '../wire/sqs-error.ts'
import { TAGS } from '../wire/sqs-shapes.ts'

/** Letters, digits and spaces of any script, and a few signs. */
const TAG_TEXT = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u

type Tags = Record<string, string>

export function queueTagOperations(deps: ApiDeps): Operation[] {
  return [
    {
      name: 'TagQueue',
      input: { QueueUrl: 'string', Tags: TAGS },
      output: null,
      run: (input, call) => tagQueue(deps, input, call),
    },
    {
      name: 'UntagQueue',
      input: { QueueUrl: 'string', TagKeys: { list: 'string', flat: 'TagKey' } },
      output: null,
      run: (input, call) => untagQueue(deps, input, call),
    },
    {
      name: 'ListQueueTags',
      input: { QueueUrl: 'string' },
      output: { Tags: TAGS },
      run: async (input, call) => {
        const { tags } = await queueOf(deps, input, call)
        return tags && Object.keys(tags).length > 0 ? { Tags: tags } : {}
      },
    },
  ]
}

async function tagQueue(deps: ApiDeps, input: AwsInput, call: AwsCall): Promise<undefined> {
  const arn = queueArnOf(deps.settings, input, call)
  const given = { ...(input.Tags as Tags | undefined) }
  if (Object.keys(given).length === 0) throw missingParameter('Tags')
  const tagged = deps.queues.update(arn, ({ name, tags }) => {
    const all = { ...tags, ...given }
    checkTags(all, name)
    return { tags: all }
  })
  await whereQueueExists(call, tagged)
}

async function untagQueue(deps: ApiDeps, input: AwsInput, call: AwsCall): Promise<undefined> {
  const arn = queueArnOf(deps.settings, input, call)
  const keys = (input.TagKeys as string[] | undefined) ?? []
  if (keys.length === 0) throw missingParameter('TagKeys')
  const untagged = deps.queues.update(arn, ({ tags = {} }) => ({
    tags: Object.fromEntries(Object.entries(tags).filter(([key]) => !keys.includes(key))),
  }))
  await whereQueueExists(call, untagged)
}

export function checkTags(tags: Tags, queueName: string): void {
  if (Object.keys(tags).length > TAGS_MAX) {
    throw invalidParameterValue(`Too many tags added for queue ${queueName}.`)
  }
  for (const [key, value] of Object.entries(tags)) {
    if (key.length === 0 || key.length > TAG_KEY_CHARS_MAX) {
      throw invalidParameterValue(`Tag keys must be between 1 and ${TAG_KEY_CHARS_MAX} characters in length.`)
    }
    if (value.length > TAG_VALUE_CHARS_MAX) {
      throw invalidParameterValue(
        `Tag values must be between 0 and ${TAG_VALUE_CHARS_MAX} characters in length.`,
      )
    }
    if (/^aws:/i.test(key))
      throw invalidParameterValue(`The tag key ${key} begins with aws:, which is reserved.`)
    if (!TAG_TEXT.test(key) || !TAG_TEXT.test(value)) {
      throw invalidParameterValue(`The tag ${key} has characters that are not allowed.`)
    }
  }
}
