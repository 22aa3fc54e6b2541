/** Compares requests to a server on loopback with those of the AWS SDK, and checks the results of each answer. */
import { FirehoseClient, PutRecordBatchCommand } from '@aws-sdk/client-firehose'
import type { AttemptResult } from '@fantail/contracts'
import { type Receiver, type Reply, startReceiver } from '@fantail/test-kit'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { AwsSigner } from '../aws/aws-signer.ts'
import type { HttpRequest } from '../http/http-request.ts'
import { createTestSender } from '../http/http-sender.fixture.ts'
import { FirehoseSink } from './firehose-sink.ts'

const NOW = Date.UTC(2026, 10, 22, 10)
const CREDENTIALS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret/+1' }
const RECORDS = ['a', 'b', 'c'].map((id) => ({ id, data: Buffer.from(`${id}\n`), publishedAt: NOW }))

const sender = createTestSender({ allowPrivate: false, timeoutMs: 5_000 })
const PLACE = {
  sender,
  clock: () => NOW,
  region: 'us-east-1',
  isMapped: true,
  signer: undefined,
  streamName: 'orders',
  credential: 'streams:x',
}
let receiver: Receiver | undefined

afterAll(async () => {
  await receiver?.close()
  await sender.close(0)
})
beforeEach(async () => {
  await receiver?.close()
  receiver = await startReceiver()
})

function put(reply: Reply) {
  receiver?.respond(() => true, reply)
  const url = `${receiver?.url}/`
  return new FirehoseSink({ ...PLACE, url }).put(RECORDS, 2_000)
}

const answered = (...RequestResponses: object[]): Reply => ({
  body: JSON.stringify({ FailedPutCount: 1, Encrypted: false, RequestResponses }),
})
const failed = (status: number, type: string): Reply => ({
  status,
  body: JSON.stringify({ __type: type, message: 'No.' }),
})

test('[362] only records that the answer names as failed are retried', async () => {
  const results = await put(
    answered(
      { RecordId: '1' },
      { ErrorCode: 'ServiceUnavailableException', ErrorMessage: 'Slow down.' },
      { ErrorCode: 'InternalFailure', ErrorMessage: 'Oops.' },
    ),
  )
  expect(results).toMatchObject([
    { statusCode: 200, text: '{"recordId":"1"}' },
    { resultClass: 'retry', isThrottled: true },
    { resultClass: 'retry' },
  ])
  expect(results.map((result) => 'isThrottled' in result)).toEqual([false, true, false])
  expect(results[0]).not.toHaveProperty('resultClass')
})

test('the request is the SDK’s: target, content type and body', async () => {
  const client = new FirehoseClient({
    region: 'eu-west-1',
    endpoint: receiver?.url ?? '',
    credentials: CREDENTIALS,
    maxAttempts: 1,
  })
  receiver?.respond(() => true, answered({ RecordId: '1' }, { RecordId: '2' }, { RecordId: '3' }))
  const Records = RECORDS.map(({ data }) => ({ Data: data }))
  await client.send(new PutRecordBatchCommand({ DeliveryStreamName: 'orders', Records }))
  client.destroy()
  await put(answered({ RecordId: '1' }, { RecordId: '2' }, { RecordId: '3' }))
  const shown = receiver?.requests.map(({ method, path, headers, text }) => [
    method,
    path,
    headers['content-type'],
    headers['x-amz-target'],
    JSON.parse(text),
  ])
  expect(shown).toHaveLength(2)
  expect(shown?.[1]).toEqual(shown?.[0])
})

test.each<[string, Reply, object]>([
  [
    '[363] 503 ServiceUnavailableException',
    failed(503, 'ServiceUnavailableException'),
    { isThrottled: true, resultClass: 'retry' },
  ],
  [
    '[363] 400 ThrottlingException',
    failed(400, 'ThrottlingException'),
    { isThrottled: true, resultClass: 'retry' },
  ],
  [
    '[363] 400 LimitExceededException',
    failed(400, 'com.amazonaws#LimitExceededException'),
    { isThrottled: true, resultClass: 'retry' },
  ],
  ['[364] 500', failed(500, 'InternalFailure'), { kind: 'response', statusCode: 500 }],
  ['[364] a reset', { reset: true }, { kind: 'failure', permanent: false }],
  [
    '[365] ResourceNotFoundException',
    failed(400, 'ResourceNotFoundException'),
    { kind: 'response', statusCode: 400 },
  ],
  [
    'InvalidArgumentException',
    failed(400, 'InvalidArgumentException'),
    { kind: 'response', statusCode: 400 },
  ],
  [
    'expired credentials',
    failed(400, 'ExpiredTokenException'),
    { kind: 'misconfigured', credential: 'streams:x' },
  ],
  [
    'a 404 without the name of an error',
    { status: 404, body: '<html>' },
    { error: 'invalid_response', permanent: false },
  ],
  [
    'an answer that names too few records',
    answered({ RecordId: '1' }),
    { error: 'invalid_response', permanent: false },
  ],
  ['an answer that is no JSON', { body: '<html>' }, { error: 'invalid_response', permanent: false }],
])('%s is the result of every record', async (_, reply, expected) => {
  const results = await put(reply)
  expect(results).toMatchObject([expected, expected, expected])
  if (!('resultClass' in expected)) expect(results[0]).not.toHaveProperty('resultClass')
})

test('a batch that is too large for a proxy is written in halves, with one deadline', async () => {
  const requests: HttpRequest[] = []
  const send = (request: HttpRequest, done: (result: AttemptResult) => void) => {
    requests.push(request)
    const { Records } = JSON.parse(String(request.body)) as { Records: unknown[] }
    const isTooLarge = Records.length > 1
    const body = JSON.stringify({ RequestResponses: Records.map(() => ({ RecordId: '1' })) })
    const answer = { kind: 'response', durationMs: 1 } as const
    done(
      isTooLarge ? { ...answer, statusCode: 413 } : { ...answer, statusCode: 200, body: Buffer.from(body) },
    )
  }
  const results = await new FirehoseSink({ ...PLACE, url: 'http://127.0.0.1/', sender: { send } }).put(
    RECORDS,
    5_000,
  )
  const written = { kind: 'response', statusCode: 200 }
  expect(results).toMatchObject([written, written, written])
  expect(requests).toHaveLength(5)
  expect(new Set(requests.map(({ signal }) => signal)).size).toBe(1)
})

test('a request to AWS is signed for firehose in the stream’s region', async () => {
  const aws = new AwsSigner({ credentials: CREDENTIALS, targets: [] })
  const request = await new Promise<HttpRequest>((resolve) => {
    const url = 'https://firehose.eu-west-1.amazonaws.com/'
    const at = { url, region: 'eu-west-1', isMapped: false, signer: aws }
    void new FirehoseSink({ ...PLACE, ...at, sender: { send: resolve } }).put(RECORDS, 2_000)
  })
  expect(request.route).toBeUndefined()
  expect(request.headers).toMatchObject({
    'x-amz-date': '20261122T100000Z',
    authorization: expect.stringContaining('Credential=AKIDEXAMPLE/20261122/eu-west-1/firehose/aws4_request'),
  })
})

test('credentials that do not come in time end the attempt, and are not called broken', async () => {
  const signer = { sign: () => new Promise<never>(() => {}) }
  const results = await new FirehoseSink({ ...PLACE, url: `${receiver?.url}/`, signer }).put(RECORDS, 20)
  const late = { kind: 'failure', error: 'timeout', permanent: false }
  expect(results).toMatchObject([late, late, late])
  expect(receiver?.requests).toEqual([])
})
