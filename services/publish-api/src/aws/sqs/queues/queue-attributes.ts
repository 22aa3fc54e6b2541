/**
 * The attributes of a queue in SQS's API: texts by Amazon's names (checklist 162, 163). Attributes that have an effect
 * here are members of the record. Of the others (policies, keys) the record stores the text as it was given.
 */
import {
  isFifoName,
  objectOf,
  QUEUE_DELAY_SECONDS_MAX,
  QUEUE_MESSAGE_BYTES_MAX,
  QUEUE_VISIBILITY_SECONDS_MAX,
  QUEUE_WAIT_SECONDS_MAX,
  type QueueRecord,
  RETENTION_SECONDS_MAX,
  RETENTION_SECONDS_MIN,
} from '@fantail/contracts'
import { policyProblem } from '@fantail/policy'
import type { QueueSettings } from '@fantail/store'
import { KMS_REUSE_SECONDS, QUEUE_ATTRIBUTE_BYTES_MAX } from '../../../queues/stored-only-queue-attributes.ts'
import { sqsError } from '../wire/sqs-error.ts'
import { invalidAttribute, parseRedriveAllowPolicy, parseRedrivePolicy } from './redrive-policies.ts'

/** Defaults of SQS that differ from the native API's. */
export const WIRE_DEFAULTS = { retentionSeconds: 345_600 }

/** Attributes that are numbers, with the record's member and their bounds. */
export const NUMBERS = {
  DelaySeconds: { member: 'delaySeconds', min: 0, max: QUEUE_DELAY_SECONDS_MAX },
  MaximumMessageSize: { member: 'maximumMessageBytes', min: 1_024, max: QUEUE_MESSAGE_BYTES_MAX },
  MessageRetentionPeriod: {
    member: 'retentionSeconds',
    min: RETENTION_SECONDS_MIN,
    max: RETENTION_SECONDS_MAX,
  },
  ReceiveMessageWaitTimeSeconds: { member: 'receiveWaitSeconds', min: 0, max: QUEUE_WAIT_SECONDS_MAX },
  VisibilityTimeout: { member: 'visibilityTimeoutSeconds', min: 0, max: QUEUE_VISIBILITY_SECONDS_MAX },
} as const

const WHOLE_NUMBER = /^\d{1,10}$/

/**
 * The change that given attributes make. `kept`: texts of attributes that are not members of the record; null removes
 * one.
 */
interface Change {
  set: Partial<QueueSettings>
  kept: Record<string, string | null>
}

/** Reads the text of a value for the queue `arn`. */
type Parse = (text: string, arn: string) => Partial<Change>

const SETTABLE = new Map(
  Object.entries<Parse>({
    ...Object.fromEntries(
      Object.entries(NUMBERS).map(([name, { member, min, max }]) => [
        name,
        (text: string) => ({ set: { [member]: wholeNumber(name, text, { min, max }) } }),
      ]),
    ),
    RedrivePolicy: (text, arn) => ({ set: { redrivePolicy: parseRedrivePolicy(text, arn) } }),
    RedriveAllowPolicy: (text) => ({ set: { redriveAllowPolicy: parseRedriveAllowPolicy(text) } }),
    Policy: (text) => {
      if (text !== '' && !objectOf(text)) throw invalidAttribute('Policy')
      const problem = text === '' ? undefined : policyProblem(text)
      if (problem !== undefined) throw invalidAttribute('Policy', problem)
      return { kept: { Policy: text || null } }
    },
    // There is one kind of encryption at a time, so setting one turns the other off.
    KmsMasterKeyId: (text) => ({
      kept: { KmsMasterKeyId: text || null, ...(text !== '' && { SqsManagedSseEnabled: null }) },
    }),
    KmsDataKeyReusePeriodSeconds: (text) => {
      const seconds = wholeNumber('KmsDataKeyReusePeriodSeconds', text, KMS_REUSE_SECONDS)
      return { kept: { KmsDataKeyReusePeriodSeconds: String(seconds) } }
    },
    SqsManagedSseEnabled: (text) => {
      const on = flag('SqsManagedSseEnabled', text)
      return { kept: { SqsManagedSseEnabled: String(on), ...(on && { KmsMasterKeyId: null }) } }
    },
  }),
)

const SETTABLE_ON_FIFO = new Map(
  Object.entries<Parse>({
    FifoQueue: (text) => {
      if (flag('FifoQueue', text)) return {}
      throw invalidAttribute('FifoQueue', 'Modifying queue type is not supported.')
    },
    ContentBasedDeduplication: (text) => ({
      set: { contentBasedDeduplication: flag('ContentBasedDeduplication', text) },
    }),
    DeduplicationScope: (text) => ({
      set: { deduplicationScope: oneOf('DeduplicationScope', text, ['queue', 'messageGroup'] as const) },
    }),
    FifoThroughputLimit: (text) => ({
      set: {
        fifoThroughputLimit: oneOf('FifoThroughputLimit', text, ['perQueue', 'perMessageGroupId'] as const),
      },
    }),
  }),
)

/** Computed attributes, which cannot be set. */
const READ_ONLY = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
  'CreatedTimestamp',
  'LastModifiedTimestamp',
  'QueueArn',
]

const NAMES = new Set([...SETTABLE.keys(), ...SETTABLE_ON_FIFO.keys(), ...READ_ONLY])

/** Whether a queue can have such an attribute. */
export function isQueueAttribute(name: string): boolean {
  return NAMES.has(name)
}

/** Without a master key, encryption by SQS's own key stays off. A KmsMasterKeyId is kept, and fails at first use. */
export function withoutSse(
  given: Record<string, string>,
  { vault }: { vault: unknown },
): Record<string, string> {
  if (vault || given.SqsManagedSseEnabled?.toLowerCase() !== 'true' || given.KmsMasterKeyId) return given
  return { ...given, SqsManagedSseEnabled: 'false' }
}

/** The change that the given attributes make to the queue `arn`. Throws SQS's refusals. */
export function parseAttributes(given: Record<string, string>, arn: string): Change {
  const change: Change = { set: {}, kept: {} }
  const names = Object.keys(given)
  const parsers = names.map((name) => parserOf(name, arn))
  if (given.KmsMasterKeyId && given.SqsManagedSseEnabled === 'true') {
    const only = 'You can use one type of server-side encryption (SSE) at one time.'
    throw sqsError('InvalidAttributeName', `${only} You can either enable KMS SSE or SQS SSE.`)
  }
  for (const [i, name] of names.entries()) {
    const text = given[name] ?? ''
    if (Buffer.byteLength(text) > QUEUE_ATTRIBUTE_BYTES_MAX) throw invalidAttribute(name)
    const { set, kept } = parsers[i]?.(text, arn) ?? {}
    Object.assign(change.set, set)
    Object.assign(change.kept, kept)
  }
  return change
}

function parserOf(name: string, arn: string): Parse {
  const parse = SETTABLE.get(name)
  if (parse) return parse
  const onFifo = SETTABLE_ON_FIFO.get(name)
  if (!onFifo) throw unknownAttribute(name)
  if (isFifoName(arn)) return onFifo
  if (name === 'FifoQueue' || name === 'ContentBasedDeduplication') throw unknownAttribute(name)
  const text = `You can specify the ${name} only when FifoQueue is set to true.`
  throw sqsError('InvalidAttributeName', text)
}

/** Settings of a queue after a change. `queue`: the present queue; undefined for a new one. */
export function changedSettings({ set, kept }: Change, queue?: QueueRecord): Partial<QueueSettings> {
  const merged = { ...queue?.attributes, ...kept }
  if (!merged.KmsMasterKeyId) merged.KmsDataKeyReusePeriodSeconds = null
  const attributes = Object.fromEntries(
    Object.entries(merged).flatMap(([name, text]) => (text === null ? [] : [[name, text]])),
  )
  const { deduplicationScope, fifoThroughputLimit } = { ...queue, ...set }
  if (fifoThroughputLimit === 'perMessageGroupId' && deduplicationScope !== 'messageGroup') {
    const text =
      'The perMessageGroupId value is allowed only when the value for DeduplicationScope is messageGroup'
    throw sqsError('InvalidAttributeValue', text)
  }
  return { ...set, attributes }
}

export function checkAttributeNames(names: string[]): void {
  const unknown = names.find((name) => name !== 'All' && !NAMES.has(name))
  if (unknown !== undefined) throw unknownAttribute(unknown)
}

function unknownAttribute(name: string) {
  return sqsError('InvalidAttributeName', `Unknown Attribute ${name}.`)
}

function wholeNumber(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = WHOLE_NUMBER.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw invalidAttribute(name)
}

function flag(name: string, text: string): boolean {
  const lower = text.toLowerCase()
  if (lower !== 'true' && lower !== 'false') throw invalidAttribute(name)
  return lower === 'true'
}

function oneOf<const T extends string>(name: string, text: string, values: readonly T[]): T {
  const value = values.find((candidate) => candidate === text)
  if (value === undefined) throw invalidAttribute(name)
  return value
}
