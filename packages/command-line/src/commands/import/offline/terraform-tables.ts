/** The members of Terraform's resources that are attributes of topics, subscriptions and queues. */
import type { Attributes } from '../sns/aws-source.ts'
import { LOGGED_KINDS } from './offline-source.ts'

const FEEDBACK = [...LOGGED_KINDS].flatMap(([kind, name]) => [
  [`${kind}_success_feedback_role_arn`, `${name}SuccessFeedbackRoleArn`],
  [`${kind}_failure_feedback_role_arn`, `${name}FailureFeedbackRoleArn`],
  [`${kind}_success_feedback_sample_rate`, `${name}SuccessFeedbackSampleRate`],
])

export const TOPIC: Attributes = {
  display_name: 'DisplayName',
  policy: 'Policy',
  delivery_policy: 'DeliveryPolicy',
  fifo_topic: 'FifoTopic',
  content_based_deduplication: 'ContentBasedDeduplication',
  fifo_throughput_scope: 'FifoThroughputScope',
  kms_master_key_id: 'KmsMasterKeyId',
  signature_version: 'SignatureVersion',
  tracing_config: 'TracingConfig',
  archive_policy: 'ArchivePolicy',
  ...Object.fromEntries(FEEDBACK),
}

const SUBSCRIPTION: Attributes = {
  raw_message_delivery: 'RawMessageDelivery',
  filter_policy: 'FilterPolicy',
  filter_policy_scope: 'FilterPolicyScope',
  delivery_policy: 'DeliveryPolicy',
  redrive_policy: 'RedrivePolicy',
  replay_policy: 'ReplayPolicy',
  subscription_role_arn: 'SubscriptionRoleArn',
}

const QUEUE: Attributes = {
  visibility_timeout_seconds: 'VisibilityTimeout',
  message_retention_seconds: 'MessageRetentionPeriod',
  max_message_size: 'MaximumMessageSize',
  delay_seconds: 'DelaySeconds',
  receive_wait_time_seconds: 'ReceiveMessageWaitTimeSeconds',
  policy: 'Policy',
  redrive_policy: 'RedrivePolicy',
  redrive_allow_policy: 'RedriveAllowPolicy',
  fifo_queue: 'FifoQueue',
  content_based_deduplication: 'ContentBasedDeduplication',
  deduplication_scope: 'DeduplicationScope',
  fifo_throughput_limit: 'FifoThroughputLimit',
  kms_master_key_id: 'KmsMasterKeyId',
  kms_data_key_reuse_period_seconds: 'KmsDataKeyReusePeriodSeconds',
  sqs_managed_sse_enabled: 'SqsManagedSseEnabled',
}

export const TABLES = new Map([
  ['aws_sns_topic', TOPIC],
  ['aws_sqs_queue', QUEUE],
  ['aws_sns_topic_subscription', SUBSCRIPTION],
])

/** Resources that set one attribute of a topic or queue: the member that names it, and the attribute. */
export const PARTS = new Map([
  ['aws_sns_topic_policy', { of: 'arn', member: 'policy', attribute: 'Policy' }],
  [
    'aws_sns_topic_data_protection_policy',
    { of: 'arn', member: 'policy', attribute: 'DataProtectionPolicy' },
  ],
  ['aws_sqs_queue_policy', { of: 'queue_url', member: 'policy', attribute: 'Policy' }],
  ['aws_sqs_queue_redrive_policy', { of: 'queue_url', member: 'redrive_policy', attribute: 'RedrivePolicy' }],
  [
    'aws_sqs_queue_redrive_allow_policy',
    {
      of: 'queue_url',
      member: 'redrive_allow_policy',
      attribute: 'RedriveAllowPolicy',
    },
  ],
])

/** Members without which a resource is not imported. */
export const NEEDED = new Map<string, readonly string[]>([
  ['aws_sns_topic', ['name']],
  ['aws_sqs_queue', ['name']],
  ['aws_sns_topic_subscription', ['topic_arn', 'protocol', 'endpoint']],
  ...[...PARTS].map(([type, { of, member }]) => [type, [of, member]] as const),
])
