/** Attempts at queues outside of this Fantail: the requests, how messages share them, and the result of each. */
import type { AttemptResult, Message } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { compileEnvelope } from '../envelope/envelope.ts'
import type { EndpointTarget } from '../envelope/target.ts'
import { testMessage } from '../functions/functions.fixture.ts'
import type { HttpRequest } from '../http/http-request.ts'
import { QueueAttempter, type QueueEndpointSettings } from './queue-attempter.ts'

const ARN = 'arn:aws:sqs:eu-west-1:123456789012:orders'
const OWN_ARN = 'arn:aws:sqs:us-east-1:000000000000:orders'
const MAPPED = { awsQueues: { 'arn:aws:sqs:eu-west-1:*:*': 'http://KEY:s%2Fecret@127.0.0.1:4566/' } }
const AT_AWS: QueueEndpointSettings = {
  awsClientCredentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' },
  awsTargets: ['arn:aws:sqs:*:123456789012:*'],
}

interface Entry {
  Id: string
  MessageBody: string
}

const entriesOf = ({ body }: HttpRequest): Entry[] => JSON.parse(String(body)).Entries
const stored = (request: HttpRequest) => ({
  Successful: entriesOf(request).map(({ Id }) => ({ Id, MessageId: `sqs-${Id}` })),
})

interface Answer {
  statusCode?: number
  headers?: Record<string, string>
  retryAfterSeconds?: number
}

/** `answer`: the members of the answer's body, and what else the answer has. */
function start(settings: QueueEndpointSettings, answer: (request: HttpRequest) => object = stored) {
  const requests: HttpRequest[] = []
  const appended: string[] = []
  const send = (request: HttpRequest, done: (result: AttemptResult) => void) => {
    requests.push(request)
    const { statusCode = 200, headers = {}, retryAfterSeconds, ...value } = answer(request) as Answer
    const later = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
    const body = Buffer.from(JSON.stringify(value))
    setImmediate(done, { kind: 'response', statusCode, durationMs: 1, headers, body, ...later })
  }
  const append = async (arn: string) => {
    appended.push(arn)
    return { result: { kind: 'response', statusCode: 200, durationMs: 1 } as const, followersSent: 0 }
  }
  const itemIdOf = () => 'id'
  const attempter = new QueueAttempter(
    { sender: { send }, clock: () => Date.UTC(2026, 10, 22), appends: { append }, itemIdOf },
    settings,
  )
  const attempt = (set: Partial<Message> = {}, url = ARN) =>
    new Promise<AttemptResult>((done) => {
      const target = { url, protocol: 'sqs', raw: true, subscriptionId: 's' } as EndpointTarget
      attempter.attempt({ envelope: compileEnvelope(testMessage(set)), target, delivery: undefined }, done)
    })
  const target = (url: string) => attempter.credentialOf({ url } as EndpointTarget)
  return { requests, appended, attempt, credentialOf: target }
}

test('only queues that the settings name are outside of this Fantail', async () => {
  const { appended, requests, attempt, credentialOf } = start({ ...AT_AWS, ...MAPPED })
  await attempt({}, OWN_ARN)
  expect([appended, requests.length, credentialOf(OWN_ARN)]).toEqual([[OWN_ARN], 0, undefined])
  await attempt({}, ARN)
  await attempt({}, ARN.replace('eu-west-1', 'us-east-2'))
  expect(requests.map(({ url, route }) => [url, route?.isTrusted])).toEqual([
    ['http://127.0.0.1:4566/', true],
    ['https://sqs.us-east-2.amazonaws.com/', undefined],
  ])
  expect(credentialOf(ARN)).toBe('queues:KEY@127.0.0.1:4566/')
  const signed = (region: string) => expect.stringContaining(`/20261122/${region}/sqs/aws4_request`)
  expect(requests.map(({ headers }) => (headers as Record<string, string>).authorization)).toEqual([
    signed('eu-west-1'),
    signed('us-east-2'),
  ])
  expect(start({}).credentialOf(ARN)).toBeUndefined()
})

test('a raw message keeps its attributes, its trace, its group and its deduplication id', async () => {
  const { requests, attempt } = start(AT_AWS)
  const topicArn = 'arn:aws:sns:eu-west-1:123456789012:orders.fifo'
  const attributes = { size: { type: 'Number', value: '3' }, blob: { type: 'Binary.x', value: 'AQI=' } }
  const order = { topicArn, groupId: 'g', deduplicationId: 'd', traceHeader: 'Root=1' }
  const result = await attempt({ attributes, ...order }, `${ARN}.fifo`)
  expect(result).toEqual({ kind: 'response', statusCode: 200, durationMs: 1, text: 'sqs-0' })
  const [request] = requests
  expect(request?.headers).toMatchObject({
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': 'AmazonSQS.SendMessageBatch',
  })
  expect(JSON.parse(String(request?.body))).toEqual({
    QueueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/orders.fifo',
    Entries: [
      {
        Id: '0',
        MessageBody: 'hello',
        MessageAttributes: {
          size: { DataType: 'Number', StringValue: '3' },
          blob: { DataType: 'Binary.x', BinaryValue: 'AQI=' },
        },
        MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: 'Root=1' } },
        MessageGroupId: 'g',
        MessageDeduplicationId: 'd',
      },
    ],
  })
})

test('attempts that begin together share requests of at most 10 messages and 256 KiB', async () => {
  const { requests, attempt } = start(AT_AWS)
  await Promise.all(Array.from({ length: 12 }, () => attempt()))
  expect(requests.map((request) => entriesOf(request).length)).toEqual([10, 2])
  const message = 'x'.repeat(140_000)
  await Promise.all([attempt({ message }), attempt({ message }), attempt({ message }, `${ARN}2`)])
  expect(requests.slice(2).map((request) => entriesOf(request).length)).toEqual([1, 1, 1])
})

test('each message has its own result, and only a fault of the sender is permanent', async () => {
  const answers = {
    Successful: [{ Id: '0', MessageId: 'a' }],
    Failed: [
      { Id: '1', Code: 'InvalidMessageContents', Message: 'No.', SenderFault: true },
      { Id: '2', Code: 'InternalError', Message: 'Oops.', SenderFault: false },
    ],
  }
  const { attempt } = start(AT_AWS, () => answers)
  expect(await Promise.all(Array.from({ length: 4 }, () => attempt()))).toMatchObject([
    { kind: 'response', statusCode: 200 },
    { error: 'queue_refused', permanent: true, statusCode: 400, detail: 'InvalidMessageContents: No.' },
    { error: 'queue_refused', permanent: false },
    { error: 'invalid_response', permanent: false },
  ])
})

test('a request that is refused for its content is repeated for each message alone', async () => {
  const isBad = (request: HttpRequest) => entriesOf(request).some(({ MessageBody }) => MessageBody === 'bad')
  const refused = { statusCode: 400, __type: 'com.amazonaws.sqs#InvalidMessageContents', message: 'No.' }
  const { requests, attempt } = start(AT_AWS, (request) => (isBad(request) ? refused : stored(request)))
  expect(await Promise.all([attempt({ message: 'bad' }), attempt()])).toMatchObject([
    { error: 'queue_refused', permanent: true },
    { kind: 'response', statusCode: 200 },
  ])
  expect(requests).toHaveLength(3)
})

test.each([
  [400, 'com.amazonaws.sqs#QueueDoesNotExist', { error: 'queue_missing', permanent: true, statusCode: 400 }],
  [400, 'AWS.SimpleQueueService.NonExistentQueue', { error: 'queue_missing', permanent: true }],
  [403, 'AccessDeniedException', { error: 'queue_refused', permanent: true, statusCode: 403 }],
  [400, 'KmsAccessDenied', { error: 'queue_refused', permanent: true }],
  [403, 'com.amazonaws.sqs#RequestThrottled', { error: 'queue_refused', permanent: false }],
  [400, 'KmsThrottled', { error: 'queue_refused', permanent: false }],
  [302, undefined, { error: 'invalid_response', permanent: false }],
  [404, undefined, { error: 'invalid_response', permanent: false }],
  [407, undefined, { error: 'invalid_response', permanent: false }],
  [429, 'X', { error: 'queue_refused', permanent: false }],
  [500, 'InternalFailure', { kind: 'response', statusCode: 500 }],
  [503, 'ServiceUnavailable', { kind: 'response', statusCode: 503 }],
  [403, 'InvalidClientTokenId', { kind: 'misconfigured', credential: 'aws:AKIDEXAMPLE:eu-west-1' }],
  [400, 'ExpiredTokenException', { kind: 'misconfigured' }],
])('%i %s is the result of every message', async (statusCode, __type, expected) => {
  const { attempt } = start(AT_AWS, () => ({ statusCode, __type, message: 'No.' }))
  expect(await Promise.all([attempt(), attempt()])).toMatchObject([expected, expected])
})

test('a header alone may name the refusal of a queue', async () => {
  const headers = { 'x-amzn-query-error': 'AWS.SimpleQueueService.NonExistentQueue;Sender' }
  const { attempt } = start(AT_AWS, () => ({ statusCode: 400, headers }))
  expect(await attempt()).toMatchObject({ error: 'queue_missing', permanent: true })
})

test.each([{ statusCode: 302 }, { statusCode: 404 }, { statusCode: 413, retryAfterSeconds: 60 }])(
  'a batch that a proxy refuses whatever its content is sent once: %o',
  async (refusal) => {
    const { requests, attempt } = start(AT_AWS, () => refusal)
    const { statusCode: _, ...later } = refusal
    const expected = { error: 'invalid_response', permanent: false, ...later }
    expect(await Promise.all([attempt(), attempt()])).toMatchObject([expected, expected])
    expect(requests).toHaveLength(1)
  },
)

test('a batch that a proxy refuses for its size is sent in parts, before the same deadline', async () => {
  const isLarge = (request: HttpRequest) => entriesOf(request).length > 1
  const answer = (request: HttpRequest) => (isLarge(request) ? { statusCode: 413 } : stored(request))
  const { requests, attempt } = start({ ...AT_AWS, attemptTimeoutMs: 5_000 }, answer)
  const delivered = { kind: 'response', statusCode: 200 }
  expect(await Promise.all([attempt(), attempt()])).toMatchObject([delivered, delivered])
  const [signal, ...others] = requests.map((request) => request.signal)
  expect(signal).toBeInstanceOf(AbortSignal)
  expect(others.map((other) => other === signal)).toEqual([true, true])
})
