/** The properties of CloudFormation's resources that are attributes of topics, subscriptions and queues. */
import type { Attributes } from '../sns/aws-source.ts'

/** Properties that are attributes of the same name. */
export const sameNames = (names: string[]): Attributes =>
  Object.fromEntries(names.map((name) => [name, name]))

export const TOPIC = sameNames([
  ...['DisplayName', 'FifoTopic', 'ContentBasedDeduplication', 'FifoThroughputScope', 'KmsMasterKeyId'],
  ...['SignatureVersion', 'TracingConfig', 'ArchivePolicy', 'DataProtectionPolicy', 'DeliveryPolicy'],
])
export const SUBSCRIPTION = sameNames([
  ...['FilterPolicy', 'FilterPolicyScope', 'RawMessageDelivery', 'RedrivePolicy', 'DeliveryPolicy'],
  ...['SubscriptionRoleArn', 'ReplayPolicy'],
])
export const QUEUE = sameNames([
  ...['VisibilityTimeout', 'MessageRetentionPeriod', 'MaximumMessageSize', 'DelaySeconds'],
  ...['ReceiveMessageWaitTimeSeconds', 'RedrivePolicy', 'RedriveAllowPolicy', 'FifoQueue'],
  ...['ContentBasedDeduplication', 'DeduplicationScope', 'FifoThroughputLimit', 'KmsMasterKeyId'],
  ...['KmsDataKeyReusePeriodSeconds', 'SqsManagedSseEnabled'],
])

/** Policies of topics and queues as resources of their own: the property that lists them. */
export const POLICIES = new Map([
  ['AWS::SNS::TopicPolicy', 'Topics'],
  ['AWS::SNS::TopicInlinePolicy', 'TopicArn'],
  ['AWS::SQS::QueuePolicy', 'Queues'],
  ['AWS::SQS::QueueInlinePolicy', 'Queue'],
])
