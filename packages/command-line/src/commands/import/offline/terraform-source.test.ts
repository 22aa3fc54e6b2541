import { expect, test } from 'vitest'
import { readOffline } from './read-offline.ts'

const place = { partition: 'aws', region: 'eu-west-1', account: '111111111111' }
const read = (document: object) =>
  readOffline(JSON.stringify(document), { file: 'terraform.tfstate', place, parameters: {} })
const arn = (service: string, name: string) => `arn:aws:${service}:eu-central-1:222222222222:${name}`
const url = (name: string) => `https://sqs.eu-central-1.amazonaws.com/222222222222/${name}`

/** Members with the defaults that Terraform writes where nothing is set. */
const topic = (name: string, more: object) => ({
  ...{ arn: arn('sns', name), name, display_name: '', policy: '', delivery_policy: '', fifo_topic: false },
  ...{ content_based_deduplication: false, signature_version: 0, http_success_feedback_sample_rate: 0 },
  ...{ kms_master_key_id: null, tags: null, tags_all: {} },
  ...more,
})
const queue = (name: string, more: object) => ({
  ...{ arn: arn('sqs', name), name, url: url(name), visibility_timeout_seconds: 30, delay_seconds: 0 },
  ...{ message_retention_seconds: 345_600, receive_wait_time_seconds: 0, max_message_size: 262_144 },
  ...{ fifo_queue: false, content_based_deduplication: false, kms_data_key_reuse_period_seconds: 300 },
  ...{ redrive_policy: '', policy: '', sqs_managed_sse_enabled: true, tags: {}, tags_all: {} },
  ...more,
})
const subscribed = (more: object) => ({ isConfirmed: true, attributes: {}, ...more })
const lost = (object: string, matter: string, text: string) => ({
  object,
  finding: { matter, what: 'lost', text },
})
const NUMBERS = {
  VisibilityTimeout: '30',
  DelaySeconds: '0',
  MessageRetentionPeriod: '345600',
  ReceiveMessageWaitTimeSeconds: '0',
  MaximumMessageSize: '262144',
  SqsManagedSseEnabled: 'true',
}
const managed = (type: string, name: string, attributes: object, more: object = {}) => ({
  ...{ mode: 'managed', type, name, provider: 'provider["registry.terraform.io/hashicorp/aws"]' },
  ...{ instances: [{ schema_version: 0, attributes, ...more }] },
})

test('a state is read with modules, indexes and policies in resources of their own', () => {
  const redrive = JSON.stringify({ deadLetterTargetArn: arn('sqs', 'dead'), maxReceiveCount: 4 })
  const resources = [
    managed('aws_sns_topic', 'orders', topic('orders', { display_name: 'Orders', tags: { a: 'b' } })),
    managed(
      'aws_sns_topic',
      'fifo',
      topic('o.fifo', { fifo_topic: true, content_based_deduplication: true }),
    ),
    managed('aws_sqs_queue', 'work', queue('work', { tags_all: { team: 'blue' } }), { index_key: 'eu' }),
    { ...managed('aws_sqs_queue', 'dead', queue('dead', {})), module: 'module.letters[0]' },
    managed('aws_sqs_queue', 'f', queue('f.fifo', { fifo_queue: true, deduplication_scope: 'queue' })),
    managed('aws_sns_topic_policy', 'p', { arn: arn('sns', 'orders'), policy: '{"Statement":[]}' }),
    managed('aws_sqs_queue_policy', 'p', { queue_url: url('work'), policy: '{"Statement":[1]}' }),
    managed('aws_sqs_queue_redrive_policy', 'p', { queue_url: url('work'), redrive_policy: redrive }),
    managed('aws_sns_topic_subscription', 's', {
      ...{ topic_arn: arn('sns', 'orders'), protocol: 'sqs', endpoint: arn('sqs', 'work') },
      ...{ raw_message_delivery: true, filter_policy: '{"a":["b"]}', filter_policy_scope: 'MessageBody' },
      ...{ delivery_policy: '', redrive_policy: null, endpoint_auto_confirms: false },
    }),
    managed('aws_sns_platform_application', 'push', { name: 'push' }),
    managed('aws_sqs_queue_policy', 'other', { queue_url: url('elsewhere'), policy: '{}' }, { index_key: 0 }),
    { ...managed('aws_sns_topic', 'read', topic('read', {})), mode: 'data' },
    managed('aws_instance', 'web', { id: 'i-1' }),
  ]
  expect(read({ version: 4, terraform_version: '1.9.0', resources })).toEqual({
    topics: [
      {
        arn: arn('sns', 'orders'),
        attributes: { DisplayName: 'Orders', Policy: '{"Statement":[]}' },
        tags: { a: 'b' },
      },
      {
        arn: arn('sns', 'o.fifo'),
        attributes: { FifoTopic: 'true', ContentBasedDeduplication: 'true' },
        tags: {},
      },
    ],
    queues: [
      {
        arn: arn('sqs', 'work'),
        attributes: { ...NUMBERS, Policy: '{"Statement":[1]}', RedrivePolicy: redrive },
        tags: { team: 'blue' },
      },
      { arn: arn('sqs', 'dead'), attributes: NUMBERS, tags: {} },
      {
        arn: arn('sqs', 'f.fifo'),
        attributes: {
          ...NUMBERS,
          FifoQueue: 'true',
          ContentBasedDeduplication: 'false',
          DeduplicationScope: 'queue',
        },
        tags: {},
      },
    ],
    subscriptions: [
      subscribed({
        topicArn: arn('sns', 'orders'),
        protocol: 'sqs',
        endpoint: arn('sqs', 'work'),
        attributes: {
          RawMessageDelivery: 'true',
          FilterPolicy: '{"a":["b"]}',
          FilterPolicyScope: 'MessageBody',
        },
      }),
    ],
    unread: [],
    notes: [
      lost(
        'aws_sns_platform_application.push',
        'details',
        'resources of the type aws_sns_platform_application',
      ),
      lost('aws_sqs_queue_policy.other[0]', 'access', 'Policy of a resource that the file does not have'),
    ],
  })
})

/** A resource in the output of `terraform show -json` for a plan that has not been applied yet. */
const planned = (type: string, address: string, values: object, index?: string) => ({
  ...{ address, mode: 'managed', type, name: address.split('.').at(-1), values },
  ...(index !== undefined && { index }),
})
const change = (address: string, ...unknown: string[]) => ({
  address,
  change: { actions: ['create'], after_unknown: Object.fromEntries(unknown.map((name) => [name, true])) },
})
const configured = (address: string, members: Record<string, string[]>) => ({
  address,
  expressions: Object.fromEntries(
    Object.entries(members).map(([member, references]) => [member, { references }]),
  ),
})

test('a plan is read: references lead to what will be made, and what is not known yet is noted', () => {
  const [topicRef, queueRef] = [
    ['aws_sns_topic.orders.arn', 'aws_sns_topic.orders'],
    ['aws_sqs_queue.work', 'each.key'],
  ]
  const document = {
    format_version: '1.2',
    planned_values: {
      root_module: {
        child_modules: [
          {
            address: 'module.shop',
            resources: [
              planned('aws_sns_topic', 'module.shop.aws_sns_topic.orders', { name: 'orders' }),
              ...['a', 'b'].map((key) =>
                planned('aws_sqs_queue', `module.shop.aws_sqs_queue.work["${key}"]`, { name: key }, key),
              ),
              planned(
                'aws_sns_topic_subscription',
                'module.shop.aws_sns_topic_subscription.s["b"]',
                { protocol: 'sqs' },
                'b',
              ),
              planned('aws_sns_topic_subscription', 'module.shop.aws_sns_topic_subscription.far', {
                ...{ protocol: 'https', endpoint: 'https://example.com/' },
              }),
              planned('aws_sns_topic_subscription', 'module.shop.aws_sns_topic_subscription.filtered', {
                ...{ protocol: 'https', endpoint: 'https://example.com/', topic_arn: arn('sns', 'x') },
              }),
            ],
          },
        ],
      },
    },
    resource_changes: [
      change('module.shop.aws_sns_topic.orders', 'arn', 'policy', 'id'),
      change('module.shop.aws_sqs_queue.work["a"]', 'arn', 'url', 'redrive_policy'),
      change('module.shop.aws_sqs_queue.work["b"]', 'arn', 'url', 'policy'),
      change('module.shop.aws_sns_topic_subscription.s["b"]', 'topic_arn', 'endpoint', 'arn'),
      change('module.shop.aws_sns_topic_subscription.far', 'topic_arn', 'arn'),
      change('module.shop.aws_sns_topic_subscription.filtered', 'filter_policy'),
    ],
    configuration: {
      root_module: {
        module_calls: {
          shop: {
            module: {
              resources: [
                configured('aws_sns_topic.orders', { name: [] }),
                configured('aws_sqs_queue.work', { name: ['each.key'], redrive_policy: ['var.dead'] }),
                configured('aws_sns_topic_subscription.s', {
                  topic_arn: topicRef ?? [],
                  endpoint: queueRef ?? [],
                }),
                configured('aws_sns_topic_subscription.far', { topic_arn: ['var.topic'] }),
                configured('aws_sns_topic_subscription.filtered', { filter_policy: ['var.filter'] }),
              ],
            },
          },
        },
      },
    },
  }
  const found = read(document)
  const own = (service: string, name: string) => `arn:aws:${service}:eu-west-1:111111111111:${name}`
  expect(found.topics.map((one) => one.arn)).toEqual([own('sns', 'orders')])
  expect(found.queues.map((one) => one.arn)).toEqual([own('sqs', 'a'), own('sqs', 'b')])
  expect(found.subscriptions).toEqual([
    subscribed({ topicArn: own('sns', 'orders'), protocol: 'sqs', endpoint: own('sqs', 'b') }),
  ])
  const later = 'Terraform knows it only after `terraform apply`'
  const needs = 'a resource of the type aws_sns_topic_subscription needs'
  const at = (address: string) => `module.shop.aws_${address}`
  expect(found.notes).toEqual([
    lost(at('sns_topic_subscription.far'), 'messages', `${needs} topic_arn, and ${later}`),
    lost(at('sns_topic_subscription.filtered'), 'messages', `${needs} filter_policy, and ${later}`),
    lost(at('sqs_queue.work["a"]'), 'messages', `RedrivePolicy: ${later}`),
  ])
})

test.each(['{"version":3,"modules":[]}', '[]', 'text', '{"a":'])('%j is refused', (text) => {
  const reading = () => readOffline(text, { file: 'x.json', place, parameters: {} })
  expect(reading).toThrow(/^x\.json (is not a Terraform state|cannot be read)/)
})
