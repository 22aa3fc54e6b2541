/**
 * The settable attributes of a topic (checklist 108, 109, 115, 116). Texts of CreateTopic and SetTopicAttributes become
 * settings. An attribute that has no member in the record is stored as given, under SNS's name.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  DISPLAY_NAME_CHARS_MAX,
  type FifoThroughputScope,
  isFifoName,
  objectOf,
  parseBounded,
  type TopicRecord,
} from '@fantail/contracts'
import type { TopicSettings } from '@fantail/store'
import { archiveOf, removesStoredOnly, storedOnlyProblem } from '../../../topics/stored-only-attributes.ts'
import { invalidParameter, type Refuse } from '../wire/sns-parameters.ts'
import { accessPolicyOf } from './topic-access-policy.ts'
import { readTopicDeliveryPolicy } from './topic-delivery-policy.ts'

export const refuseOnCreate: Refuse = (text) => invalidParameter(`Attributes Reason: ${text}`)
export const refuseOnSet: Refuse = (text) => invalidParameter(text)

interface TopicRules {
  arn: string
  refuse: Refuse
  maxRetrySeconds: number
  /** Whether this server has a place for archives. */
  hasArchives: boolean
}

type Given = Record<string, string>
type Read = Partial<TopicSettings>
type Reader = (text: string, rules: TopicRules) => Read

const READERS: Record<string, Reader> = {
  DisplayName: readDisplayName,
  DeliveryPolicy: readTopicDeliveryPolicy,
  ContentBasedDeduplication: readContentBased,
  FifoThroughputScope: readScope,
}

/** The settings that the given attributes mean. `kept`: the attributes that the topic has. Throws the first error. */
export function readTopicAttributes(given: Given, kept: Given, rules: TopicRules): Read {
  const read: Read = {}
  let attributes = kept
  for (const [name, text] of Object.entries(given)) {
    const reader = Object.hasOwn(READERS, name) ? READERS[name] : undefined
    if (reader) Object.assign(read, reader(text, rules))
    else attributes = withAttribute(attributes, { name, text }, rules)
    if (name === 'ArchivePolicy') read.archive = readArchive(text, rules)
  }
  if (attributes === kept) return read
  // Setting the version of the signature turns signing on.
  return { ...read, attributes, ...(given.SignatureVersion && { signing: 'sns' as const }) }
}

interface GivenAttribute {
  name: string
  text: string
}

/** An empty value removes the attribute, as if it had never been set. */
function withAttribute(
  attributes: Given,
  { name, text }: GivenAttribute,
  { arn, refuse }: TopicRules,
): Given {
  const problem = storedOnlyProblem(arn, name, text)
  if (problem !== undefined) throw refuse(problem)
  const { [name]: _, ...others } = attributes
  return removesStoredOnly(name, text) ? others : { ...others, [name]: text }
}

function readArchive(text: string, { refuse, hasArchives }: TopicRules): Read['archive'] {
  const archive = archiveOf(text)
  if (!archive || hasArchives) return archive
  throw refuse('ArchivePolicy: this server has no place for archives (FANTAIL_ARCHIVE)')
}

/** The policy as it was given, if it still says what the topic's archive does. Empty: the topic has none. */
export function archivePolicyOf({ archive, attributes }: TopicRecord): string {
  if (!archive) return ''
  const { ArchivePolicy: given = '' } = attributes
  const days = String(archive.days)
  const isCurrent = given !== '' && String(objectOf(given)?.MessageRetentionPeriod) === days
  return isCurrent ? given : JSON.stringify({ MessageRetentionPeriod: days })
}

function readDisplayName(displayName: string, { refuse }: TopicRules): Read {
  if (displayName.length <= DISPLAY_NAME_CHARS_MAX) return { displayName }
  throw refuse(`DisplayName: must have at most ${DISPLAY_NAME_CHARS_MAX} characters`)
}

function readContentBased(text: string, { arn, refuse }: TopicRules): Read {
  if (!isFifoName(arn)) throw refuse('ContentBasedDeduplication can only be set for FIFO topics')
  const value = text.toLowerCase()
  if (value === 'true' || value === 'false') return { contentBasedDeduplication: value === 'true' }
  throw refuse(`ContentBasedDeduplication: Invalid value [${text}]. Must be true or false.`)
}

const SCOPES: readonly FifoThroughputScope[] = ['Topic', 'MessageGroup']

function readScope(text: string, { arn, refuse }: TopicRules): Read {
  if (!isFifoName(arn)) throw refuse('FifoThroughputScope can only be set for FIFO topics')
  const fifoThroughputScope = SCOPES.find((scope) => scope === text)
  if (fifoThroughputScope) return { fifoThroughputScope }
  throw refuse(`FifoThroughputScope: Invalid value [${text}]. Please use either Topic or MessageGroup`)
}

/**
 * The name of a given attribute that the topic lacks, or has with another value. The attributes must have been read
 * before.
 */
export function differingAttribute(given: Given, topic: TopicRecord, rules: TopicRules): string | undefined {
  return Object.entries(given).find(([name, text]) => {
    if (name === 'Policy') return !isDeepStrictEqual(documentOf(text), documentOf(accessPolicyOf(topic)))
    if (name === 'ArchivePolicy')
      return !isDeepStrictEqual(documentOf(text) ?? {}, documentOf(archivePolicyOf(topic)) ?? {})
    const { attributes, ...read } = readTopicAttributes({ [name]: text }, {}, rules)
    if (attributes) return !isDeepStrictEqual(documentOf(text), documentOf(topic.attributes[name]))
    const members = {
      contentBasedDeduplication: false,
      ...topic,
      fifoThroughputScope: topic.fifoThroughputScope ?? 'Topic',
    }
    return Object.entries(read).some(
      ([member, value]) => !isDeepStrictEqual(value, members[member as keyof typeof members]),
    )
  })?.[0]
}

/** The text's JSON value. If the text is not JSON, the text itself. An empty text counts as absent. */
function documentOf(text: string | undefined): unknown {
  if (!text) return undefined
  try {
    return parseBounded(text)
  } catch {
    return text
  }
}
