/** The AWS protocols as bytes: which service and operation a request is for, and the form of refusals. */
import { ListTopicsCommand, SNSClient } from '@aws-sdk/client-sns'
import { FantailError } from '@fantail/contracts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { refusalOf, type SnsApi, startSnsApi, topicArn } from './sns/sns.fixture.ts'

const SNS = '2010-03-31'
const SQS = '2012-11-05'
let sns: SnsApi

beforeAll(async () => {
  sns = await startSnsApi()
  await sns.api.call('PUT', '/v1/queues/work')
})
const restore: (() => void)[] = []
afterEach(() => {
  for (const undo of restore.splice(0)) undo()
})
afterAll(() => sns.stop())

interface Raw {
  status: number
  text: string
  headers: Headers
}

async function send(path: string, init: RequestInit = {}): Promise<Raw> {
  const response = await fetch(sns.endpoint + path, init)
  const { status, headers } = response
  return { status, headers, text: await response.text() }
}

const form = (parameters: Record<string, string>, headers: Record<string, string> = {}, path = '/') =>
  send(path, { method: 'POST', headers, body: new URLSearchParams(parameters) })
const json = (target: string | undefined, body: string, headers: Record<string, string> = {}) =>
  send('/', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-amz-json-1.0',
      ...(target !== undefined && { 'X-Amz-Target': target }),
      ...headers,
    },
    body,
  })
const scopeOf = (service: string) => ({
  Authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=00`,
})

test('[190] form, query of the URL and SDK reach the same operation', async () => {
  const parameters = { Action: 'CreateTopic', Name: 'wired', Version: SNS }
  const arn = `<TopicArn>${topicArn('wired')}</TopicArn>`
  const urlencoded = { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' }
  expect((await form(parameters, urlencoded)).text).toContain(arn)
  const search = `?${new URLSearchParams(parameters)}`
  expect((await send(`/${search}`)).text).toContain(arn)
  expect((await send(`/${search}`, { method: 'POST' })).text).toContain(arn)
  const { Topics } = await sns.client.send(new ListTopicsCommand({}))
  expect(Topics).toEqual([{ TopicArn: topicArn('wired') }])
})

test('the service follows from Version, scope, path, target or, without any, the Action', async () => {
  const queues = '<ListQueuesResponse xmlns="http://queue.amazonaws.com/doc/2012-11-05/">'
  const topics = '<ListTopicsResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/">'
  expect((await form({ Action: 'ListQueues', Version: SQS })).text).toContain(queues)
  expect((await form({ Action: 'ListQueues' }, scopeOf('sqs'))).text).toContain(queues)
  expect((await form({ Action: 'ListQueues' })).text).toContain(queues)
  expect((await form({ Action: 'ListTopics' }, scopeOf('sns'))).text).toContain(topics)
  expect((await form({ Action: 'ListTopics', Version: SNS }, scopeOf('sqs'))).text).toContain(topics)
  expect((await form({ Action: 'ListTopics' })).text).toContain(topics)
  expect(JSON.parse((await json('AmazonSQS.ListQueues', '{}')).text).QueueUrls).toHaveLength(1)
  const attributes = { Action: 'GetQueueAttributes', 'AttributeName.1': 'QueueArn' }
  const onQueue = await form(attributes, {}, '/000000000000/work')
  expect(onQueue.text).toContain('<Value>arn:aws:sqs:us-east-1:000000000000:work</Value>')
  const byGet = await send(`/000000000000/work?${new URLSearchParams({ ...attributes, Version: SQS })}`)
  expect(byGet.text).toContain('<Value>arn:aws:sqs:us-east-1:000000000000:work</Value>')
})

test('requests without an Action, or with one that there is not', async () => {
  const error = (code: string) => `<Type>Sender</Type><Code>${code}</Code>`
  for (const answer of [await form({ Version: SNS }), await send('/'), await send('/', { method: 'POST' })]) {
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(error('MissingAction'))])
  }
  for (const Action of ['SubscribeAll', 'ListQueues', 'constructor', '<Publish>']) {
    const { status, text } = await form({ Action, Version: SNS })
    expect([Action, status, text]).toEqual([Action, 400, expect.stringContaining(error('InvalidAction'))])
  }
  const queue = await form({ Action: 'Publish', Version: SQS })
  expect(queue.text).toContain(
    '<Message>The action Publish is not valid for this endpoint.</Message><Detail/>',
  )
})

test('AWS JSON without an operation that there is', async () => {
  for (const target of ['AmazonSQS.Publish', 'DynamoDB_20120810.ListTables', 'AmazonSQS', '', undefined]) {
    const { status, text, headers } = await json(target, '{}')
    expect([target, status]).toEqual([target, 400])
    expect(JSON.parse(text)).toEqual({
      __type: expect.stringMatching(/^com\.amazon\.coral\.service#/),
      message: expect.any(String),
    })
    expect(headers.get('x-amzn-query-error')).toMatch(/^(InvalidAction|MissingAction);Sender$/)
    expect(headers.get('content-type')).toBe('application/x-amz-json-1.0')
  }
})

test('bodies that cannot be read are refused with 400', async () => {
  const invalid = Buffer.from('Action=CreateTopic&Name=\xff', 'latin1')
  const type = { 'Content-Type': 'application/x-www-form-urlencoded' }
  for (const body of [invalid, 'Action=CreateTopic&Name=%ff', 'Action=%']) {
    const { status, text } = await send('/', { method: 'POST', headers: type, body })
    expect([status, text]).toEqual([400, expect.stringContaining('<Code>MalformedQueryString</Code>')])
  }
  expect((await send('/?Action=%ff')).text).toContain('<Code>MalformedQueryString</Code>')
  const nested = await form({ Action: 'CreateTopic', [`Tags${'.x'.repeat(50_000)}`]: 'y', Version: SNS })
  expect([nested.status, nested.text]).toEqual([400, expect.stringContaining('<Code>MalformedInput</Code>')])
  for (const body of [
    '{',
    '[]',
    '{"QueueNamePrefix":1}',
    Buffer.from('{"QueueNamePrefix":"\xff"}', 'latin1'),
  ]) {
    const headers = { 'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': 'AmazonSQS.ListQueues' }
    const { status, text } = await send('/', { method: 'POST', headers, body })
    expect([status, JSON.parse(text).__type]).toEqual([
      400,
      'com.amazon.coral.service#SerializationException',
    ])
  }
})

test('other content types are refused with 415', async () => {
  for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x']) {
    const { status, text } = await send('/?Action=ListTopics', {
      method: 'POST',
      headers: { 'Content-Type': type },
      body: 'x',
    })
    expect([status, text]).toEqual([415, expect.stringContaining('<Code>UnsupportedMediaType</Code>')])
  }
})

test('a message of a mebibyte fits, however it is escaped; four mebibytes do not', async () => {
  const largest = '\u00fc'.repeat(524_288)
  const sent = await form(
    { Action: 'SendMessage', MessageBody: largest, Version: SQS },
    {},
    '/000000000000/work',
  )
  expect([sent.status, sent.text]).toEqual([200, expect.stringContaining('<MessageId>')])
  const type = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const bytes = new Uint8Array(4 * 1_048_576 + 1).fill(97)
  const unannounced = new Blob([bytes]).stream()
  for (const init of [{ body: bytes }, { body: unannounced, duplex: 'half' }] as RequestInit[]) {
    const { status, text } = await send('/', { method: 'POST', headers: type, ...init })
    expect([status, text]).toEqual([413, expect.stringContaining('<Code>RequestEntityTooLarge</Code>')])
  }
  const tooLarge = await json('AmazonSQS.SendMessage', ' '.repeat(4 * 1_048_576 + 1))
  expect([tooLarge.status, tooLarge.headers.get('x-amzn-query-error')]).toEqual([
    413,
    'RequestEntityTooLarge;Sender',
  ])
})

test('every answer has a request id, in header and body', async () => {
  for (const answer of [
    await form({ Action: 'ListTopics', Version: SNS }),
    await form({ Action: 'Nothing', Version: SQS }),
    await send('/'),
  ]) {
    const id = answer.headers.get('x-amzn-requestid')
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(answer.text).toContain(`<RequestId>${id}</RequestId>`)
    expect(answer.headers.get('content-type')).toBe('text/xml')
  }
  for (const target of ['AmazonSQS.ListQueues', 'AmazonSQS.Nothing']) {
    expect((await json(target, '{}')).headers.get('x-amzn-requestid')).toMatch(/^[0-9a-f-]{36}$/)
  }
})

test('paths beside an account’s queues stay as they were', async () => {
  for (const [path, status] of [
    ['/v1/topics', 405],
    ['/12345678901/q', 404],
    ['/000000000000/q/more', 404],
    ['/000000000000', 404],
  ] as const) {
    const answer = await send(path, { method: 'POST' })
    expect([path, answer.status]).toEqual([path, status])
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: expect.any(String) } })
  }
})

/** Until the test ends, every list of topics fails with this error. */
function failWith(error: Error): { calls: number } {
  const { topics } = sns.api.deps
  const { list } = topics
  const count = { calls: 0 }
  topics.list = async () => {
    count.calls += 1
    throw error
  }
  restore.push(() => {
    topics.list = list
  })
  return count
}

test.each([
  [new FantailError('storage_unavailable', 'storage does not answer'), 503, 'Receiver', 'ServiceUnavailable'],
  [new FantailError('storage_full', 'storage is full'), 503, 'Receiver', 'ServiceUnavailable'],
  [new FantailError('rate_limited', 'too much'), 429, 'Sender', 'Throttled'],
  [new FantailError('conflict', 'changed by others'), 400, 'Sender', 'InvalidParameter'],
  [new Error('a defect'), 500, 'Receiver', 'InternalFailure'],
])('[191] %s is told as AWS would', async (error, status, type, code) => {
  failWith(error)
  const answer = await form({ Action: 'ListTopics', Version: SNS })
  expect(answer.status).toBe(status)
  expect(answer.text).toContain(`<Error><Type>${type}</Type><Code>${code}</Code><Message>`)
  if (status !== 500) return
  expect(answer.text).not.toContain('a defect')
  expect(sns.api.events.at(-1)).toMatchObject({ event: 'request.failed', fields: { err: error } })
})

test('[196] the SDK retries a 503 until its attempts are used up, and no longer', async () => {
  const client = new SNSClient({
    endpoint: sns.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 3,
  })
  restore.push(() => client.destroy())
  const count = failWith(new FantailError('storage_unavailable', 'storage does not answer'))
  const refusal = await refusalOf(client.send(new ListTopicsCommand({})))
  expect([refusal.name, refusal.status, count.calls]).toEqual(['ServiceUnavailable', 503, 3])
})
