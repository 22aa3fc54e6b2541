import { gunzipSync } from 'node:zlib'
import { Sha256 } from '@aws-crypto/sha256-js'
import { type Receiver, type Reply, startReceiver } from '@fantail/test-kit'
import { SignatureV4 } from '@smithy/signature-v4'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createTestSender } from '../http/http-sender.fixture.ts'
import { BucketSink } from './bucket-sink.ts'
import { bucketOf, bucketSigner } from './stream-places.ts'

const NOW = Date.UTC(2026, 10, 22, 10)
const RECORDS = ['a', 'b'].map((id) => ({ id, data: Buffer.from(`${id}\n`), publishedAt: NOW }))
const KEY_PREFIX = '/bucket/raw/2026/11/22/10/or.ders-a-'

const sender = createTestSender({ allowPrivate: false, timeoutMs: 5_000 })
let receiver: Receiver | undefined

afterAll(async () => {
  await receiver?.close()
  await sender.close(0)
})
beforeEach(async () => {
  await receiver?.close()
  receiver = await startReceiver()
})

function put(reply: Reply, userinfo = 'AKID:s%2Fcret@') {
  receiver?.respond(() => true, reply)
  const url = new URL(`s3+http://${userinfo}127.0.0.1:${receiver?.port}/bucket/raw?region=eu-west-1`)
  const bucket = bucketOf(url)
  if (!bucket) throw new Error('it is a bucket')
  const aws = bucketSigner(url, undefined)
  return new BucketSink({ ...bucket, aws, sender, clock: () => NOW, streamName: 'or.ders', lingerMs: 0 }).put(
    RECORDS,
    2_000,
  )
}

test('[366][368] a batch is one object of compressed lines, and the same batch again has the same key', async () => {
  const [results] = [await put({}), await put({})]
  expect(results).toMatchObject([{ statusCode: 200 }, { statusCode: 200 }])
  const [first, again] = receiver?.requests ?? []
  expect(first).toMatchObject({ method: 'PUT', headers: { 'content-type': 'application/gzip' } })
  expect(first?.path.startsWith(KEY_PREFIX)).toBe(true)
  expect(again?.path).toBe(first?.path)
  expect(gunzipSync(first?.body ?? Buffer.of()).toString()).toBe('a\nb\n')
})

test('credentials that do not come end the attempt at its deadline', async () => {
  const place = bucketOf(new URL(`s3+http://AKID:secret@127.0.0.1:${receiver?.port}/bucket?region=eu-west-1`))
  if (!place) throw new Error('it is a bucket')
  const { promise: never } = Promise.withResolvers<Record<string, string>>()
  const given = {
    ...place,
    aws: { sign: () => never },
    sender,
    clock: () => NOW,
    streamName: 'o',
    lingerMs: 0,
  }
  const late = { kind: 'failure', error: 'timeout', permanent: false }
  expect(await new BucketSink(given).put(RECORDS, 20)).toMatchObject([late, late])
  expect(receiver?.requests).toEqual([])
})

test('the signature is the AWS SDK’s, of the path as it is sent and of the object’s bytes', async () => {
  await put({})
  const [request] = receiver?.requests ?? []
  const {
    authorization,
    'x-amz-date': _,
    'content-length': __,
    connection: ___,
    ...headers
  } = request?.headers ?? {}
  const signer = new SignatureV4({
    credentials: { accessKeyId: 'AKID', secretAccessKey: 's/cret' },
    region: 'eu-west-1',
    service: 's3',
    sha256: Sha256,
    uriEscapePath: false,
  })
  const signed = await signer.sign(
    {
      method: 'PUT',
      protocol: 'http:',
      hostname: '127.0.0.1',
      path: request?.path ?? '',
      headers: headers as Record<string, string>,
      body: request?.body,
    },
    { signingDate: new Date(NOW) },
  )
  expect(signed.headers.authorization).toBe(authorization)
})

test.each<[string, Reply, object]>([
  [
    '[363] SlowDown',
    { status: 503, body: '<Error><Code>SlowDown</Code></Error>' },
    { resultClass: 'retry', isThrottled: true },
  ],
  ['500', { status: 500 }, { resultClass: 'retry' }],
  ['409', { status: 409 }, { resultClass: 'retry' }],
  ['a reset', { reset: true }, { kind: 'failure', permanent: false }],
  [
    'a wrong secret',
    { status: 403, body: '<Error><Code>SignatureDoesNotMatch</Code></Error>' },
    { kind: 'misconfigured', detail: 'the bucket answered 403 SignatureDoesNotMatch' },
  ],
  ['a missing bucket', { status: 404 }, { kind: 'misconfigured', detail: 'the bucket answered 404' }],
  ['a redirect', { status: 301 }, { kind: 'misconfigured' }],
])('%s is the result of every record', async (_, reply, expected) => {
  expect(await put(reply)).toMatchObject([expected, expected])
})

test('a bucket without credentials is a fault of the settings, named without a secret', async () => {
  const credential = `bucket:127.0.0.1:${receiver?.port}/bucket/raw/`
  expect(await put({}, '')).toMatchObject([{ kind: 'misconfigured', credential }, { credential }])
  expect(await put({ status: 403 })).toMatchObject([{ kind: 'misconfigured', credential }, { credential }])
})

test('a bucket at AWS has a host of its own', () => {
  expect(bucketOf(new URL('s3://logs/raw/?region=eu-west-1'))).toEqual({
    base: 'https://logs.s3.eu-west-1.amazonaws.com/raw/',
    region: 'eu-west-1',
    credential: 'bucket:logs/raw/',
  })
  expect(bucketOf(new URL('s3://logs'))?.base).toBe('https://logs.s3.us-east-1.amazonaws.com/')
  expect(bucketOf(new URL('https://logs/'))).toBeUndefined()
})
