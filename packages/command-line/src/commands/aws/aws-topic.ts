/** Topics at AWS, and the SDK's clients of their region. Credentials are those that the AWS SDK finds. */
import {
  GetSubscriptionAttributesCommand,
  ListSubscriptionsByTopicCommand,
  ListTopicsCommand,
  SNSClient,
} from '@aws-sdk/client-sns'
import { SQSClient } from '@aws-sdk/client-sqs'
import { parseArn } from '@fantail/contracts'
import { matchesArn } from '@fantail/policy'
import { sideBySide } from '@fantail/store'
import type { CommandContext } from '../../frame/command-context.ts'
import { CommandError } from '../../output/exit-codes.ts'

/** The clients and the address of a region. */
interface AwsRegion {
  sns: SNSClient
  sqs: SQSClient
  /** The address of SNS. Its host is also that of the certificates and links in SNS's messages. */
  url: URL
}

export interface AwsTopic extends AwsRegion {
  arn: string
  name: string
  isFifo: boolean
}

/** The topics that an ARN names. With `*` in its name, it is a pattern of several. */
export interface AwsTopics {
  topics: AwsTopic[]
  /** The ARN or the pattern, as it was given. */
  pattern: string
  close(): void
}

export interface AwsSubscription {
  arn: string
  protocol: string
  endpoint: string
  attributes: Record<string, string>
}

/** Calls to AWS at a time. Past it: the others wait. */
export const CALLS_AT_ONCE = 8
/** Attempts of a call that AWS throttles or fails. Past it: the command fails. */
const CALL_ATTEMPTS_MAX = 10
/** Connections to SNS or SQS. A bridge of many topics waits for the messages of each queue. Past it: calls wait. */
const CONNECTIONS_MAX = 2_000

export async function openAwsTopics(
  pattern: string,
  { env, signal }: Pick<CommandContext, 'env' | 'signal'>,
) {
  const isPattern = pattern.includes('*')
  if (pattern.slice(0, pattern.lastIndexOf(':')).includes('*'))
    throw new CommandError('usage', `only the name of the topic may have *, not the rest of ${pattern}`)
  const parsed = parseArn(isPattern ? pattern.replaceAll('*', '_') : pattern)
  if (parsed?.service !== 'sns' || parsed.subscriptionId !== undefined)
    throw new CommandError('usage', `${pattern} is not the ARN of a topic`)
  const { partition, region } = parsed
  const given = env.AWS_ENDPOINT_URL_SNS ?? env.AWS_ENDPOINT_URL
  const ofQueues = env.AWS_ENDPOINT_URL_SQS ?? env.AWS_ENDPOINT_URL
  const connections = { maxSockets: CONNECTIONS_MAX }
  const config = {
    region,
    maxAttempts: CALL_ATTEMPTS_MAX,
    requestHandler: { httpAgent: connections, httpsAgent: connections },
  }
  const sns = new SNSClient({ ...config, ...(given && { endpoint: given }) })
  const sqs = new SQSClient({ ...config, ...(ofQueues && { endpoint: ofQueues }) })
  const close = () => {
    sns.destroy()
    sqs.destroy()
  }
  const url = new URL(given ?? `https://sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}`)
  try {
    const arns = isPattern ? await arnsLike(sns, pattern, signal) : [pattern]
    const topics = arns.map((arn): AwsTopic => {
      const { name = '' } = parseArn(arn) ?? {}
      return { arn, name, isFifo: name.endsWith('.fifo'), sns, sqs, url }
    })
    return { topics, pattern, close } satisfies AwsTopics
  } catch (error) {
    close()
    throw error
  }
}

async function arnsLike(sns: SNSClient, pattern: string, abortSignal: AbortSignal): Promise<string[]> {
  const listed = await allPages(async (NextToken) => {
    const page = await sns.send(new ListTopicsCommand({ NextToken }), { abortSignal })
    return { items: (page.Topics ?? []).map(({ TopicArn = '' }) => TopicArn), next: page.NextToken }
  })
  const arns = listed.filter((arn) => matchesArn(arn, [pattern])).sort()
  if (arns.length === 0) throw new CommandError('notFound', `AWS has no topic ${pattern}`)
  return arns
}

/** For flags that have a meaning for a single topic only. */
export function refuseForSeveral({ topics, pattern }: AwsTopics, flags: Record<string, unknown>): void {
  const [given] = Object.entries(flags).find(([, value]) => typeof value === 'string') ?? []
  if (given !== undefined && topics.length > 1)
    throw new CommandError(
      'usage',
      `--${given} is for one topic, and ${pattern} names ${topics.length}`,
      'Give the ARN of one of them.',
    )
}

interface Page<T> {
  items: T[]
  next: string | undefined
}

/** Everything that AWS lists, in the order of its pages. */
export async function allPages<T>(read: (token: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const all: T[] = []
  let token: string | undefined
  do {
    const { items, next } = await read(token)
    all.push(...items)
    token = next
  } while (token)
  return all
}

/** Subscriptions that SNS delivers to. Those that wait for their confirmation have no ARN yet. */
export async function confirmedSubscriptions({ sns, arn: TopicArn }: AwsTopic): Promise<AwsSubscription[]> {
  const listed = await allPages(async (NextToken) => {
    const page = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn, NextToken }))
    return { items: page.Subscriptions ?? [], next: page.NextToken }
  })
  const confirmed = listed.filter(({ SubscriptionArn = '' }) => parseArn(SubscriptionArn) !== undefined)
  return sideBySide(
    confirmed,
    CALLS_AT_ONCE,
    async ({ SubscriptionArn = '', Protocol = '', Endpoint = '' }) => {
      const { Attributes = {} } = await sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }))
      return { arn: SubscriptionArn, protocol: Protocol, endpoint: Endpoint, attributes: Attributes }
    },
  )
}
