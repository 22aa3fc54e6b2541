/**
 * Clients of other AWS services that call this API. They get an error that they can read. It names the services that
 * Fantail has.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SnsApi, startSnsApi } from '../sns/sns.fixture.ts'

let sns: SnsApi

beforeAll(async () => {
  sns = await startSnsApi()
})
afterAll(() => sns.stop())

const SERVED =
  'This endpoint serves Amazon SNS (AWS Query), Amazon SQS (AWS JSON 1.0 and AWS Query) and GetCallerIdentity of STS, not '

const signedFor = (service: string) => ({
  Authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=00`,
})

async function answered(call: Promise<Response>) {
  const response = await call
  const id = response.headers.get('x-amzn-requestid')
  return { status: response.status, text: await response.text(), id }
}

const form = (parameters: Record<string, string>, headers: Record<string, string> = {}, path = '/') =>
  answered(fetch(sns.endpoint + path, { method: 'POST', headers, body: new URLSearchParams(parameters) }))

const json = (headers: Record<string, string>) =>
  answered(
    fetch(`${sns.endpoint}/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-amz-json-1.1', ...headers },
      body: '{}',
    }),
  )

test.each([
  ['the Version of another service', {}, 'version 2010-05-08 (GetUser)'],
  ['a signature for another service', signedFor('iam'), 'iam (GetUser)'],
])('AWS Query with %s', async (_, headers, called) => {
  const { status, text, id } = await form({ Action: 'GetUser', Version: '2010-05-08' }, headers)
  expect(status).toBe(400)
  expect(text).toBe(
    `<ErrorResponse><Error><Type>Sender</Type><Code>InvalidAction</Code><Message>${SERVED}${called}.</Message></Error><RequestId>${id}</RequestId></ErrorResponse>`,
  )
})

test('other operations of STS than GetCallerIdentity are refused', async () => {
  for (const headers of [{}, signedFor('sts')]) {
    const { status, text } = await form({ Action: 'AssumeRole', Version: '2011-06-15' }, headers)
    expect([status, text]).toEqual([400, expect.stringContaining(`${SERVED}sts (AssumeRole).`)])
  }
})

test('an operation of that name at another service is not ours', async () => {
  const { status, text } = await form(
    { Action: 'TagResource', Version: '2010-08-01' },
    signedFor('monitoring'),
  )
  expect([status, text]).toEqual([400, expect.stringContaining(`${SERVED}monitoring (TagResource).`)])
})

test('EC2 and S3 get errors in their own form', async () => {
  const ec2 = await form({ Action: 'DescribeInstances', Version: '2016-11-15' }, signedFor('ec2'))
  expect(ec2.text).toBe(
    `<Response><Errors><Error><Code>InvalidAction</Code><Message>${SERVED}ec2 (DescribeInstances).</Message></Error></Errors><RequestID>${ec2.id}</RequestID></Response>`,
  )
  const s3 = await answered(fetch(`${sns.endpoint}/?x-id=ListBuckets`, { headers: signedFor('s3') }))
  expect([s3.status, s3.text]).toEqual([
    400,
    `<Error><Code>InvalidAction</Code><Message>${SERVED}s3.</Message><RequestId>${s3.id}</RequestId></Error>`,
  ])
})

test('AWS JSON with the target of another service', async () => {
  const { status, text } = await json({ 'X-Amz-Target': 'DynamoDB_20120810.ListTables' })
  expect(status).toBe(400)
  expect(JSON.parse(text)).toEqual({
    __type: 'com.amazon.coral.service#UnknownOperationException',
    message: `${SERVED}DynamoDB_20120810.ListTables.`,
  })
  const rest = await json(signedFor('lambda'))
  expect(JSON.parse(rest.text).message).toBe(`${SERVED}lambda.`)
})

test('operations of SNS and SQS are served, whatever service the signature names', async () => {
  const missing = await json({ 'X-Amz-Target': 'AmazonSQS.Nothing' })
  expect(JSON.parse(missing.text).message).toBe('The action Nothing is not valid for this endpoint.')
  for (const headers of [{}, signedFor('sns'), signedFor('s3')]) {
    const { status } = await form({ Action: 'ListTopics', Version: '2010-03-31' }, headers)
    expect(status).toBe(200)
  }
  const older = await form({ Action: 'ListQueues', Version: '2011-10-01' }, signedFor('sqs'))
  expect([older.status, older.text]).toEqual([200, expect.stringContaining('<ListQueuesResponse')])
})
