/** Reads the topics of one region, with everything that they have. */
import {
  GetDataProtectionPolicyCommand,
  GetSubscriptionAttributesCommand,
  GetTopicAttributesCommand,
  ListPlatformApplicationsCommand,
  ListSubscriptionsByTopicCommand,
  ListSubscriptionsCommand,
  ListTagsForResourceCommand,
  ListTopicsCommand,
  type SNSClient,
  type Subscription,
} from '@aws-sdk/client-sns'
import { parseArn } from '@fantail/contracts'
import { sideBySide } from '@fantail/store'
import { allPages, CALLS_AT_ONCE } from '../../aws/aws-topic.ts'
import type { AwsCalls } from './aws-calls.ts'
import type { AwsSource, SourceSubscription, SourceTopic } from './aws-source.ts'

interface Reading {
  sns: SNSClient
  calls: AwsCalls
  /** Only topics whose names begin with it. */
  prefix: string
  signal: AbortSignal
}

type Read = Pick<AwsSource, 'topics' | 'subscriptions' | 'notes'>

export async function readTopics(reading: Reading): Promise<Read> {
  const arns = await topicArns(reading)
  const own = arns.filter((arn) => arn.slice(arn.lastIndexOf(':') + 1).startsWith(reading.prefix))
  const topics = await sideBySide(own, CALLS_AT_ONCE, (arn) => readTopic(reading, arn))
  // A topic that was deleted after it was listed must not be made here.
  const present = topics.filter(({ arn }) => !reading.calls.isGone('sns:GetTopicAttributes', arn))
  const subscriptions = await sideBySide(own, CALLS_AT_ONCE, (arn) => readSubscriptions(reading, arn))
  return {
    topics: present,
    subscriptions: [...subscriptions.flat(), ...(await foreignOf(reading, new Set(arns)))],
    notes: reading.prefix === '' ? await platformNotes(reading) : [],
  }
}

async function topicArns({ sns, calls, signal }: Reading): Promise<string[]> {
  return allPages(async (NextToken) => {
    const page = await calls.ask('sns:ListTopics', undefined, () =>
      sns.send(new ListTopicsCommand({ NextToken }), { abortSignal: signal }),
    )
    return { items: (page?.Topics ?? []).map(({ TopicArn = '' }) => TopicArn), next: page?.NextToken }
  })
}

async function readTopic({ sns, calls, signal }: Reading, TopicArn: string): Promise<SourceTopic> {
  const options = { abortSignal: signal }
  const attributes = await calls.ask('sns:GetTopicAttributes', TopicArn, () =>
    sns.send(new GetTopicAttributesCommand({ TopicArn }), options),
  )
  const tags = await calls.ask('sns:ListTagsForResource', TopicArn, () =>
    sns.send(new ListTagsForResourceCommand({ ResourceArn: TopicArn }), options),
  )
  // SNS has these policies for standard topics only.
  const protection = TopicArn.endsWith('.fifo')
    ? undefined
    : await calls.ask('sns:GetDataProtectionPolicy', TopicArn, () =>
        sns.send(new GetDataProtectionPolicyCommand({ ResourceArn: TopicArn }), options),
      )
  const { DataProtectionPolicy } = protection ?? {}
  const isProtectionUnread =
    !TopicArn.endsWith('.fifo') && !protection && !calls.isGone('sns:GetDataProtectionPolicy', TopicArn)
  return {
    arn: TopicArn,
    ...(isProtectionUnread && { isProtectionUnread }),
    attributes: attributes && {
      ...attributes.Attributes,
      ...(DataProtectionPolicy && { DataProtectionPolicy }),
    },
    tags: tags && Object.fromEntries((tags.Tags ?? []).map(({ Key = '', Value = '' }) => [Key, Value])),
  }
}

async function readSubscriptions(reading: Reading, TopicArn: string): Promise<SourceSubscription[]> {
  const { sns, calls, signal } = reading
  const listed = await allPages(async (NextToken) => {
    const page = await calls.ask('sns:ListSubscriptionsByTopic', TopicArn, () =>
      sns.send(new ListSubscriptionsByTopicCommand({ TopicArn, NextToken }), { abortSignal: signal }),
    )
    return { items: page?.Subscriptions ?? [], next: page?.NextToken }
  })
  return sideBySide(listed, CALLS_AT_ONCE, (subscription) => readSubscription(reading, subscription))
}

async function readSubscription(
  { sns, calls, signal }: Reading,
  subscription: Subscription,
): Promise<SourceSubscription> {
  const { SubscriptionArn = '' } = subscription
  const known = named(subscription)
  if (!known.isConfirmed) return known
  const answer = await calls.ask('sns:GetSubscriptionAttributes', SubscriptionArn, () =>
    sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }), { abortSignal: signal }),
  )
  return { ...known, attributes: answer?.Attributes }
}

/** Instead of an ARN, a subscription that is not confirmed has a word, such as `PendingConfirmation`. */
function named({ SubscriptionArn, TopicArn, Protocol, Endpoint }: Subscription): SourceSubscription {
  return {
    topicArn: TopicArn ?? '',
    protocol: Protocol ?? '',
    endpoint: Endpoint ?? '',
    isConfirmed: parseArn(SubscriptionArn ?? '')?.subscriptionId !== undefined,
    attributes: undefined,
  }
}

/** Subscriptions that the account has to topics that are not its own. The topics do not list them to it. */
async function foreignOf(
  { sns, calls, prefix, signal }: Reading,
  own: ReadonlySet<string>,
): Promise<SourceSubscription[]> {
  if (prefix !== '') return []
  const listed = await allPages(async (NextToken) => {
    const page = await calls.ask('sns:ListSubscriptions', undefined, () =>
      sns.send(new ListSubscriptionsCommand({ NextToken }), { abortSignal: signal }),
    )
    return { items: page?.Subscriptions ?? [], next: page?.NextToken }
  })
  return listed.filter(({ TopicArn = '' }) => !own.has(TopicArn)).map(named)
}

/** SNS shows no credentials, so nothing of mobile push can come over. */
async function platformNotes({ sns, calls, signal }: Reading): Promise<AwsSource['notes']> {
  const arns = await allPages(async (NextToken) => {
    const page = await calls.ask('sns:ListPlatformApplications', undefined, () =>
      sns.send(new ListPlatformApplicationsCommand({ NextToken }), { abortSignal: signal }),
    )
    const items = (page?.PlatformApplications ?? []).map(
      ({ PlatformApplicationArn = '' }) => PlatformApplicationArn,
    )
    return { items, next: page?.NextToken }
  })
  const finding = {
    matter: 'messages',
    what: 'lost',
    text: 'platform applications and their devices, because SNS shows no credentials',
    remedy: 'make them by `fantail apps set APP` (docs/guides/mobile-push.md)',
  } as const
  return arns.map((object) => ({ object, finding }))
}
