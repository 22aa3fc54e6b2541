/** A topic at AWS, and the SDK's clients of its region. Credentials are those that the AWS SDK finds. */
import {
  GetSubscriptionAttributesCommand,
  ListSubscriptionsByTopicCommand,
  SNSClient,
} from '@aws-sdk/client-sns'
import { SQSClient } from '@aws-sdk/client-sqs'
import { parseArn } from '@fantail/contracts'
import type { CommandContext } from '../../frame/command-context.ts'
import { CommandError } from '../../output/exit-codes.ts'

export interface AwsTopic {
  arn: string
  name: string
  isFifo: boolean
  sns: SNSClient
  sqs: SQSClient
  /** The address of SNS. Its host is also that of the certificates and links in SNS's messages. */
  url: URL
  close(): void
}

export interface AwsSubscription {
  arn: string
  protocol: string
  endpoint: string
  attributes: Record<string, string>
}

export function openAwsTopic(arn: string, { env }: Pick<CommandContext, 'env'>): AwsTopic {
  const parsed = parseArn(arn)
  if (parsed?.service !== 'sns' || parsed.subscriptionId !== undefined)
    throw new CommandError('usage', `${arn} is not the ARN of a topic`)
  const { partition, region, name } = parsed
  const given = env.AWS_ENDPOINT_URL_SNS ?? env.AWS_ENDPOINT_URL
  const ofQueues = env.AWS_ENDPOINT_URL_SQS ?? env.AWS_ENDPOINT_URL
  const sns = new SNSClient({ region, ...(given && { endpoint: given }) })
  const sqs = new SQSClient({ region, ...(ofQueues && { endpoint: ofQueues }) })
  const close = () => {
    sns.destroy()
    sqs.destroy()
  }
  const url = new URL(given ?? `https://sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}`)
  return { arn, name, isFifo: name.endsWith('.fifo'), sns, sqs, url, close }
}

/** Subscriptions that SNS delivers to. Those that wait for their confirmation have no ARN yet. */
export async function confirmedSubscriptions({ sns, arn }: AwsTopic): Promise<AwsSubscription[]> {
  const found: AwsSubscription[] = []
  let NextToken: string | undefined
  do {
    const page = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn: arn, NextToken }))
    for (const { SubscriptionArn = '', Protocol = '', Endpoint = '' } of page.Subscriptions ?? []) {
      if (parseArn(SubscriptionArn) === undefined) continue
      const { Attributes = {} } = await sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }))
      found.push({ arn: SubscriptionArn, protocol: Protocol, endpoint: Endpoint, attributes: Attributes })
    }
    ;({ NextToken } = page)
  } while (NextToken !== undefined)
  return found
}
