/**
 * The source of an import from SNS and SQS, as AWS names it: attributes are texts by AWS's names. A live account gives
 * it (read-aws.ts), and so can files that describe an account. Nothing here needs the AWS SDK.
 */
import { objectOf } from '@fantail/contracts'
import type { Finding } from '../plan/findings.ts'

export type Attributes = Record<string, string>

export interface SourceTopic {
  arn: string
  /** undefined: they could not be read. */
  attributes: Attributes | undefined
  /** The data protection policy could not be read. Any other attribute is in `attributes`. */
  isProtectionUnread?: boolean
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
export interface SourceNote {
  finding: Omit<Finding, 'objects'>
  object: string
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

/** The queues that the topics deliver to, and their dead-letter queues. */
export function queuesBehind({ subscriptions, queues }: AwsSource): AwsSource['queues'] {
  const byArn = new Map(queues.map((queue) => [queue.arn, queue]))
  const behind = new Set<string>()
  const add = (arn: string | undefined) => {
    const queue = arn === undefined ? undefined : byArn.get(arn)
    if (!queue || behind.has(queue.arn)) return
    behind.add(queue.arn)
    add(targetOf(queue.attributes?.RedrivePolicy))
  }
  for (const { endpoint, attributes } of subscriptions) {
    add(endpoint)
    add(targetOf(attributes?.RedrivePolicy))
  }
  return queues.filter(({ arn }) => behind.has(arn))
}
