/**
 * Attributes of topics in SNS's API that have no setting of their own. Fantail only stores them, and shows them as they
 * were given (checklist 116, 200). Both APIs check them here.
 */
import { ARCHIVE_DAYS_MAX, isFifoName, objectOf } from '@fantail/contracts'
import { topicPolicyProblem } from '@fantail/policy'

interface StoredOnlyAttribute {
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
/** @limit A `DataProtectionPolicy`, which is only stored. Past it: the policy is refused. */
const DATA_PROTECTION_BYTES_MAX = 30_720
/** Kinds of subscribers that AWS can log deliveries to. */
const LOGGED = ['HTTP', 'Firehose', 'Lambda', 'Application', 'SQS']

const anything: StoredOnlyAttribute = { problem: () => undefined }

const ATTRIBUTES: Record<string, StoredOnlyAttribute> = {
  Policy: { problem: topicPolicyProblem, hidden: true },
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

export const STORED_ONLY_ATTRIBUTES: readonly string[] = Object.keys(ATTRIBUTES)

function attributeOf(name: string): StoredOnlyAttribute | undefined {
  return Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name] : undefined
}

/** In SNS's words. undefined: the topic may have the attribute. An empty text removes it. */
export function storedOnlyProblem(arn: string, name: string, text: string): string | undefined {
  const attribute = attributeOf(name)
  if (!attribute) return 'AttributeName'
  if (attribute.fifoOnly && !isFifoName(arn)) return `${name} can only be set for FIFO topics`
  return text === '' && !attribute.needsText ? undefined : attribute.problem(text)
}

/** The archive that an ArchivePolicy asks for. null: it ends. The text was checked before. */
export function archiveOf(text: string): { days: number } | null {
  return isEmptyObject(text) ? null : { days: Number(objectOf(text)?.MessageRetentionPeriod) }
}

/** Whether the text removes the attribute. */
export function removesStoredOnly(name: string, text: string): boolean {
  return text === '' || attributeOf(name)?.isEmpty?.(text) === true
}

/** Whether GetTopicAttributes leaves the attribute out of what it shows as given. */
export function isHiddenAttribute(name: string): boolean {
  return attributeOf(name)?.hidden === true
}

function isEmptyObject(text: string): boolean {
  const value = objectOf(text)
  return value !== undefined && Object.keys(value).length === 0
}

function oneOf(name: string, values: string[]): StoredOnlyAttribute {
  const problem = (text: string) =>
    values.includes(text)
      ? undefined
      : `${name}: Invalid value [${text}]. Please use either ${values.join(' or ')}`
  return { problem }
}

function feedbackAttributes(kind: string): [string, StoredOnlyAttribute][] {
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
