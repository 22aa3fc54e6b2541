/** Everything that an AWS client sees of topics, subscriptions and queues, in a form in which two servers compare. */
import {
  GetSubscriptionAttributesCommand,
  GetTopicAttributesCommand,
  ListTagsForResourceCommand,
  paginateListSubscriptionsByTopic,
  paginateListTopics,
  type SNSClient,
  type Subscription,
} from '@aws-sdk/client-sns'
import {
  GetQueueAttributesCommand,
  ListQueueTagsCommand,
  paginateListQueues,
  type SQSClient,
} from '@aws-sdk/client-sqs'

type Texts = Record<string, string>
type Shown = Record<string, unknown>

interface AccountSnapshot {
  /** By ARN. */
  topics: Record<string, Shown>
  /** By topic, protocol and endpoint. Confirmed ones only. */
  subscriptions: Record<string, Shown>
  /** By ARN. */
  queues: Record<string, Shown>
}

/** Each server computes these by itself. */
const COMPUTED =
  /^(Subscriptions(Confirmed|Pending|Deleted)|SubscriptionArn|SubscriptionPrincipal|ConfirmationWasAuthenticated|CreatedTimestamp|LastModifiedTimestamp|ApproximateNumberOfMessages.*)$/

export async function snapshotOf({ sns, sqs }: { sns: SNSClient; sqs: SQSClient }): Promise<AccountSnapshot> {
  const snapshot: AccountSnapshot = { topics: {}, subscriptions: {}, queues: {} }
  for await (const { Topics = [] } of paginateListTopics({ client: sns }, {}))
    await Promise.all(Topics.map(({ TopicArn = '' }) => addTopic(sns, TopicArn, snapshot)))
  for await (const { QueueUrls = [] } of paginateListQueues({ client: sqs, pageSize: 1_000 }, {}))
    await Promise.all(QueueUrls.map((url) => addQueue(sqs, url, snapshot)))
  return snapshot
}

async function addTopic(sns: SNSClient, TopicArn: string, snapshot: AccountSnapshot): Promise<void> {
  const { Attributes } = await sns.send(new GetTopicAttributesCommand({ TopicArn }))
  const { Tags = [] } = await sns.send(new ListTagsForResourceCommand({ ResourceArn: TopicArn }))
  const tags = Object.fromEntries(Tags.map(({ Key = '', Value = '' }) => [Key, Value]))
  snapshot.topics[TopicArn] = { ...shown(Attributes), tags }
  for await (const { Subscriptions = [] } of paginateListSubscriptionsByTopic({ client: sns }, { TopicArn }))
    await Promise.all(Subscriptions.map((one) => addSubscription(sns, one, snapshot)))
}

async function addSubscription(
  sns: SNSClient,
  { SubscriptionArn = '', TopicArn, Protocol, Endpoint }: Subscription,
  { subscriptions }: AccountSnapshot,
): Promise<void> {
  if (!SubscriptionArn.startsWith('arn:')) return
  const { Attributes } = await sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }))
  subscriptions[`${TopicArn} ${Protocol} ${Endpoint}`] = shown(Attributes)
}

async function addQueue(sqs: SQSClient, QueueUrl: string, snapshot: AccountSnapshot): Promise<void> {
  const AttributeNames = ['All' as const]
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }))
  const { Tags: tags = {} } = await sqs.send(new ListQueueTagsCommand({ QueueUrl }))
  snapshot.queues[Attributes?.QueueArn ?? QueueUrl] = { ...shown(Attributes), tags }
}

/** JSON texts are compared by their values. */
function shown(attributes: Texts = {}): Shown {
  const compared = Object.entries(attributes).filter(([name, text]) => !COMPUTED.test(name) && text !== '')
  return Object.fromEntries(compared.map(([name, text]) => [name, parsed(text)]))
}

function parsed(text: string): unknown {
  return /^[{[]/.test(text) ? JSON.parse(text) : text
}
