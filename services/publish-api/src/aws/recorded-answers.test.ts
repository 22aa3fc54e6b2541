/**
 * Recorded answers of AWS in rare cases: queues as endpoints, JSON by AWS Query, tokens of lists. The last test repeats
 * recorded requests of Terraform.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  GetSubscriptionAttributesCommand,
  GetTopicAttributesCommand,
  ListTagsForResourceCommand,
  ListTopicsCommand,
  SNSClient,
} from '@aws-sdk/client-sns'
import { GetQueueAttributesCommand, ListQueueTagsCommand } from '@aws-sdk/client-sqs'
import { LIST_LIMIT_MAX } from '@fantail/contracts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCOUNT, topicArn } from './sns/sns.fixture.ts'
import { type SqsApi, startSqsApi } from './sqs/sqs.fixture.ts'

let sqs: SqsApi
let path: string
beforeAll(async () => {
  sqs = await startSqsApi()
  path = `/${ACCOUNT}/${await sqs.createQueue()}`
})
afterAll(() => sqs.stop())

const snsClient = () =>
  new SNSClient({
    endpoint: sqs.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
const JSON_ACCEPTED = { Accept: 'application/json' }
async function get(
  at: string,
  parameters: Record<string, string> = {},
  headers: Record<string, string> = {},
) {
  const query = new URLSearchParams(parameters).toString()
  const response = await fetch(`${sqs.endpoint}${at}${query && `?${query}`}`, { headers })
  const text = await response.text()
  return { status: response.status, text, type: response.headers.get('content-type') }
}
/** Asks by AWS Query for an answer in JSON. */
async function asked(parameters: Record<string, string>, headers: Record<string, string> = JSON_ACCEPTED) {
  const at = parameters.Action?.includes('Topic') ? '/' : path
  const { status, text, type } = await get(at, parameters, headers)
  expect(type).toBe('application/json')
  return { status, body: JSON.parse(text) }
}
const metadata = { ResponseMetadata: { RequestId: expect.stringMatching(/^[0-9a-f-]{36}$/) } }

test('[208] a URL of no queue is no queue over AWS JSON, and no address over AWS Query', async () => {
  for (const QueueUrl of ['http://example.com/not/a/queue', 'http://example.com/', `${sqs.endpoint}/1/x`]) {
    const { status, text, headers } = await sqs.json('ReceiveMessage', { QueueUrl })
    expect([status, JSON.parse(text)]).toEqual([
      400,
      { __type: 'com.amazonaws.sqs#QueueDoesNotExist', message: 'The specified queue does not exist.' },
    ])
    expect(headers.get('x-amzn-query-error')).toBe('AWS.SimpleQueueService.NonExistentQueue;Sender')
    const byQuery = await sqs.query({ Action: 'ReceiveMessage', QueueUrl })
    expect([byQuery.status, byQuery.text]).toEqual([
      404,
      expect.stringContaining('<Code>InvalidAddress</Code>'),
    ])
  }
})

test.each(['CreateQueue', 'ListQueues'])('[209] %s is no action of a queue’s URL', async (Action) => {
  const { status, text } = await get(path, { Action, QueueName: 'another' })
  expect(status).toBe(400)
  expect(text).toContain(
    `<Error><Type>Sender</Type><Code>InvalidAction</Code><Message>The action ${Action} is not valid for this endpoint.</Message>`,
  )
  const own = await get(path, { Action: 'GetQueueUrl', QueueName: path.split('/').at(-1) ?? '' })
  expect([own.status, own.text]).toEqual([200, expect.stringContaining(`${path}</QueueUrl>`)])
})

test.each([{}, JSON_ACCEPTED])(
  '[210] a queue’s URL without an Action is an unknown operation, accepting %j',
  async (headers) => {
    for (const at of [path, `/${ACCOUNT}/none`]) {
      const { status, text } = await get(at, {}, headers)
      expect([status, text.trim()]).toEqual([404, '<UnknownOperationException/>'])
    }
  },
)

test('[211] AWS Query answers JSON to a caller that accepts it first, as SQS does', async () => {
  const QueueArn = `arn:aws:sqs:us-east-1:${ACCOUNT}:${path.split('/').at(-1)}`
  expect((await asked({ Action: 'GetQueueAttributes', 'AttributeName.1': 'QueueArn' })).body).toEqual({
    GetQueueAttributesResponse: {
      GetQueueAttributesResult: { Attributes: [{ Name: 'QueueArn', Value: QueueArn }] },
      ...metadata,
    },
  })
  const axios = { Accept: 'application/json, text/plain, */*' }
  expect((await asked({ Action: 'SendMessage', MessageBody: 'hello' }, axios)).body).toEqual({
    SendMessageResponse: {
      SendMessageResult: {
        MessageId: expect.any(String),
        MD5OfMessageBody: '5d41402abc4b2a76b9719d911017c592',
        MD5OfMessageAttributes: null,
        MD5OfMessageSystemAttributes: null,
        SequenceNumber: null,
      },
      ...metadata,
    },
  })
  const received = (await asked({ Action: 'ReceiveMessage' })).body.ReceiveMessageResponse
  expect(received.ReceiveMessageResult.messages).toMatchObject([{ Body: 'hello', Attributes: null }])
  expect((await asked({ Action: 'PurgeQueue' })).body).toEqual({ PurgeQueueResponse: metadata })
  for (const accept of ['text/xml, application/json', 'text/html,application/xhtml+xml', '*/*'])
    expect((await get('/', { Action: 'ListQueues' }, { Accept: accept })).type).toBe('text/xml')
})

test('[211] SNS answers JSON likewise, and refusals come in it', async () => {
  const created = await asked({ Action: 'CreateTopic', Name: 'accepting' })
  expect(created.body).toEqual({
    CreateTopicResponse: { CreateTopicResult: { TopicArn: topicArn('accepting') }, ...metadata },
  })
  const listed = (await asked({ Action: 'ListTopics' })).body.ListTopicsResponse.ListTopicsResult
  expect(listed).toEqual({ Topics: [{ TopicArn: topicArn('accepting') }], NextToken: null })
  const refused = await asked({ Action: 'ListQueues' })
  expect([refused.status, refused.body]).toEqual([
    400,
    {
      Error: {
        Type: 'Sender',
        Code: 'InvalidAction',
        Message: 'The action ListQueues is not valid for this endpoint.',
      },
      RequestId: expect.any(String),
    },
  ])
})

test('[211] the parameter ContentType asks for JSON as well', async () => {
  const { body } = await asked({ Action: 'GetTopicAttributes', TopicArn: 'x', ContentType: 'JSON' }, {})
  expect(body.Error.Code).toBe('InvalidParameter')
  const listed = await sqs.query({ Action: 'ListQueues', ContentType: 'JSON' })
  expect(JSON.parse(listed.text).ListQueuesResponse.ListQueuesResult.queueUrls).not.toEqual([])
})

test('[217] NextToken is padded Base64, over every protocol', async () => {
  const { topics } = sqs.api.deps
  const names = Array.from({ length: LIST_LIMIT_MAX + 1 }, (_, i) => `paged-${String(i).padStart(4, '0')}`)
  await Promise.all(names.map((name) => topics.create(topicArn(name), {})))
  await sqs.createQueue()
  const isPadded = (token: string) => Buffer.from(token, 'base64').toString('base64') === token
  const client = snsClient()
  const { NextToken = '' } = await client.send(new ListTopicsCommand({}))
  expect([NextToken.length % 4, isPadded(NextToken)]).toEqual([0, true])
  expect((await client.send(new ListTopicsCommand({ NextToken }))).Topics?.length).toBeGreaterThan(0)
  client.destroy()
  const page = JSON.parse((await sqs.json('ListQueues', { MaxResults: 1 })).text)
  expect(isPadded(page.NextToken)).toBe(true)
  const rest = await sqs.json('ListQueues', { MaxResults: 1, NextToken: page.NextToken })
  expect(JSON.parse(rest.text).QueueUrls).not.toEqual(page.QueueUrls)
})

type Pairs = Record<string, string>

/** The values that Terraform gave a topic, queue or subscription. It expects to read them. */
interface Given {
  attributes: Record<string, unknown>
  tags: Pairs
}

test('Terraform reads back what its recorded requests gave', async () => {
  const recorded = await readFile(join(import.meta.dirname, 'terraform-calls.jsonl'), 'utf8')
  const calls = recorded.replaceAll('http://127.0.0.1:4100', sqs.endpoint).trimEnd().split('\n')
  const sns = snsClient()
  const things = new Map<string, Given>()
  /** Subscriptions by their topic and endpoint. */
  const subscriptions = new Map<string, string>()
  for (const line of calls) {
    const call: Pairs = JSON.parse(line)
    const subscription = subscriptions.get(call.SubscriptionArn ?? '')
    if (subscription) call.SubscriptionArn = subscription
    const { status, text } = await sqs.query(call)
    expect([status, line]).toEqual([200, line])
    const made = /<(?:QueueUrl|TopicArn|SubscriptionArn)>([^<]+)</.exec(text)?.[1]
    const id = made ?? call.SubscriptionArn ?? call.QueueUrl ?? call.TopicArn ?? call.ResourceArn ?? ''
    if (call.Action === 'Subscribe')
      subscriptions.set(`${call.TopicArn?.split(':').at(-1)} to ${call.Endpoint}`, id)
    if (/^(Delete|Unsubscribe)/.test(call.Action ?? '')) {
      things.delete(id)
      await expect(readThing(sns, id)).rejects.toThrow(/does not exist/)
      continue
    }
    const given = things.get(id) ?? { attributes: {}, tags: {} }
    things.set(id, given)
    apply(call, given)
    const { attributes, tags } = await readThing(sns, id)
    const read = Object.keys(given.attributes).map((name) => [name, meaningOf(attributes[name])])
    expect([line, Object.fromEntries(read), tags]).toEqual([line, given.attributes, given.tags])
  }
  expect([things.size, subscriptions.size]).toEqual([0, 5])
  sns.destroy()
})

function apply(call: Pairs, { attributes, tags }: Given): void {
  const named = (name: RegExp, value: string) =>
    Object.keys(call)
      .filter((key) => name.test(key))
      .map((key): [string, string] => [call[key] ?? '', call[key.replace(/\w+$/, value)] ?? ''])
  const attribute = [call.AttributeName ?? '', call.AttributeValue ?? ''] as const
  const all = [
    ...named(/^Attribute\.\d+\.Name$/, 'Value'),
    ...named(/^Attributes\.entry\.\d+\.key$/, 'value'),
    ...(call.AttributeName ? [attribute] : []),
  ]
  for (const [name, value] of all) attributes[name] = meaningOf(value)
  Object.assign(tags, Object.fromEntries(named(/^Tags?\.(member\.)?\d+\.Key$/, 'Value')))
  for (const [key] of named(/^TagKeys?\.(member\.)?\d+$/, '')) delete tags[key]
}

/** Terraform compares documents by their content. An empty one is none, and a delivery policy gets defaults. */
function meaningOf(value = ''): unknown {
  if (!value.startsWith('{')) return value
  if (value === '{}') return ''
  return JSON.parse(value, (name, part) => (part === null || name === 'guaranteed' ? undefined : part))
}

async function readThing(sns: SNSClient, id: string): Promise<{ attributes: Pairs; tags: Pairs }> {
  if (id.startsWith('http')) {
    const of = { QueueUrl: id }
    const read = await sqs.client.send(new GetQueueAttributesCommand({ ...of, AttributeNames: ['All'] }))
    const { Tags = {} } = await sqs.client.send(new ListQueueTagsCommand(of))
    return { attributes: read.Attributes ?? {}, tags: Tags }
  }
  if (id.split(':').length === 7) {
    const read = await sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn: id }))
    return { attributes: read.Attributes ?? {}, tags: {} }
  }
  const read = await sns.send(new GetTopicAttributesCommand({ TopicArn: id }))
  const { Tags = [] } = await sns.send(new ListTagsForResourceCommand({ ResourceArn: id }))
  const tags = Object.fromEntries(Tags.map(({ Key = '', Value = '' }) => [Key, Value]))
  return { attributes: read.Attributes ?? {}, tags }
}
