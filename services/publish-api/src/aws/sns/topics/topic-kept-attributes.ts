/** Attributes of a topic that are stored and shown as given (checklist 116, 200), each with its check. */
import { objectOf } from '@fantail/contracts'

interface KeptAttribute {
  /** The problem of the text, with the attribute's name. undefined: there is none. */
  problem(text: string): string | undefined
  fifoOnly?: true
  /** GetTopicAttributes does not return it, because another operation does. */
  hidden?: true
}

const MESSAGE_BYTES_BOUNDS = [1_024, 1_048_576] as const
/** @limit Days of an `ArchivePolicy`, which is kept and not acted on. Past it: the policy is refused. */
const ARCHIVE_DAYS_MAX = 365
/** @limit A `DataProtectionPolicy`, which is kept and not acted on. Past it: the policy is refused. */
const DATA_PROTECTION_BYTES_MAX = 30_720
/** Kinds of subscribers that AWS can log deliveries to. */
const LOGGED = ['HTTP', 'Firehose', 'Lambda', 'Application', 'SQS']

const anything: KeptAttribute = { problem: () => undefined }

export const KEPT_ATTRIBUTES: Record<string, KeptAttribute> = {
  SignatureVersion: oneOf('SignatureVersion', ['1', '2']),
  TracingConfig: oneOf('TracingConfig', ['PassThrough', 'Active']),
  KmsMasterKeyId: anything,
  MaximumMessageSize: { problem: sizeProblem },
  ArchivePolicy: { problem: archiveProblem, fifoOnly: true },
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
