/** A queue of SQS as the document has it. */
import { isFifoName, objectOf } from '@fantail/contracts'
import { findAccess, keptPolicy } from './access-findings.ts'
import { type Attributes, type SourceQueue, targetOf } from './aws-source.ts'
import { keptTags, sealedAttributes } from './tags-and-encryption.ts'
import type { Translation } from './translation.ts'

type Settings = Record<string, unknown>

/** Numbers by their names in SQS. */
const NUMBERS = new Map([
  ['VisibilityTimeout', 'visibilityTimeoutSeconds'],
  ['MessageRetentionPeriod', 'retentionSeconds'],
  ['DelaySeconds', 'delaySeconds'],
  ['ReceiveMessageWaitTimeSeconds', 'receiveWaitSeconds'],
  ['MaximumMessageSize', 'maximumMessageBytes'],
])
/** Read in another way, or what SQS computes. */
const OTHERS = new Set([
  ...['Policy', 'RedrivePolicy', 'RedriveAllowPolicy', 'QueueArn', 'FifoQueue', 'ContentBasedDeduplication'],
  ...['DeduplicationScope', 'FifoThroughputLimit', 'CreatedTimestamp', 'LastModifiedTimestamp'],
  ...['KmsMasterKeyId', 'KmsDataKeyReusePeriodSeconds', 'SqsManagedSseEnabled'],
  ...['', 'NotVisible', 'Delayed'].map((which) => `ApproximateNumberOfMessages${which}`),
])

export function toQueue({ arn, attributes, tags }: SourceQueue, translation: Translation): Settings {
  const kept = { tags: keptTags(arn, tags, translation.findings) }
  return attributes ? { ...settingsOf(arn, attributes, translation), ...kept } : kept
}

function settingsOf(arn: string, attributes: Attributes, translation: Translation): Settings {
  const { findings } = translation
  const numbers = [...NUMBERS].flatMap(([name, member]) =>
    attributes[name] === undefined ? [] : [[member, Number(attributes[name])] as const],
  )
  const Policy = keptPolicy('queue', arn, attributes.Policy, findings)
  findAccess('queue', arn, attributes, translation)
  for (const name of Object.keys(attributes))
    if (!NUMBERS.has(name) && !OTHERS.has(name))
      findings.add(
        { matter: 'details', what: 'lost', text: `attribute ${name}, which is not known here` },
        arn,
      )
  return {
    ...Object.fromEntries(numbers),
    redrivePolicy: redrivePolicyOf(arn, attributes.RedrivePolicy, translation),
    redriveAllowPolicy: allowPolicyOf(attributes.RedriveAllowPolicy),
    ...(isFifoName(arn) && fifoOf(attributes)),
    attributes: {
      ...(Policy !== undefined && { Policy }),
      ...sealedAttributes('queue', arn, attributes, translation),
    },
  }
}

function redrivePolicyOf(
  arn: string,
  text: string | undefined,
  { queues, findings }: Translation,
): Settings | null {
  const target = targetOf(text)
  if (text === undefined || target === undefined) return null
  if (queues.has(target)) {
    // SQS gives the number as a text, if it was set as one.
    return { deadLetterTargetArn: target, maxReceiveCount: Number(objectOf(text)?.maxReceiveCount) }
  }
  findings.add(
    {
      matter: 'messages',
      what: 'lost',
      text: `the dead-letter queue ${target} was not found, so that messages stay until they expire`,
    },
    arn,
  )
  return null
}

/** Infrastructure tools write null for a member that is not set. */
function allowPolicyOf(text: string | undefined): Settings | null {
  const policy = text === undefined ? undefined : objectOf(text)
  if (!policy) return null
  return Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== null))
}

function fifoOf({
  ContentBasedDeduplication,
  DeduplicationScope,
  FifoThroughputLimit,
}: Attributes): Settings {
  return {
    contentBasedDeduplication: ContentBasedDeduplication === 'true',
    deduplicationScope: DeduplicationScope ?? 'queue',
    ...(FifoThroughputLimit !== undefined && { fifoThroughputLimit: FifoThroughputLimit }),
  }
}
