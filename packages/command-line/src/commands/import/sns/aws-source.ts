/**
 * The source of an import from SNS and SQS, as AWS names it: attributes are texts by AWS's names. A live account gives
 * it (read-aws.ts), and so can files that describe an account. Nothing here needs the AWS SDK.
 */
import { objectOf } from '@fantail/contracts'

export type Attributes = Record<string, string>

export interface SourceTopic {
  arn: string
  /** undefined: they could not be read. */
  attributes: Attributes | undefined
  tags: Record<string, string> | undefined
}

export interface SourceSubscription {
  /** It may be a topic of another account. */
  topicArn: string
  protocol: string
  endpoint: string
  /** false: the endpoint has not confirmed, so that AWS sends it nothing. */
  isConfirmed: boolean
  /** undefined: they could not be read. */
  attributes: Attributes | undefined
}

export interface SourceQueue {
  arn: string
  /** undefined: they could not be read. */
  attributes: Attributes | undefined
  tags: Record<string, string> | undefined
}

/** Calls that AWS refused, for example by an IAM policy. */
interface UnreadCall {
  /** `sns:ListTagsForResource`. */
  call: string
  /** The error code of AWS. */
  code: string
  /** Names of the things that the calls asked about. Empty: the call lists things. */
  objects: string[]
}

/** Something that the source has, but that cannot be imported as it is. */
interface SourceNote {
  object: string
  text: string
}

export interface AwsSource {
  topics: SourceTopic[]
  subscriptions: SourceSubscription[]
  queues: SourceQueue[]
  unread: UnreadCall[]
  notes: SourceNote[]
}

/** The queue that the text of a redrive policy names. */
export function targetOf(policy: string | undefined): string | undefined {
  const target = policy === undefined ? undefined : objectOf(policy)?.deadLetterTargetArn
  return typeof target === 'string' ? target : undefined
}
