/** Functions and streams as subscribers of SNS, and functions as consumers of queues, with the SDK's clients. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import {
  CreateTopicCommand,
  GetSubscriptionAttributesCommand,
  PublishCommand,
  SetTopicAttributesCommand,
} from '@aws-sdk/client-sns'
import { GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { type ReceivedRequest, type Reply, startReceiver, waitFor } from '@fantail/test-kit'
import { afterAll, expect, test } from 'vitest'
import { queueArn, topicArn, useAwsClients } from '../../harness/aws/aws-clients.ts'
import { useStack } from '../../harness/services/stack.ts'

/** A receiver that takes the place of the invoke API of every function. */
const lambda = await startReceiver()
const firehose = await startReceiver()
const folder = await mkdtemp(join(tmpdir(), 'fantail-streams-'))
const stack = useStack({
  env: {
    FANTAIL_FUNCTIONS: JSON.stringify({ '*': lambda.url }),
    FANTAIL_STREAMS: JSON.stringify({ orders: firehose.url, files: `file://${folder}` }),
  },
})
const aws = useAwsClients(stack)

afterAll(async () => {
  await Promise.all([lambda.close(), firehose.close(), rm(folder, { recursive: true })])
})

const functionArn = (name: string) => `arn:aws:lambda:us-east-1:000000000000:function:${name}`
const pathOf = (name: string) => `/2015-03-31/functions/${name}/invocations`
const answer = (name: string, reply: Reply | ((request: ReceivedRequest, n: number) => Reply)) =>
  lambda.respond(pathOf(name), reply)
const ACCEPTED = { status: 202, headers: { 'x-amzn-requestid': 'r-1' } }

/** A topic, its function, and the URL of the queue for failed deliveries. */
async function subscribed(name: string) {
  await aws().sns.send(new CreateTopicCommand({ Name: name }))
  const dead = await aws().createQueue(`${name}-dead`)
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queueArn(`${name}-dead`) })
  const endpoint = functionArn(name)
  const arn = await aws().subscribe(name, { protocol: 'lambda', endpoint, attributes: { RedrivePolicy } })
  return { arn, dead }
}

/** The value of SNS's metric NumberOfNotificationsFailed. */
async function failedOf(topic: string): Promise<number> {
  const text = await (await fetch(`${stack().worker(0).url}/metrics`)).text()
  const series = `aws_sns_number_of_notifications_failed_total{TopicName="${topic}"`
  const line = text.split('\n').find((one) => one.startsWith(series))
  return Number(line?.split(' ').at(-1) ?? 0)
}

const publish = (topic: string, Message: string, more = {}) =>
  aws().sns.send(new PublishCommand({ TopicArn: topicArn(topic), Message, ...more }))

test('[304][341][348][352] a function takes part at once, gets SNS’s event, and its 202 is logged', async () => {
  answer('accepts', { ...ACCEPTED, body: 'whatever' })
  const { arn } = await subscribed('accepts')
  const attributes = { LambdaSuccessFeedbackRoleArn: 'arn:aws:iam::000000000000:role/x' }
  for (const [AttributeName, AttributeValue] of Object.entries(attributes)) {
    const set = { TopicArn: topicArn('accepts'), AttributeName, AttributeValue }
    await aws().sns.send(new SetTopicAttributesCommand(set))
  }
  const shown = await aws().sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn: arn }))
  expect(shown.Attributes).toMatchObject({
    Protocol: 'lambda',
    Endpoint: functionArn('accepts'),
    PendingConfirmation: 'false',
    ConfirmationWasAuthenticated: 'true',
    RawMessageDelivery: 'false',
  })
  expect(shown.Attributes).not.toHaveProperty('EffectiveDeliveryPolicy')
  const { MessageId } = await publish('accepts', 'hello', { Subject: 'Hi' })
  const [request] = await lambda.waitForRequests(1, pathOf('accepts'))
  expect(request?.headers).toMatchObject({ 'x-amz-invocation-type': 'Event' })
  expect(JSON.parse(request?.text ?? '')).toMatchObject({
    Records: [
      {
        EventSource: 'aws:sns',
        EventSubscriptionArn: arn,
        Sns: { MessageId, Subject: 'Hi', Message: 'hello', SignatureVersion: '1', MessageAttributes: {} },
      },
    ],
  })
  const log = () => stack().worker(0).logText()
  await waitFor(() => log().includes('"delivery.status"'))
  const [line = ''] = /\{.*"delivery\.status".*\}/.exec(log()) ?? []
  expect(JSON.parse(line)).toMatchObject({
    status: 'SUCCESS',
    delivery: {
      destination: functionArn('accepts'),
      providerResponse: '{"lambdaRequestId":"r-1"}',
      statusCode: 202,
    },
  })
})

test.each([
  ['missing', 404, 'ResourceNotFoundException'],
  ['denied', 403, 'AccessDeniedException'],
])(
  '[309][311][350][351] a function that is %s: the message is dead-lettered after one attempt',
  async (name, status, type) => {
    answer(name, { status, headers: { 'x-amzn-errortype': type }, body: '{"Message":"No."}' })
    const { dead } = await subscribed(name)
    const { MessageId } = await publish(name, 'hello', {
      MessageAttributes: { size: { DataType: 'Number', StringValue: '3' } },
    })
    const letter = await aws().receive(dead)
    expect(JSON.parse(letter.Body ?? '')).toMatchObject({
      Type: 'Notification',
      MessageId,
      SigningCertURL: expect.stringMatching(/\.pem$/),
      MessageAttributes: { size: { Type: 'Number', Value: '3' } },
    })
    expect(letter.MessageAttributes).toBeUndefined()
    expect(lambda.requestsTo(pathOf(name))).toHaveLength(1)
    expect(await waitFor(() => failedOf(name))).toBe(1)
  },
)

test('[310][311][349][354] throttles, faults and errors of the function are retried, and leave no dead letter', async () => {
  const replies = [{ status: 429 }, { status: 500 }, { body: '{"errorType":"TypeError"}' }]
  answer('recovers', (_, n) => replies[n - 1] ?? ACCEPTED)
  const { dead } = await subscribed('recovers')
  await publish('recovers', 'hello')
  const requests = await lambda.waitForRequests(4, pathOf('recovers'))
  expect(new Set(requests.map(({ text }) => text)).size).toBe(1)
  await waitFor(async () => {
    const { body } = await stack().client.call<{ counts?: Record<string, number> }>(
      'GET',
      `/v1/messages/${JSON.parse(requests[0]?.text ?? '').Records[0].Sns.MessageId}`,
    )
    return body.counts?.delivered === 1
  })
  const asked = { QueueUrl: dead, AttributeNames: ['ApproximateNumberOfMessages' as const] }
  const { Attributes } = await aws().sqs.send(new GetQueueAttributesCommand(asked))
  expect(Attributes?.ApproximateNumberOfMessages).toBe('0')
  expect(await failedOf('recovers')).toBe(0)
})

test('refused credentials cost no attempt: the lane is blocked, and nothing is dead-lettered', async () => {
  answer('forbidden', { status: 403, headers: { 'x-amzn-errortype': 'ExpiredTokenException' } })
  const { arn, dead } = await subscribed('forbidden')
  await publish('forbidden', 'hello')
  const lane = async () => {
    const id = arn.split(':').at(-1)
    const { lane } = await stack().client.get<{ lane: { waiting: number; waitsFor: string | null } }>(
      `/v1/subscriptions/${id}`,
    )
    return lane
  }
  await waitFor(async () => (await lane()).waitsFor === 'misconfigured')
  expect(await lane()).toMatchObject({ waiting: 1, waitsFor: 'misconfigured' })
  const asked = { QueueUrl: dead, AttributeNames: ['ApproximateNumberOfMessages' as const] }
  const { Attributes } = await aws().sqs.send(new GetQueueAttributesCommand(asked))
  expect(Attributes?.ApproximateNumberOfMessages).toBe('0')
})

test('a queue invokes a function with its messages, and deletes what the function has done', async () => {
  const QueueUrl = await aws().createQueue('jobs')
  await stack().client.put('/v1/queues/jobs/consumers/worker', { url: functionArn('worker') })
  await aws().sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'job' }))
  const [request] = await lambda.waitForRequests(1, pathOf('worker'))
  expect(request?.headers).toMatchObject({ 'x-amz-invocation-type': 'RequestResponse' })
  expect(JSON.parse(request?.text ?? '')).toMatchObject({
    Records: [{ eventSource: 'aws:sqs', eventSourceARN: queueArn('jobs'), body: 'job' }],
  })
  await waitFor(async () => {
    const { counts } = await stack().client.get<{ counts: Record<string, number> }>('/v1/queues/jobs')
    return counts.visible === 0 && counts.inFlight === 0
  })
})

const streamArn = (name: string) => `arn:aws:firehose:us-east-1:000000000000:deliverystream/${name}`
const SubscriptionRoleArn = 'arn:aws:iam::000000000000:role/firehose'

/** A topic with a stream of the same name. Its records are raw. */
async function streamed(name: string) {
  await aws().sns.send(new CreateTopicCommand({ Name: name }))
  const dead = await aws().createQueue(`${name}-dead`)
  const attributes = {
    SubscriptionRoleArn,
    RawMessageDelivery: 'true',
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queueArn(`${name}-dead`) }),
  }
  const arn = await aws().subscribe(name, { protocol: 'firehose', endpoint: streamArn(name), attributes })
  return { arn, dead }
}

const recordsOf = ({ text }: ReceivedRequest) =>
  (JSON.parse(text) as { Records: { Data: string }[] }).Records.map(({ Data }) =>
    Buffer.from(Data, 'base64').toString(),
  )
const taken = (record: string) => ({ RecordId: record.trim() })

test('[357] a stream needs a role', async () => {
  await aws().sns.send(new CreateTopicCommand({ Name: 'roles' }))
  const endpoint = { protocol: 'firehose', endpoint: streamArn('orders') } as const
  await expect(aws().subscribe('roles', endpoint)).rejects.toThrow(
    'Invalid parameter: Attributes Reason: SubscriptionRoleArn must be specified for firehose',
  )
})

test('[359][362][365] a stream takes batches, keeps what it took, and refuses permanently but once', async () => {
  const { arn, dead } = await streamed('orders')
  const shown = await aws().sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn: arn }))
  expect(shown.Attributes).toMatchObject({ SubscriptionRoleArn, RawMessageDelivery: 'true' })
  // Each record with an odd number fails once.
  const failed = new Set<string>()
  const failsFirst = (record: string) => Number(record) % 2 === 1 && !failed.has(record) && failed.add(record)
  firehose.respond('/', (request) => {
    const RequestResponses = recordsOf(request).map((record) =>
      failsFirst(record) ? { ErrorCode: 'InternalFailure', ErrorMessage: 'Oops.' } : taken(record),
    )
    return { body: JSON.stringify({ RequestResponses }) }
  })
  const published = Array.from({ length: 10 }, (_, i) => publish('orders', String(i)))
  await Promise.all(published)
  const all = () => firehose.requests.flatMap(recordsOf)
  await waitFor(() => all().length >= 15)
  const counts = Object.groupBy(all(), (record) => record)
  const times = Object.entries(counts).map(([record, sent]) => [record, sent?.length])
  expect(times.sort()).toEqual(Array.from({ length: 10 }, (_, i) => [`${i}\n`, 1 + (i % 2)]))
  firehose.respond('/', { status: 400, body: '{"__type":"ResourceNotFoundException"}' })
  await publish('orders', 'refused')
  expect((await aws().receive(dead)).Body).toBe('refused')
  expect(all().filter((record) => record === 'refused\n')).toHaveLength(1)
})

test('[366] a stream may be a folder of compressed lines', async () => {
  await streamed('files')
  await Promise.all(['a', 'b', 'c'].map((text) => publish('files', text)))
  const read = async () => {
    const found = await readdir(folder, { recursive: true, withFileTypes: true })
    const names = found.filter(({ name }) => name.endsWith('.gz'))
    const texts = await Promise.all(
      names.map(async ({ parentPath, name }) =>
        gunzipSync(await readFile(join(parentPath, name))).toString(),
      ),
    )
    return texts.join('').split('\n').filter(Boolean).sort()
  }
  await waitFor(async () => (await read()).length === 3)
  expect(await read()).toEqual(['a', 'b', 'c'])
})
