/**
 * The settable attributes of a topic (checklist 108, 109, 115, 116). Texts of CreateTopic and SetTopicAttributes become
 * settings. An attribute that has no member in the record is stored as given, under SNS's name.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  ARCHIVE_DAYS_MAX,
  DISPLAY_NAME_CHARS_MAX,
  type FifoThroughputScope,
  isFifoName,
  objectOf,
  parseBounded,
  type TopicRecord,
} from '@fantail/contracts'
import type { TopicSettings } from '@fantail/store'
import { invalidParameter, type Refuse } from '../wire/sns-parameters.ts'
import { accessPolicyOf, accessPolicyProblem } from './topic-access-policy.ts'
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
  const { [name]: _, ...others } = attributes
  if (name === 'Policy') {
    const problem = text === '' ? undefined : accessPolicyProblem(text)
    if (problem !== undefined) throw refuse(problem)
    return text === '' ? others : { ...others, Policy: text }
  }
  const kept = Object.hasOwn(KEPT_ATTRIBUTES, name) ? KEPT_ATTRIBUTES[name] : undefined
  if (!kept) throw refuse('AttributeName')
  if (kept.fifoOnly && !isFifoName(arn)) throw refuse(`${name} can only be set for FIFO topics`)
  const problem = text === '' && !kept.needsText ? undefined : kept.problem(text)
  if (problem !== undefined) throw refuse(problem)
  return text === '' || kept.isEmpty?.(text) ? others : { ...others, [name]: text }
}

/** null: the archive ends, and is deleted. The text was checked before. */
function readArchive(text: string, { refuse, hasArchives }: TopicRules): Read['archive'] {
  if (isEmptyObject(text)) return null
  if (!hasArchives) throw refuse('ArchivePolicy: this server has no place for archives (FANTAIL_ARCHIVE)')
  return { days: Number(objectOf(text)?.MessageRetentionPeriod) }
}

/** The policy as it was given, if it still says what the topic's archive does. Empty: the topic has none. */
export function archivePolicyOf({ archive, attributes }: TopicRecord): string {
  if (!archive) return ''
  const { ArchivePolicy: given = '' } = attributes
  const days = String(archive.days)
  const isCurrent = given !== '' && String(objectOf(given)?.MessageRetentionPeriod) === days
  return isCurrent ? given : JSON.stringify({ MessageRetentionPeriod: days })
}

function isEmptyObject(text: string): boolean {
  const value = objectOf(text)
  return value !== undefined && Object.keys(value).length === 0
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
    const members = { contentBasedDeduplication: false, fifoThroughputScope: 'Topic', ...topic }
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

interface KeptAttribute {
  /** The problem of the text, with the attribute's name. undefined: there is none. */
  problem(text: string): string | undefined
  fifoOnly?: true
  /** GetTopicAttributes returns it in another way, or another operation does. */
  hidden?: true
  /** An empty text is refused. */
  needsText?: true
  /** Whether the text removes the attribute. */
  isEmpty?(text: string): boolean
}

const MESSAGE_BYTES_BOUNDS = [1_024, 1_048_576] as const
/** @limit A `DataProtectionPolicy`, which is kept and not acted on. Past it: the policy is refused. */
const DATA_PROTECTION_BYTES_MAX = 30_720
/** Kinds of subscribers that AWS can log deliveries to. */
const LOGGED = ['HTTP', 'Firehose', 'Lambda', 'Application', 'SQS']

const anything: KeptAttribute = { problem: () => undefined }

/** Attributes of a topic that are stored and shown as given (checklist 116, 200), each with its check. */
export const KEPT_ATTRIBUTES: Record<string, KeptAttribute> = {
  SignatureVersion: oneOf('SignatureVersion', ['1', '2']),
  TracingConfig: oneOf('TracingConfig', ['PassThrough', 'Active']),
  KmsMasterKeyId: anything,
  MaximumMessageSize: { problem: sizeProblem },
  ArchivePolicy: {
    problem: archiveProblem,
    fifoOnly: true,
    hidden: true,
    needsText: true,
    isEmpty: isEmptyObject,
  },
  DataProtectionPolicy: { problem: dataProtectionProblem, hidden: true },
  ...Object.fromEntries(LOGGED.flatMap(feedbackAttributes)),
}

function oneOf(name: string, values: string[]): KeptAttribute {
  const problem = (text: string) =>
    values.includes(text)
      ? undefined
      : `${name}: Invalid value [${text}]. Please use either ${values.join(' or ')}`
  return { problem }
}

function feedbackAttributes(kind: string): [string, KeptAttribute][] {
  const rate = `${kind}SuccessFeedbackSampleRate`
  return [
    [`${kind}SuccessFeedbackRoleArn`, anything],
    [`${kind}FailureFeedbackRoleArn`, anything],
    [rate, { problem: (text) => rateProblem(rate, text) }],
  ]
}

function rateProblem(name: string, text: string): string | undefined {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 100) return undefined
  return `${name}: ${text} value provided is not an integer between 0-100`
}

function sizeProblem(text: string): string | undefined {
  const [min, max] = MESSAGE_BYTES_BOUNDS
  if (/^\d{1,7}$/.test(text) && Number(text) >= min && Number(text) <= max) return undefined
  return `MaximumMessageSize: ${text} value provided is not an integer between ${min}-${max}`
}

function archiveProblem(text: string): string | undefined {
  const policy = objectOf(text)
  if (!policy) return 'ArchivePolicy: must be a JSON object'
  if (Object.keys(policy).length === 0) return undefined
  const { MessageRetentionPeriod: days = '', ...others } = policy
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return `ArchivePolicy: Unexpected JSON member: ${unknown}`
  if (/^\d{1,3}$/.test(String(days)) && Number(days) >= 1 && Number(days) <= ARCHIVE_DAYS_MAX)
    return undefined
  return `ArchivePolicy: MessageRetentionPeriod must be between 1 and ${ARCHIVE_DAYS_MAX}`
}

function dataProtectionProblem(text: string): string | undefined {
  if (Buffer.byteLength(text) > DATA_PROTECTION_BYTES_MAX) {
    return `DataProtectionPolicy: must have at most ${DATA_PROTECTION_BYTES_MAX} bytes`
  }
  return objectOf(text) ? undefined : 'DataProtectionPolicy: must be a JSON object'
}
