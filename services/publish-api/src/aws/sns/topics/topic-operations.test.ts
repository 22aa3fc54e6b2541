/** Topics by the SDK's client. */
import {
  CreateTopicCommand,
  type CreateTopicCommandInput,
  DeleteTopicCommand,
  GetTopicAttributesCommand,
  ListSubscriptionsByTopicCommand,
  ListSubscriptionsCommand,
  ListTopicsCommand,
  PublishCommand,
  type SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCOUNT, queueArn, refusalOf, type SnsApi, startSnsApi, topicArn } from '../sns.fixture.ts'

let sns: SnsApi

beforeAll(async () => {
  sns = await startSnsApi()
})

afterAll(() => sns.stop())

type Given = Record<string, string>

const create = (input: CreateTopicCommandInput, client: SNSClient = sns.client) =>
  client.send(new CreateTopicCommand(input))
const remove = (TopicArn: string) => sns.client.send(new DeleteTopicCommand({ TopicArn }))
const attributesOf = async (TopicArn: string) =>
  (await sns.client.send(new GetTopicAttributesCommand({ TopicArn }))).Attributes ?? {}
const refused = (message: string) => ({ name: 'InvalidParameterException', status: 400, message })
const MISMATCH = refused(
  'Invalid parameter: Attributes Reason: Topic already exists with different attributes',
)

test('[103] the same name answers the same ARN', async () => {
  for (let i = 0; i < 2; i++) expect((await create({ Name: 'twice' })).TopicArn).toBe(topicArn('twice'))
  const made = await Promise.all(Array.from({ length: 8 }, () => create({ Name: 'eight' })))
  expect(new Set(made.map(({ TopicArn }) => TopicArn))).toEqual(new Set([topicArn('eight')]))
})

test('[103][104] attributes that the topic has are fine, others and new ones are not', async () => {
  const policy = JSON.stringify({ http: { defaultThrottlePolicy: { maxReceivesPerSecond: 5 } } })
  const Attributes = { DisplayName: 'Orders', DeliveryPolicy: policy, KmsMasterKeyId: 'key' }
  const Name = 'given'
  await create({ Name, Attributes })
  const sames: Given[] = [Attributes, { DisplayName: 'Orders' }, {}, { FifoTopic: 'false' }]
  for (const same of sames) {
    expect((await create({ Name, Attributes: same })).TopicArn).toBe(topicArn(Name))
  }
  const spaced = { DeliveryPolicy: policy.replaceAll(':', ' : ') }
  expect((await create({ Name, Attributes: spaced })).TopicArn).toBe(topicArn(Name))
  const others: Given[] = [
    { DisplayName: 'Others' },
    { DisplayName: 'Orders', TracingConfig: 'Active' },
    { KmsMasterKeyId: 'other' },
    { DeliveryPolicy: '{"http":{}}' },
    { Policy: '{"Statement":[]}' },
  ]
  for (const other of others) {
    expect(await refusalOf(create({ Name, Attributes: other }))).toEqual(MISMATCH)
  }
  expect(await attributesOf(topicArn(Name))).toMatchObject({ DisplayName: 'Orders', KmsMasterKeyId: 'key' })
  const Policy = (await attributesOf(topicArn(Name))).Policy ?? ''
  expect((await create({ Name, Attributes: { Policy } })).TopicArn).toBe(topicArn(Name))
})

test('[105] tags that the topic has are fine, an extra one is not', async () => {
  const Name = 'tagged'
  const tag = (Key: string, Value: string) => ({ Key, Value })
  const Tags = [tag('a', '1'), tag('b', '2')]
  await create({ Name, Tags })
  for (const same of [Tags, [tag('b', '2')], []]) await create({ Name, Tags: same })
  const message = 'Invalid parameter: Tags Reason: Topic already exists with different tags'
  for (const other of [[...Tags, tag('c', '3')], [tag('a', '2')]]) {
    expect(await refusalOf(create({ Name, Tags: other }))).toEqual(refused(message))
  }
})

test('[192] `Tags=` is an empty list', async () => {
  const { status, text } = await sns.query({ Action: 'CreateTopic', Name: 'untagged', Tags: '' })
  expect([status, text]).toEqual([
    200,
    expect.stringContaining(`<TopicArn>${topicArn('untagged')}</TopicArn>`),
  ])
})

test.each(['a'.repeat(257), '', 'a.b', 'a b', 'é', 'a/b', `${'a'.repeat(252)}.fifo`, '.fifo'])(
  '[106] the name %.20j is refused',
  async (Name) => {
    const Attributes = Name.endsWith('.fifo') ? { FifoTopic: 'true' } : undefined
    expect(await refusalOf(create({ Name, Attributes }))).toEqual(refused('Invalid parameter: Topic Name'))
  },
)

test('names of 256 characters, the suffix included, are fine', async () => {
  await create({ Name: 'a'.repeat(256) })
  await create({ Name: `${'a'.repeat(251)}.fifo`, Attributes: { FifoTopic: 'true' } })
})

test('[107] FifoTopic and the suffix go together', async () => {
  const message = 'Invalid parameter: Topic Name'
  for (const input of [
    { Name: 'orders', Attributes: { FifoTopic: 'true' } },
    { Name: 'orders.fifo' },
    { Name: 'orders.fifo', Attributes: { FifoTopic: 'false' } },
  ]) {
    expect(await refusalOf(create(input))).toEqual(refused(message))
  }
  const odd = await refusalOf(create({ Name: 'orders', Attributes: { FifoTopic: 'maybe' } }))
  expect(odd.name).toBe('InvalidParameterException')
})

test('[107] a FIFO topic made twice, with what it has', async () => {
  const Name = 'made.fifo'
  const Attributes = { FifoTopic: 'true', ContentBasedDeduplication: 'true' }
  await create({ Name, Attributes })
  await create({ Name, Attributes })
  await create({ Name, Attributes: { FifoTopic: 'true' } })
  const other = { FifoTopic: 'true', ContentBasedDeduplication: 'false' }
  expect(await refusalOf(create({ Name, Attributes: other }))).toEqual(MISMATCH)
})

test('attributes that there are not, or not of this kind of topic', async () => {
  const given: Given[] = [
    { Colour: 'red' },
    { constructor: 'x' },
    { DataProtectionPolicy: '{}' },
    { ContentBasedDeduplication: 'true' },
    { FifoThroughputScope: 'Topic' },
    { ArchivePolicy: '{"MessageRetentionPeriod":"1"}' },
  ]
  for (const Attributes of given) {
    const { name } = await refusalOf(create({ Name: 'none', Attributes }))
    expect([Attributes, name]).toEqual([Attributes, 'InvalidParameterException'])
  }
  expect((await refusalOf(attributesOf(topicArn('none')))).name).toBe('NotFoundException')
})

test('a topic of the native API is the same topic, and the other way about', async () => {
  await sns.api.call('PUT', '/v1/topics/native', { body: { displayName: 'Native' } })
  expect(await attributesOf(topicArn('native'))).toMatchObject({ DisplayName: 'Native' })
  expect((await create({ Name: 'native' })).TopicArn).toBe(topicArn('native'))
  await create({ Name: 'wired', Attributes: { DisplayName: 'Wired' } })
  const { body } = await sns.api.call('GET', '/v1/topics/wired')
  expect(body).toMatchObject({ displayName: 'Wired', signing: 'sns', retentionSeconds: 345_600 })
  expect((await sns.api.call('GET', '/v1/topics/native')).body.signing).toBe('none')
})

test('account and region come from the signature’s scope', async () => {
  const theirs = sns.clientOf({ account: '123456789012', region: 'eu-west-1' })
  const { TopicArn } = await create({ Name: 'theirs' }, theirs)
  expect(TopicArn).toBe('arn:aws:sns:eu-west-1:123456789012:theirs')
  expect((await theirs.send(new ListTopicsCommand({}))).Topics).toEqual([{ TopicArn }])
  const ours = (await sns.client.send(new ListTopicsCommand({}))).Topics ?? []
  expect(ours.map((topic) => topic.TopicArn)).not.toContain(TopicArn)
})

test('[111] deleting what is not there is fine, [110] a malformed ARN is not', async () => {
  await remove(topicArn('never-made'))
  await create({ Name: 'brief' })
  for (let i = 0; i < 2; i++) await remove(topicArn('brief'))
  expect((await refusalOf(attributesOf(topicArn('brief')))).name).toBe('NotFoundException')
  const reason = 'TopicArn Reason: An ARN must have at least 6 elements, not'
  expect(await refusalOf(remove('brief'))).toEqual(refused(`Invalid parameter: ${reason} 1`))
  expect(await refusalOf(attributesOf('arn:aws:sns'))).toEqual(refused(`Invalid parameter: ${reason} 3`))
  const elsewhere = topicArn('brief').replace('us-east-1', 'eu-west-1')
  expect(await refusalOf(attributesOf(elsewhere))).toEqual(refused('Invalid parameter: TopicArn'))
})

test('[213] an empty ARN has one element', async () => {
  const reason = 'Reason: An ARN must have at least 6 elements, not 1'
  const call = (parameters: Record<string, string>) => sns.query({ Message: 'x', ...parameters })
  for (const [Action, parameter] of [
    ['Publish', 'TopicArn'],
    ['Publish', 'TargetArn'],
    ['DeleteTopic', 'TopicArn'],
    ['GetTopicAttributes', 'TopicArn'],
    ['Subscribe', 'TopicArn'],
    ['GetSubscriptionAttributes', 'SubscriptionArn'],
  ] as const) {
    const { status, text } = await call({ Action, Protocol: 'http', [parameter]: '' })
    expect([Action, status, text]).toEqual([
      Action,
      400,
      expect.stringContaining(`<Message>Invalid parameter: ${parameter} ${reason}</Message>`),
    ])
  }
  expect(await refusalOf(attributesOf(''))).toEqual(refused(`Invalid parameter: TopicArn ${reason}`))
})

test('[112] a deleted topic’s subscriptions are gone, and stay gone when it is made again', async () => {
  const TopicArn = topicArn('with-subscriptions')
  await create({ Name: 'with-subscriptions' })
  await sns.client.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint: queueArn('q') }))
  await remove(TopicArn)
  const byTopic = () => sns.client.send(new ListSubscriptionsByTopicCommand({ TopicArn }))
  expect(await refusalOf(byTopic())).toMatchObject({ name: 'NotFoundException', status: 404 })
  expect(await refusalOf(sns.client.send(new PublishCommand({ TopicArn, Message: 'x' })))).toMatchObject({
    name: 'NotFoundException',
    message: 'Topic does not exist',
  })
  await create({ Name: 'with-subscriptions' })
  expect((await byTopic()).Subscriptions).toEqual([])
  expect((await sns.client.send(new ListSubscriptionsCommand({}))).Subscriptions).toEqual([])
})

test('[113] a hundred topics and one are two pages', async () => {
  const client = sns.clientOf({ account: '555555555555' })
  expect((await client.send(new ListTopicsCommand({}))).Topics).toEqual([])
  const { text } = await sns.query({ Action: 'ListTopics' })
  expect(text).toContain('<ListTopicsResult><Topics>')
  await Promise.all(Array.from({ length: 101 }, (_, i) => create({ Name: `many-${i}` }, client)))
  const first = await client.send(new ListTopicsCommand({}))
  expect(first.Topics).toHaveLength(100)
  const second = await client.send(new ListTopicsCommand({ NextToken: first.NextToken }))
  expect([second.Topics?.length, second.NextToken]).toEqual([1, undefined])
  const arns = [...(first.Topics ?? []), ...(second.Topics ?? [])].map(({ TopicArn }) => TopicArn)
  expect(new Set(arns).size).toBe(101)
  const wrong = client.send(new ListTopicsCommand({ NextToken: 'nonsense' }))
  expect(await refusalOf(wrong)).toEqual(refused('Invalid parameter: NextToken'))
})

test('[193] DeleteTopic answers with ResponseMetadata alone', async () => {
  const { status, text } = await sns.query({ Action: 'DeleteTopic', TopicArn: topicArn('none') })
  expect(status).toBe(200)
  expect(text).toMatch(
    /^<DeleteTopicResponse xmlns="http:\/\/sns\.amazonaws\.com\/doc\/2010-03-31\/"><ResponseMetadata><RequestId>[^<]+<\/RequestId><\/ResponseMetadata><\/DeleteTopicResponse>$/,
  )
})

test('a full quota gets the code of SNS for it', async () => {
  const { quotas, quotaWatch, storedBytes } = sns.api.deps
  const bounds = { topics: 1, subscriptions: 0, storedBytes: 0 }
  await quotas.put(ACCOUNT, 'bounded-', bounds)
  const TopicArn = (await create({ Name: 'bounded-a' })).TopicArn
  expect((await create({ Name: 'bounded-a' })).TopicArn).toBe(TopicArn)
  expect(await refusalOf(create({ Name: 'bounded-b' }))).toMatchObject({
    ...{ name: 'TopicLimitExceededException', status: 403 },
  })
  const subscribing = new SubscribeCommand({ TopicArn, Protocol: 'https', Endpoint: 'https://example.com/' })
  expect(await refusalOf(sns.client.send(subscribing))).toMatchObject({
    ...{ name: 'SubscriptionLimitExceededException', status: 403 },
  })
  await quotaWatch.refresh()
  expect(await storedBytes.get()).toEqual(new Map())
  expect(await refusalOf(sns.client.send(new PublishCommand({ TopicArn, Message: 'x' })))).toMatchObject({
    ...{ name: 'ThrottledException', status: 429 },
  })
})
