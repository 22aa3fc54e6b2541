/** A topic's attributes by the SDK's client. */
import {
  CreateTopicCommand,
  GetDataProtectionPolicyCommand,
  GetTopicAttributesCommand,
  PutDataProtectionPolicyCommand,
  SetTopicAttributesCommand,
  SubscribeCommand,
  UnsubscribeCommand,
} from '@aws-sdk/client-sns'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCOUNT, queueArn, refusalOf, type SnsApi, startSnsApi, topicArn } from '../sns.fixture.ts'

const TOPIC = topicArn('orders')
const FIFO = topicArn('orders.fifo')
let sns: SnsApi

beforeAll(async () => {
  sns = await startSnsApi()
  await sns.client.send(new CreateTopicCommand({ Name: 'orders' }))
  await sns.client.send(new CreateTopicCommand({ Name: 'orders.fifo', Attributes: { FifoTopic: 'true' } }))
})

afterAll(() => sns.stop())

const get = async (TopicArn = TOPIC) =>
  (await sns.client.send(new GetTopicAttributesCommand({ TopicArn }))).Attributes ?? {}
const set = (AttributeName: string, AttributeValue: string | undefined, TopicArn = TOPIC) =>
  sns.client.send(new SetTopicAttributesCommand({ TopicArn, AttributeName, AttributeValue }))
const refused = (message: string) => ({ name: 'InvalidParameterException', status: 400, message })

test('[115][116] a standard topic shows what every topic has, and nothing else', async () => {
  const attributes = await get()
  expect(Object.keys(attributes).sort()).toEqual([
    'DisplayName',
    'EffectiveDeliveryPolicy',
    'Owner',
    'Policy',
    'SubscriptionsConfirmed',
    'SubscriptionsDeleted',
    'SubscriptionsPending',
    'TopicArn',
  ])
  expect(attributes).toMatchObject({ TopicArn: TOPIC, Owner: ACCOUNT, DisplayName: '' })
  expect(JSON.parse(attributes.Policy ?? '')).toEqual({
    Version: '2008-10-17',
    Id: '__default_policy_ID',
    Statement: [
      {
        Sid: '__default_statement_ID',
        Effect: 'Allow',
        Principal: { AWS: '*' },
        Action: [
          'SNS:GetTopicAttributes',
          'SNS:SetTopicAttributes',
          'SNS:AddPermission',
          'SNS:RemovePermission',
          'SNS:DeleteTopic',
          'SNS:Subscribe',
          'SNS:ListSubscriptionsByTopic',
          'SNS:Publish',
        ],
        Resource: TOPIC,
        Condition: { StringEquals: { 'AWS:SourceOwner': ACCOUNT } },
      },
    ],
  })
})

test('[115] a FIFO topic says so, and how it deduplicates', async () => {
  expect(await get(FIFO)).toMatchObject({ FifoTopic: 'true', ContentBasedDeduplication: 'false' })
  await set('ContentBasedDeduplication', 'true', FIFO)
  await set('FifoThroughputScope', 'MessageGroup', FIFO)
  expect(await get(FIFO)).toMatchObject({
    ContentBasedDeduplication: 'true',
    FifoThroughputScope: 'MessageGroup',
    EffectiveDeliveryPolicy: expect.stringContaining('defaultHealthyRetryPolicy'),
  })
  await set('ContentBasedDeduplication', 'false', FIFO)
  expect(await get(FIFO)).toMatchObject({ ContentBasedDeduplication: 'false' })
})

test('[109][194] an unknown topic is NotFound with 404', async () => {
  const missing = { name: 'NotFoundException', status: 404, message: 'Topic does not exist' }
  expect(await refusalOf(get(topicArn('none')))).toEqual(missing)
  expect(await refusalOf(set('DisplayName', 'x', topicArn('none')))).toEqual(missing)
})

test('[108] the kind of a topic cannot be set, nor what there is not', async () => {
  for (const [name, arn] of [
    ['FifoTopic', TOPIC],
    ['FifoTopic', FIFO],
    ['Colour', TOPIC],
    ['TopicArn', TOPIC],
    ['DataProtectionPolicy', TOPIC],
    ['__proto__', TOPIC],
    ['constructor', TOPIC],
    ['toString', TOPIC],
    ['', TOPIC],
  ] as const) {
    expect([name, await refusalOf(set(name, 'true', arn))]).toEqual([
      name,
      refused('Invalid parameter: AttributeName'),
    ])
  }
})

test.each([
  ['DisplayName', 'Orders & <more>'],
  ['SignatureVersion', '2'],
  ['TracingConfig', 'Active'],
  ['KmsMasterKeyId', 'alias/aws/sns'],
  ['MaximumMessageSize', '1048576'],
  ['HTTPSuccessFeedbackRoleArn', 'arn:aws:iam::000000000000:role/r'],
  ['SQSFailureFeedbackRoleArn', 'arn:aws:iam::000000000000:role/r'],
  ['LambdaSuccessFeedbackSampleRate', '0'],
])('%s is kept, shown, and taken away again by an empty value', async (name, value) => {
  const before = (await get())[name]
  await set(name, value)
  expect((await get())[name]).toBe(value)
  await set(name, '')
  expect((await get())[name]).toBe(before)
})

test('an attribute without a value is one with an empty value', async () => {
  await set('KmsMasterKeyId', 'key')
  await set('KmsMasterKeyId', undefined)
  expect(await get()).not.toHaveProperty('KmsMasterKeyId')
})

test.each([
  ['SignatureVersion', '3'],
  ['TracingConfig', 'On'],
  ['MaximumMessageSize', '1023'],
  ['MaximumMessageSize', '1048577'],
  ['MaximumMessageSize', '1e5'],
  ['DisplayName', 'x'.repeat(101)],
  ['ContentBasedDeduplication', 'true'],
  ['FifoThroughputScope', 'Topic'],
  ['ArchivePolicy', '{"MessageRetentionPeriod":"1"}'],
  ['Policy', '{'],
  ['Policy', '[]'],
  ['Policy', '{"Statement":[null]}'],
  ['Policy', '{"Statement":{"Effect":"deny","Principal":"*","Action":"SNS:*"}}'],
])('%s %.20s is refused and changes nothing', async (name, value) => {
  const before = await get()
  expect(await refusalOf(set(name, value))).toMatchObject({ name: 'InvalidParameterException', status: 400 })
  expect(await get()).toEqual(before)
})

test.each([
  ['ContentBasedDeduplication', 'maybe'],
  ['FifoThroughputScope', 'Queue'],
  ['ArchivePolicy', '{"MessageRetentionPeriod":"366"}'],
  ['ArchivePolicy', '{"MessageRetentionPeriod":"0"}'],
  ['ArchivePolicy', '{"Other":"1"}'],
  ['ArchivePolicy', 'x'],
])('a FIFO topic’s %s %.30s is refused', async (name, value) => {
  expect((await refusalOf(set(name, value, FIFO))).name).toBe('InvalidParameterException')
})

test('[200] a sample rate is a whole number from 0 to 100', async () => {
  const name = 'HTTPSuccessFeedbackSampleRate'
  for (const rate of ['0', '100']) {
    await set(name, rate)
    expect((await get())[name]).toBe(rate)
  }
  for (const rate of ['500', '-1', '1.5', 'all']) {
    const text = `${name}: ${rate} value provided is not an integer between 0-100`
    expect(await refusalOf(set(name, rate))).toEqual(refused(`Invalid parameter: ${text}`))
    const create = new CreateTopicCommand({ Name: 'rated', Attributes: { [name]: rate } })
    expect(await refusalOf(sns.client.send(create))).toEqual(
      refused(`Invalid parameter: Attributes Reason: ${text}`),
    )
  }
})

test('a given policy is shown unchanged; other services’ actions are refused', async () => {
  const statement = {
    Sid: 's',
    Effect: 'Allow',
    Principal: '*',
    Action: ['sns:Publish', 'SNS:*'],
    Resource: TOPIC,
  }
  const policy = JSON.stringify({ Version: '2012-10-17', Statement: statement })
  await set('Policy', policy)
  expect((await get()).Policy).toBe(policy)
  const text = 'Policy statement action out of service scope!'
  for (const Action of ['s3:GetObject', 'SNS:Fly', 'Publish', ['SNS:Publish', 'sqs:SendMessage'], 7]) {
    const Policy = JSON.stringify({ Statement: [{ ...statement, Action }] })
    expect(await refusalOf(set('Policy', Policy))).toEqual(refused(`Invalid parameter: ${text}`))
    const create = new CreateTopicCommand({ Name: 'policed', Attributes: { Policy } })
    expect(await refusalOf(sns.client.send(create))).toEqual(
      refused(`Invalid parameter: Attributes Reason: ${text}`),
    )
  }
  expect((await get()).Policy).toBe(policy)
  await set('Policy', '')
  expect((await get()).Policy).toContain('__default_policy_ID')
})

test('a version of the signature turns signing on, also on a native topic', async () => {
  await sns.api.call('PUT', '/v1/topics/native')
  await set('SignatureVersion', '', topicArn('native'))
  expect((await sns.api.deps.topics.get(topicArn('native')))?.signing).toBe('none')
  await set('SignatureVersion', '2', topicArn('native'))
  expect(await sns.api.deps.topics.get(topicArn('native'))).toMatchObject({
    signing: 'sns',
    attributes: { SignatureVersion: '2' },
  })
})

test('subscriptions are counted: confirmed, pending and deleted', async () => {
  const TopicArn = topicArn('counted')
  await sns.client.send(new CreateTopicCommand({ Name: 'counted' }))
  const subscribe = async (Protocol: string, Endpoint: string) =>
    (await sns.client.send(new SubscribeCommand({ TopicArn, Protocol, Endpoint }))).SubscriptionArn
  const first = await subscribe('sqs', queueArn('a'))
  await subscribe('sqs', queueArn('b'))
  await subscribe('https', 'https://example.com/')
  const counts = async () => {
    const { SubscriptionsConfirmed, SubscriptionsPending, SubscriptionsDeleted } = await get(TopicArn)
    return [SubscriptionsConfirmed, SubscriptionsPending, SubscriptionsDeleted]
  }
  expect(await counts()).toEqual(['2', '1', '0'])
  await sns.client.send(new UnsubscribeCommand({ SubscriptionArn: first }))
  expect(await counts()).toEqual(['1', '1', '1'])
})

test('a data protection policy is kept beside the attributes', async () => {
  const ResourceArn = topicArn('protected')
  const DataProtectionPolicy = '{"Name":"p","Version":"2021-06-01","Statement":[]}'
  const read = async () =>
    (await sns.client.send(new GetDataProtectionPolicyCommand({ ResourceArn }))).DataProtectionPolicy
  const put = (text: string) =>
    sns.client.send(new PutDataProtectionPolicyCommand({ ResourceArn, DataProtectionPolicy: text }))
  expect(await refusalOf(read())).toMatchObject({ name: 'NotFoundException' })
  expect(await refusalOf(put('{}'))).toMatchObject({ name: 'NotFoundException' })
  await sns.client.send(new CreateTopicCommand({ Name: 'protected', DataProtectionPolicy }))
  expect(await read()).toBe(DataProtectionPolicy)
  expect(await get(ResourceArn)).not.toHaveProperty('DataProtectionPolicy')
  await put('{"Name":"q"}')
  expect(await read()).toBe('{"Name":"q"}')
  for (const text of ['x', `{"Name":"${'x'.repeat(30_720)}"}`]) {
    expect((await refusalOf(put(text))).name).toBe('InvalidParameterException')
  }
  await put('')
  expect(await read()).toBe('')
})
