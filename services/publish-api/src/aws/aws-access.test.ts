/** Keys and policies over the AWS protocols, with the unmodified SDKs. */
import {
  AddPermissionCommand,
  ConfirmSubscriptionCommand,
  CreateTopicCommand,
  DeleteTopicCommand,
  GetTopicAttributesCommand,
  ListTopicsCommand,
  PublishCommand,
  RemovePermissionCommand,
  SetEndpointAttributesCommand,
  SetPlatformApplicationAttributesCommand,
  SetTopicAttributesCommand,
  SNSClient,
  SubscribeCommand,
  TagResourceCommand,
  UnsubscribeCommand,
} from '@aws-sdk/client-sns'
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs'
import { makeKey, type NewKey } from '@fantail/access'
import type { KeyScope } from '@fantail/contracts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { refusalOf, type SnsApi, startSnsApi } from './sns/sns.fixture.ts'

const ALICE = { accessKeyId: 'AKIDALICE', secretAccessKey: 'alice' }
const BOB = { accessKeyId: 'AKIDBOB', secretAccessKey: 'bob' }
const BOBS_ACCOUNT = '222222222222'
let sns: SnsApi
const closing: (() => void)[] = []

beforeAll(async () => {
  sns = await startSnsApi({
    awsCredentials: [
      { accessKeyId: ALICE.accessKeyId, secret: ALICE.secretAccessKey },
      { accessKeyId: BOB.accessKeyId, secret: BOB.secretAccessKey, account: BOBS_ACCOUNT },
    ],
  })
})
afterAll(async () => {
  for (const close of closing) close()
  await sns.stop()
})

function clientsOf(credentials: { accessKeyId: string; secretAccessKey: string }) {
  const options = { endpoint: sns.endpoint, region: 'us-east-1', credentials, maxAttempts: 1 }
  const made = { sns: new SNSClient(options), sqs: new SQSClient(options) }
  closing.push(
    () => made.sns.destroy(),
    () => made.sqs.destroy(),
  )
  return made
}

/** A new access key, and clients that sign with it. */
async function keyed(scopes: KeyScope[], set: Partial<NewKey> = {}) {
  const { deps } = sns.api
  const wanted: NewKey = {
    name: 'test',
    kind: 'aws',
    scopes,
    prefixes: [],
    account: '000000000000',
    maxRequestsPerSecond: null,
    ...set,
  }
  const { record, shown } = makeKey(wanted, { vault: deps.vault, now: 1 })
  await deps.keys.create(record)
  if (!('secretAccessKey' in shown)) throw new Error('an access key was wanted')
  return { id: record.id, ...clientsOf(shown) }
}

let alice: ReturnType<typeof clientsOf>
let bob: ReturnType<typeof clientsOf>
let TopicArn: string | undefined
let QueueUrl: string | undefined
const queueArn = 'arn:aws:sqs:us-east-1:000000000000:shared'

beforeEach(async () => {
  await sns.api.redis.flushall()
  sns.api.deps.topicCache.clear()
  sns.api.deps.queueCache.clear()
  alice ??= clientsOf(ALICE)
  bob ??= clientsOf(BOB)
  TopicArn = (await alice.sns.send(new CreateTopicCommand({ Name: 'shared' }))).TopicArn
  QueueUrl = (await alice.sqs.send(new CreateQueueCommand({ QueueName: 'shared' }))).QueueUrl
})

const DENIED = { status: 403, name: 'AuthorizationErrorException' }
const QUEUE_DENIED = { status: 403, name: 'AccessDenied' }
const publish = (who: { sns: SNSClient }) => who.sns.send(new PublishCommand({ TopicArn, Message: 'x' }))
const setPolicy = (Statement: object | object[], who = alice) =>
  who.sns.send(
    new SetTopicAttributesCommand({
      TopicArn,
      AttributeName: 'Policy',
      AttributeValue: JSON.stringify({ Version: '2012-10-17', Statement }),
    }),
  )

test('another account’s key may do what AddPermission allows, and no longer after RemovePermission', async () => {
  const refusal = await refusalOf(publish(bob))
  expect(refusal).toMatchObject({
    ...DENIED,
    message: `User: arn:aws:iam::${BOBS_ACCOUNT}:user/AKIDBOB is not authorized to perform: SNS:Publish on resource: ${TopicArn} because no resource-based policy allows it`,
  })
  const grant = { TopicArn, Label: 'bob', AWSAccountId: [BOBS_ACCOUNT], ActionName: ['Publish'] }
  await alice.sns.send(new AddPermissionCommand(grant))
  expect((await publish(bob)).MessageId).toBeDefined()
  expect(await refusalOf(bob.sns.send(new GetTopicAttributesCommand({ TopicArn })))).toMatchObject(DENIED)
  await alice.sns.send(new RemovePermissionCommand({ TopicArn, Label: 'bob' }))
  expect(await refusalOf(publish(bob))).toMatchObject(DENIED)
})

test('without a policy nothing of another account is reached, and missing things are not revealed', async () => {
  const calls = [
    bob.sns.send(new DeleteTopicCommand({ TopicArn })),
    bob.sns.send(new DeleteTopicCommand({ TopicArn: 'arn:aws:sns:us-east-1:000000000000:absent' })),
    bob.sns.send(new SubscribeCommand({ TopicArn, Protocol: 'https', Endpoint: 'https://example.com/' })),
    setPolicy({ Effect: 'Allow', Principal: '*', Action: 'SNS:*', Resource: '*' }, bob),
  ]
  for (const refused of await Promise.all(calls.map(refusalOf))) expect(refused).toMatchObject(DENIED)
  expect((await bob.sns.send(new ListTopicsCommand({}))).Topics ?? []).toEqual([])
})

test('conditions decide, too: subscribing by https only', async () => {
  await setPolicy({
    Effect: 'Allow',
    Principal: { AWS: BOBS_ACCOUNT },
    Action: 'SNS:Subscribe',
    Resource: TopicArn,
    Condition: {
      StringEquals: { 'sns:Protocol': 'https' },
      StringLike: { 'sns:Endpoint': 'https://bob.example/*' },
    },
  })
  const subscribe = (Protocol: string, Endpoint: string) =>
    bob.sns.send(new SubscribeCommand({ TopicArn, Protocol, Endpoint }))
  expect((await subscribe('https', 'https://bob.example/hook')).SubscriptionArn).toBe('pending confirmation')
  expect(await refusalOf(subscribe('http', 'http://bob.example/hook'))).toMatchObject(DENIED)
  expect(await refusalOf(subscribe('https', 'https://eve.example/hook'))).toMatchObject(DENIED)
})

test('keys of the call decide, and a key that cannot be known allows nothing and denies', async () => {
  await alice.sns.send(
    new TagResourceCommand({ ResourceArn: TopicArn, Tags: [{ Key: 'open', Value: 'yes' }] }),
  )
  const grant = { Principal: '*', Action: 'SNS:Publish', Resource: TopicArn }
  const allowed = async (Condition: object) => {
    await setPolicy({ ...grant, Effect: 'Allow', Condition })
    return publish(bob).then(
      () => true,
      () => false,
    )
  }
  const denied = async (Condition: object) => {
    await setPolicy([
      { ...grant, Effect: 'Allow' },
      { ...grant, Effect: 'Deny', Condition },
    ])
    return publish(bob).then(
      () => false,
      () => true,
    )
  }
  for (const known of [
    { Bool: { 'aws:PrincipalIsAWSService': 'false' } },
    { StringLike: { 'aws:UserAgent': 'aws-sdk-js/*' } },
    { StringEquals: { 'aws:RequestedRegion': 'us-east-1', 'aws:PrincipalType': 'User' } },
    { StringEquals: { 'aws:ResourceTag/Open': 'yes', 'aws:username': BOB.accessKeyId } },
    { IpAddress: { 'aws:SourceIp': '127.0.0.0/8' } },
  ]) {
    expect([await allowed(known), await denied(known)], JSON.stringify(known)).toEqual([true, true])
  }
  for (const unknown of [
    { StringEquals: { 'aws:PrincipalTag/team': 'x' } },
    { StringNotEquals: { 'aws:SourceVpce': 'vpce-1' } },
    { StringEqualsIfExists: { 'aws:PrincipalOrgID': 'o-1' } },
    { Null: { 'aws:PrincipalTag/team': 'true' } },
    { 'ForAllValues:StringEquals': { 'aws:TagKeys': ['a'] } },
  ]) {
    expect([await allowed(unknown), await denied(unknown)], JSON.stringify(unknown)).toEqual([false, true])
  }
})

test('an explicit Deny holds in one’s own account, until its owner takes the policy back', async () => {
  await setPolicy({ Effect: 'Deny', Principal: '*', Action: 'SNS:*', Resource: '*' })
  expect(await refusalOf(publish(alice))).toMatchObject({
    ...DENIED,
    message: expect.stringContaining('with an explicit deny in a resource-based policy'),
  })
  expect(await refusalOf(alice.sns.send(new DeleteTopicCommand({ TopicArn })))).toMatchObject(DENIED)
  await setPolicy({ Effect: 'Allow', Principal: { AWS: BOBS_ACCOUNT }, Action: 'SNS:Publish', Resource: '*' })
  expect((await publish(alice)).MessageId).toBeDefined()
  expect((await publish(bob)).MessageId).toBeDefined()
})

test('a queue’s policy lets others send and receive, and never delete the queue', async () => {
  const send = () => bob.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x' }))
  expect(await refusalOf(send())).toMatchObject(QUEUE_DENIED)
  const statement = { Effect: 'Allow', Principal: { AWS: BOBS_ACCOUNT }, Action: 'sqs:*', Resource: queueArn }
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await alice.sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { Policy } }))
  expect((await send()).MessageId).toBeDefined()
  expect((await bob.sqs.send(new ReceiveMessageCommand({ QueueUrl }))).Messages).toHaveLength(1)
  expect(await refusalOf(bob.sqs.send(new DeleteQueueCommand({ QueueUrl })))).toMatchObject(QUEUE_DENIED)
  const own = (await bob.sqs.send(new CreateQueueCommand({ QueueName: 'mine' }))).QueueUrl
  expect(own).toContain(`/${BOBS_ACCOUNT}/mine`)
})

test('a key cannot make another’s queue its dead-letter queue', async () => {
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queueArn, maxReceiveCount: 1 })
  const create = new CreateQueueCommand({ QueueName: 'leak', Attributes: { RedrivePolicy } })
  expect(await refusalOf(bob.sqs.send(create))).toMatchObject(QUEUE_DENIED)
})

test('a key that was made signs until it is revoked, within its scopes and names', async () => {
  const key = await keyed(['publish'], { prefixes: ['sha'] })
  expect((await publish(key)).MessageId).toBeDefined()
  const create = new CreateTopicCommand({ Name: 'shards' })
  expect(await refusalOf(key.sns.send(create))).toMatchObject({
    ...DENIED,
    message: `key ${key.id} lacks the scope manage`,
  })
  const bound = await keyed(['publish', 'read', 'manage'], { prefixes: ['ord'] })
  expect(await refusalOf(publish(bound))).toMatchObject(DENIED)
  expect((await bound.sns.send(new ListTopicsCommand({}))).Topics ?? []).toEqual([])
  await sns.api.deps.keys.revoke(key.id)
  sns.api.deps.keyCache.forget(key.id)
  expect(await refusalOf(publish(key))).toMatchObject({ status: 403, name: 'InvalidClientTokenId' })
})

test('a malformed ARN is refused before the right to it, and one of another region too', async () => {
  const { sns: client, sqs } = await keyed(['redrive'], { prefixes: ['none'] })
  const elements = (name: string) => ({
    name: 'InvalidParameterException',
    status: 400,
    message: `Invalid parameter: ${name} Reason: An ARN must have at least 6 elements, not 1`,
  })
  const grant = { Label: 'l', AWSAccountId: [BOBS_ACCOUNT], ActionName: ['Publish'] }
  const endpoint = { Protocol: 'https', Endpoint: 'https://example.com/' }
  const elsewhere = 'arn:aws:sns:eu-west-1:222222222222:shared'
  const ofTopics: ((arn: string) => Promise<unknown>)[] = [
    (arn) => client.send(new GetTopicAttributesCommand({ TopicArn: arn })),
    (arn) => client.send(new DeleteTopicCommand({ TopicArn: arn })),
    (arn) => client.send(new PublishCommand({ TopicArn: arn, Message: 'x' })),
    (arn) => client.send(new SubscribeCommand({ TopicArn: arn, ...endpoint })),
    (arn) => client.send(new AddPermissionCommand({ TopicArn: arn, ...grant })),
  ]
  for (const send of ofTopics) {
    expect(await refusalOf(send('x'))).toMatchObject(elements('TopicArn'))
    expect(await refusalOf(send(elsewhere))).toMatchObject({ message: 'Invalid parameter: TopicArn' })
    expect(await refusalOf(send(TopicArn ?? ''))).toMatchObject(DENIED)
  }
  const Attributes = { Enabled: 'true' }
  const application = { PlatformApplicationArn: 'x', Attributes }
  const others: [name: string, sent: Promise<unknown>][] = [
    ['TargetArn', client.send(new PublishCommand({ TargetArn: 'x', Message: 'x' }))],
    ['ResourceArn', client.send(new TagResourceCommand({ ResourceArn: 'x', Tags: [] }))],
    ['SubscriptionArn', client.send(new UnsubscribeCommand({ SubscriptionArn: 'x' }))],
    ['PlatformApplicationArn', client.send(new SetPlatformApplicationAttributesCommand(application))],
    ['EndpointArn', client.send(new SetEndpointAttributesCommand({ EndpointArn: 'x', Attributes }))],
  ]
  for (const [name, sent] of others) expect(await refusalOf(sent), name).toMatchObject(elements(name))
  const confirm = client.send(new ConfirmSubscriptionCommand({ TopicArn: 'x', Token: 'abc' }))
  expect(await refusalOf(confirm)).toMatchObject({ message: 'Invalid parameter: Topic' })
  const receive = sqs.send(new ReceiveMessageCommand({ QueueUrl: `${sns.endpoint}/nowhere` }))
  expect(await refusalOf(receive)).toMatchObject({ name: 'QueueDoesNotExist' })
  const reader = await keyed(['read'])
  const move = reader.sqs.send(new StartMessageMoveTaskCommand({ SourceArn: 'x' }))
  const format = expect.stringContaining('You must use this format to specify the SourceArn')
  expect(await refusalOf(move)).toMatchObject({ message: format })
})

test('past its limit a key gets each service’s throttling error', async () => {
  const key = await keyed(['publish'], { maxRequestsPerSecond: 1 })
  const send = () => key.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x' }))
  const answers = await Promise.all([1, 2, 3, 4].map(() => publish(key).catch((error: unknown) => error)))
  expect(
    answers.filter((one) => (one as { name?: string }).name === 'ThrottledException').length,
  ).toBeGreaterThan(1)
  expect(await refusalOf(send())).toMatchObject({ name: 'RequestThrottled' })
})

test('changes are logged with their caller', async () => {
  const from = sns.api.events.length
  await refusalOf(bob.sns.send(new DeleteTopicCommand({ TopicArn })))
  await alice.sns.send(new DeleteTopicCommand({ TopicArn }))
  await publish(alice).catch(() => undefined)
  const lines = sns.api.events.slice(from).filter(({ event }) => event === 'audit')
  expect(lines.map(({ fields }) => fields)).toMatchObject([
    {
      keyId: 'AKIDBOB',
      account: BOBS_ACCOUNT,
      action: 'SNS:DeleteTopic',
      resource: { TopicArn },
      result: 'denied',
    },
    { keyId: 'AKIDALICE', account: '000000000000', action: 'SNS:DeleteTopic', result: 'done', status: 200 },
  ])
})
