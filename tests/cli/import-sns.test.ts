/** `fantail import sns`, from one Fantail over the AWS protocols into another one. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import {
  CreateTopicCommand,
  PublishCommand,
  SetTopicAttributesCommand,
  SubscribeCommand,
  TagResourceCommand,
} from '@aws-sdk/client-sns'
import { CreateQueueCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { snapshotOf } from '../harness/aws/account-snapshot.ts'
import { queueArn, topicArn, useAwsClients } from '../harness/aws/aws-clients.ts'
import { provesCommands } from '../harness/command-line/checked-runs.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { callFantail } from '../harness/services/call-fantail.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack()
const account = useStack({ workers: 0 })
const receiver = useReceiver()
const ofAccount = useAwsClients(account)
const aws = useAwsClients(stack)

const WEBHOOKS = 4
const SHOP = topicArn('shop')

/** Passes calls on to the account, as AWS with limits and without some rights. First pages have one item. */
let front: Server
const refused = new Set<string>()
let throttled = 0

beforeAll(async () => {
  front = createServer((request, response) => void answer(request, response))
  await once(front.listen(0, '127.0.0.1'), 'listening')
  await fillAccount()
})

afterAll(() => {
  front.closeAllConnections()
  front.close()
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await buffer(request)).toString()
  const target = request.headers['x-amz-target']
  const operation = new URLSearchParams(body).get('Action') ?? String(target).replace('AmazonSQS.', '')
  if (throttled > 0 && throttled-- > 0) return refuse(response, target, [400, 'Throttling'])
  if (refused.has(operation)) return refuse(response, target, [403, 'AuthorizationError'])
  const isRest = body.includes(`&NextToken=${REST}`)
  const passed = await passOn(request, body.replace(`&NextToken=${REST}`, ''))
  const text = await passed.text()
  response.writeHead(passed.status, { 'content-type': passed.headers.get('content-type') ?? '' })
  response.end(operation.startsWith('List') && target === undefined ? pageOf(text, isRest) : text)
}

function passOn({ headers }: IncomingMessage, body: string): Promise<Response> {
  const { host: _, connection: __, 'content-length': ___, ...others } = headers
  return fetch(account().api.url, { method: 'POST', body, headers: others as Record<string, string> })
}

const REST = 'rest'

function pageOf(xml: string, isRest: boolean): string {
  const [first = '', ...others] = xml.match(/<member>.*?<\/member>/gs) ?? []
  if (others.length === 0 || xml.includes('<Key>')) return xml
  if (isRest) return xml.replace(first, '')
  const page = xml.replace(others.join(''), '')
  return page.replace(/(<\/[A-Za-z]+>)(<\/List)/, `$1<NextToken>${REST}</NextToken>$2`)
}

function refuse(response: ServerResponse, target: unknown, [status, code]: [number, string]): void {
  const type = target === undefined ? 'text/xml' : 'application/x-amz-json-1.0'
  const error = `<Error><Type>Sender</Type><Code>${code}</Code><Message>no</Message></Error>`
  const xml = `<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/">${error}</ErrorResponse>`
  const json = JSON.stringify({ __type: `com.amazonaws.sqs#${code}`, message: 'no' })
  response.writeHead(status, { 'content-type': type }).end(target === undefined ? xml : json)
}

async function fillAccount(): Promise<void> {
  const { sns, sqs } = ofAccount()
  const queue = (
    QueueName: string,
    Attributes: Record<string, string> = {},
    tags: Record<string, string> = {},
  ) => sqs.send(new CreateQueueCommand({ QueueName, Attributes, tags }))
  await queue('z-dead', {
    RedriveAllowPolicy: '{"redrivePermission":"allowAll"}',
    MessageRetentionPeriod: '1209600',
  })
  const Policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        ...{ Effect: 'Allow', Principal: { Service: 'sns.amazonaws.com' }, Action: 'sqs:SendMessage' },
        Resource: queueArn('jobs'),
        Condition: { ArnEquals: { 'aws:SourceArn': SHOP } },
      },
    ],
  })
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queueArn('z-dead'), maxReceiveCount: 4 })
  await queue('jobs', { Policy, RedrivePolicy, VisibilityTimeout: '77', DelaySeconds: '3' }, { team: 'b' })
  const fifo = {
    FifoQueue: 'true',
    DeduplicationScope: 'messageGroup',
    FifoThroughputLimit: 'perMessageGroupId',
  }
  await queue('jobs.fifo', { ...fifo, ContentBasedDeduplication: 'true' })

  const Tags = [{ Key: 'team', Value: 'a' }]
  await sns.send(new CreateTopicCommand({ Name: 'shop', Tags, Attributes: { DisplayName: 'The shop' } }))
  const retries = { minDelayTarget: 2, maxDelayTarget: 9, numRetries: 4, backoffFunction: 'geometric' }
  const DeliveryPolicy = JSON.stringify({ http: { defaultHealthyRetryPolicy: retries } })
  const read = { Effect: 'Allow', Principal: { AWS: '*' }, Action: 'SNS:Publish', Resource: SHOP }
  const shop = {
    DeliveryPolicy,
    Policy: JSON.stringify({ Version: '2012-10-17', Statement: [{ Sid: 'all', ...read }] }),
    TracingConfig: 'Active',
    SQSSuccessFeedbackSampleRate: '7',
    SignatureVersion: '2',
  }
  for (const [AttributeName, AttributeValue] of Object.entries(shop))
    await sns.send(new SetTopicAttributesCommand({ TopicArn: SHOP, AttributeName, AttributeValue }))
  await sns.send(
    new CreateTopicCommand({
      Name: 'shop.fifo',
      Attributes: {
        FifoTopic: 'true',
        ContentBasedDeduplication: 'true',
        FifoThroughputScope: 'MessageGroup',
      },
    }),
  )
  await subscribeAll()
}

async function subscribeAll(): Promise<void> {
  const { sns } = ofAccount()
  const letters = JSON.stringify({ deadLetterTargetArn: queueArn('z-dead') })
  const subscribe = (topic: string, queue: string, Attributes: Record<string, string>) =>
    sns.send(
      new SubscribeCommand({
        TopicArn: topicArn(topic),
        Protocol: 'sqs',
        Endpoint: queueArn(queue),
        Attributes,
      }),
    )
  await subscribe('shop', 'jobs', {
    RawMessageDelivery: 'true',
    FilterPolicy: '{"order":{"total":[{"numeric":[">",100]}]}}',
    FilterPolicyScope: 'MessageBody',
    RedrivePolicy: letters,
  })
  await subscribe('shop.fifo', 'jobs.fifo', {})
  // The native API takes them without a confirmation.
  const webhook = (path: string, settings: object = {}, topic = 'shop') =>
    account().client.post(`/v1/topics/${topic}/subscriptions`, {
      endpoint: `${receiver().url}${path}`,
      origin: 'aws',
      redrivePolicy: null,
      ...settings,
    })
  await webhook('/raw', {
    rawMessageDelivery: true,
    deliveryPolicy: { requestPolicy: { headerContentType: 'text/csv' } },
    filterPolicy: { eventType: ['order.paid'] },
  })
  await webhook('/pending', { confirmation: 'handshake' })
  const paths = Array.from({ length: WEBHOOKS }, (_, n) => `/in/${n}`)
  await webhook('/in')
  await sns.send(new CreateTopicCommand({ Name: 'many' }))
  await Promise.all(paths.map((path) => webhook(path, {}, 'many')))
}

function run(words: string) {
  const { port } = front.address() as AddressInfo
  const env = {
    FANTAIL_URL: stack().api.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  }
  return callFantail(['import', 'sns', '--endpoint', `http://127.0.0.1:${port}`, ...words.split(' ')], {
    env,
  })
}

interface Line {
  act?: string
  kind?: string
  what?: string
  text?: string
  objects?: string[]
}

async function lines(words: string): Promise<Line[]> {
  const { stdout } = await run(`${words} --json --quiet`)
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)
}

test('a plan shows what comes over and what is lost, and writes nothing', async () => {
  throttled = 3
  const planned = await run('--plan')
  expect([planned.code, throttled]).toEqual([9, 0])
  expect(planned.stdout).toContain(`+ subscription ${receiver().url}/in/3 of many`)
  expect(planned.stdout).toMatch(
    /4 subscriptions: the same curve here\n +SNS +·+●·+●·+● {2}3 retries in 1 m\n +Fantail +·+●·+●·+● {2}3 /,
  )
  expect(planned.stdout).toMatch(/lost +the endpoint has not confirmed at SNS.*\n.*\/pending of shop\n/)
  expect(planned.stderr).toMatch(
    /to create: 3 queues, 3 topics, 8 subscriptions; to change: 0; listed: 3 losses,/,
  )
  const { topics } = await stack().client.get<{ topics: object[] }>('/v1/topics')
  expect(topics).toEqual([])
  expect(await run('--quiet')).toMatchObject({ code: 2, stderr: expect.stringContaining('Add --yes.') })
})

test('a right that is missing loses only what it is for', async () => {
  for (const operation of ['ListTagsForResource', 'ListQueueTags', 'GetSubscriptionAttributes'])
    refused.add(operation)
  try {
    const lost = (await lines('--plan --topic-prefix shop')).filter(({ what }) => what === 'lost')
    const found = lost.flatMap(({ text = '', objects = [] }) =>
      /Error/.test(text) ? [[text, objects.length]] : [],
    )
    expect(found).toEqual([
      ['settings of subscriptions could not be read (AuthorizationError)', 4],
      ['tags of queues (AuthorizationError)', 3],
      ['tags of topics (AuthorizationError)', 2],
    ])
  } finally {
    refused.clear()
  }
})

test('a subscription that is refused does not keep back the others', async () => {
  await stack().client.put('/v1/quotas/shop', { subscriptions: 2 })
  const partly = await run('--yes --quiet --topic-prefix shop')
  expect(partly).toMatchObject({ code: 8, stderr: expect.stringMatching(/7 of 9 changes were made\.\n$/) })
  await stack().client.delete('/v1/quotas/shop')
})

test('an import makes both sides equal for AWS clients, and a second one changes nothing', async () => {
  expect(await run('--yes --quiet')).toMatchObject({ code: 0, stderr: '' })
  const [there, here] = await Promise.all([snapshotOf(ofAccount()), snapshotOf(aws())])
  expect(here).toEqual(there)
  expect(Object.keys(here.subscriptions)).toHaveLength(WEBHOOKS + 4)
  const { topics } = await stack().client.get<{ topics: { subscriptions: object }[] }>('/v1/topics')
  expect(topics.map(({ subscriptions }) => subscriptions)).toEqual([
    { active: 0, pending: 0, paused: WEBHOOKS },
    { active: 0, pending: 0, paused: 3 },
    { active: 0, pending: 0, paused: 1 },
  ])

  await stack().client.post(`/v1/subscriptions/${await idOf('/raw')}/resume`)
  await ofAccount().sns.send(new TagResourceCommand({ ResourceArn: SHOP, Tags: [{ Key: 'x', Value: 'y' }] }))
  const changes = (await lines('--plan --topic-prefix shop')).filter(({ act }) => act !== undefined)
  expect(changes).toMatchObject([
    { act: 'change', kind: 'topic', name: 'shop', settings: { tags: { x: 'y' } } },
  ])
  expect((await run('--yes --quiet')).code).toBe(0)
  expect((await run('--plan --quiet')).code).toBe(0)
})

async function idOf(path: string): Promise<string> {
  const query = new URLSearchParams({ topic: 'shop', endpoint: `${receiver().url}${path}` })
  const { subscriptions } = await stack().client.get<{ subscriptions: { id: string }[] }>(
    `/v1/subscriptions?${query}`,
  )
  return subscriptions[0]?.id ?? ''
}

test('imported webhooks get the requests of SNS', async () => {
  await stack().client.post(`/v1/subscriptions/${await idOf('/in')}/resume`)
  const MessageAttributes = { eventType: { DataType: 'String', StringValue: 'order.paid' } }
  await aws().sns.send(new PublishCommand({ TopicArn: SHOP, Message: '{"a":1}', MessageAttributes }))
  const [[raw], [plain]] = await Promise.all([
    receiver().waitForRequests(1, '/raw'),
    receiver().waitForRequests(1, '/in'),
  ])
  const named = ['x-amz-sns-message-type', 'x-amz-sns-message-id', 'x-amz-sns-topic-arn']
  const always = ['host', 'connection', 'content-length', 'user-agent', 'accept-encoding', 'content-type']
  const all = [...named, 'x-amz-sns-subscription-arn', ...always]
  expect(Object.keys(plain?.headers ?? {}).toSorted()).toEqual(all.toSorted())
  expect(Object.keys(raw?.headers ?? {}).toSorted()).toEqual([...all, 'x-amz-sns-rawdelivery'].toSorted())
  expect(plain?.headers).toMatchObject({
    'content-type': 'text/plain; charset=UTF-8',
    'user-agent': 'Amazon Simple Notification Service Agent',
    'x-amz-sns-topic-arn': SHOP,
  })
  expect(raw?.headers['content-type']).toBe('text/csv')
  expect(Object.keys(JSON.parse(plain?.body.toString() ?? '') as object)).toEqual([
    ...['Type', 'MessageId', 'TopicArn', 'Message', 'Timestamp', 'SignatureVersion', 'Signature'],
    ...['SigningCertURL', 'UnsubscribeURL', 'MessageAttributes'],
  ])
})

test('the document of an import is one for `fantail apply`, of a prefix and what lies behind it', async () => {
  const [document] = await lines('--document --topic-prefix shop.')
  expect(document).toMatchObject({
    version: 1,
    queues: [{ name: 'jobs.fifo' }],
    topics: [{ name: 'shop.fifo', subscriptions: [{ settings: { origin: 'aws', status: 'paused' } }] }],
  })
})

test('a template is imported without an account, and a second time nothing changes', async () => {
  const Resources = {
    Orders: { Type: 'AWS::SNS::Topic', Properties: { TopicName: { 'Fn::Sub': `$${'{Stage}'}-orders` } } },
    Dead: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'file-dead' } },
    Work: {
      Type: 'AWS::SQS::Queue',
      Properties: {
        QueueName: 'file-work',
        RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['Dead', 'Arn'] }, maxReceiveCount: 3 },
        Tags: [{ Key: 'team', Value: 'blue' }],
      },
    },
    ...Object.fromEntries(
      ['Work', 'Handler'].map((name) => [
        `To${name}`,
        {
          Type: 'AWS::SNS::Subscription',
          Properties: {
            TopicArn: { Ref: 'Orders' },
            Protocol: name === 'Work' ? 'sqs' : 'lambda',
            Endpoint: { 'Fn::GetAtt': [name, 'Arn'] },
            RawMessageDelivery: true,
          },
        },
      ]),
    ),
  }
  const stdin = JSON.stringify({ Resources })
  const importing = (...words: string[]) =>
    callFantail(['import', 'sns', '--from', '-', '--parameter', 'Stage=file', ...words], {
      env: { FANTAIL_URL: stack().api.url },
      stdin,
    })
  const made = await importing('--yes')
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/lost +a subscription needs Endpoint/)])
  const { client } = stack()
  expect(await client.get('/v1/queues/file-work')).toMatchObject({
    retentionSeconds: 345_600,
    redrivePolicy: { deadLetterTargetArn: queueArn('file-dead'), maxReceiveCount: 3 },
    tags: { team: 'blue' },
  })
  expect(await client.get('/v1/topics/file-orders/subscriptions')).toMatchObject({
    subscriptions: [{ endpoint: queueArn('file-work'), status: 'paused', rawMessageDelivery: true }],
  })
  expect((await importing('--plan')).code).toBe(0)
  expect((await importing('--endpoint', 'http://127.0.0.1:9')).code).toBe(2)
  expect((await run('--account 111111111111')).code).toBe(2)
})

provesCommands('tests/cli/import-sns.test.ts')
