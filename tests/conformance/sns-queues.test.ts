/** Queues as subscribers and as dead-letter queues of SNS, by the SDK's clients of both services. */
import { createHash } from 'node:crypto'
import { ConfirmSubscriptionCommand, CreateTopicCommand, PublishCommand } from '@aws-sdk/client-sns'
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { freePort, waitFor, withoutToken } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { queueArn, topicArn, useAwsClients } from '../harness/aws/aws-clients.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { useStack } from '../harness/services/stack.ts'

/** Queues of this region are reached over the AWS protocols, as queues at AWS are. */
const OUTSIDE = 'eu-west-1'
const FANTAIL_PORT = String(await freePort())
const FANTAIL_AWS_QUEUES = JSON.stringify({
  [`arn:aws:sqs:${OUTSIDE}:*:*`]: `http://OUTSIDE:test@127.0.0.1:${FANTAIL_PORT}`,
})
const stack = useStack({ env: { FANTAIL_PORT, FANTAIL_AWS_QUEUES } })
const receiver = useReceiver()
const aws = useAwsClients(stack)
const OTHER_ACCOUNT = '222222222222'
const other = useAwsClients(stack, OTHER_ACCOUNT)

const createTopic = (Name: string) => aws().sns.send(new CreateTopicCommand({ Name }))
const publish = (topic: string, Message: string, more = {}) =>
  aws().sns.send(new PublishCommand({ TopicArn: topicArn(topic), Message, ...more }))
const deadLetters = (queue: string) => ({
  RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queueArn(queue) }),
})

/** A topic whose webhook answers with `status`, and the URL of the queue for its failed deliveries. */
async function failing(topic: string, status: number, attributes: Record<string, string> = {}) {
  await createTopic(topic)
  const url = await aws().createQueue(`${topic}-dead`)
  const endpoint = `${receiver().url}/${topic}`
  const arn = await aws().subscribe(topic, {
    protocol: 'http',
    endpoint,
    attributes: { ...deadLetters(`${topic}-dead`), ...attributes },
  })
  const [asked] = await receiver().waitForRequests(1, `/${topic}`)
  const { Token } = JSON.parse(asked?.text ?? '{}')
  await aws().sns.send(new ConfirmSubscriptionCommand({ TopicArn: topicArn(topic), Token }))
  receiver().respond(`/${topic}`, { status })
  return { url, arn }
}

const attempts = (topic: string) => receiver().requestsTo(`/${topic}`).length - 1

test('[135] raw: the bare text, each attribute with its type, the trace and the group', async () => {
  await createTopic('raw')
  const url = await aws().createQueue('raw')
  const attributes = { RawMessageDelivery: 'true' }
  await aws().subscribe('raw', { protocol: 'sqs', endpoint: queueArn('raw'), attributes })
  const command = new PublishCommand({
    TopicArn: topicArn('raw'),
    Message: 'bare é',
    MessageGroupId: 'customer-7',
    MessageAttributes: {
      size: { DataType: 'Number.int', StringValue: '3' },
      tags: { DataType: 'String.Array', StringValue: '["a"]' },
      blob: { DataType: 'Binary', BinaryValue: Buffer.from([2, 3, 4]) },
    },
  })
  const trace = 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1'
  command.middlewareStack.add(
    (next) => (args) => {
      Object.assign((args.request as { headers: Record<string, string> }).headers, {
        'X-Amzn-Trace-Id': trace,
      })
      return next(args)
    },
    { step: 'build' },
  )
  await aws().sns.send(command)
  const message = await aws().receive(url)
  expect(message).toMatchObject({
    Body: 'bare é',
    MD5OfBody: createHash('md5').update('bare é').digest('hex'),
    MessageAttributes: {
      size: { DataType: 'Number.int', StringValue: '3' },
      tags: { DataType: 'String.Array', StringValue: '["a"]' },
      blob: { DataType: 'Binary', BinaryValue: new Uint8Array([2, 3, 4]) },
    },
    Attributes: { AWSTraceHeader: trace, MessageGroupId: 'customer-7' },
  })
})

test('a queue gets the envelope, with the text of its protocol', async () => {
  await createTopic('wrapped')
  const url = await aws().createQueue('wrapped')
  const arn = await aws().subscribe('wrapped', { protocol: 'sqs', endpoint: queueArn('wrapped') })
  const { MessageId } = await publish('wrapped', '{"default":"d","sqs":"for queues"}', {
    MessageStructure: 'json',
    MessageAttributes: { a: { DataType: 'String', StringValue: 'b' } },
  })
  const { Body, MessageAttributes } = await aws().receive(url)
  expect(JSON.parse(Body ?? '')).toMatchObject({
    Type: 'Notification',
    MessageId,
    TopicArn: topicArn('wrapped'),
    Message: 'for queues',
    UnsubscribeURL: expect.stringContaining(
      `${stack().api.url}/?Action=Unsubscribe&SubscriptionArn=${arn}&Token=`,
    ),
    MessageAttributes: { a: { Type: 'String', Value: 'b' } },
  })
  expect(MessageAttributes).toBeUndefined()
})

test('a queue of another account confirms by the message that its policy lets in', async () => {
  await createTopic('foreign')
  const url = await other().createQueue('foreign')
  const endpoint = queueArn('foreign', OTHER_ACCOUNT)
  const Statement = {
    Effect: 'Allow',
    Principal: { Service: 'sns.amazonaws.com' },
    Action: 'sqs:SendMessage',
    Resource: endpoint,
    Condition: { ArnEquals: { 'aws:SourceArn': topicArn('foreign') } },
  }
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
  await other().sqs.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { Policy } }))
  await aws().subscribe('foreign', { protocol: 'sqs', endpoint, attributes: { RawMessageDelivery: 'true' } })
  const { Token, TopicArn, Type } = JSON.parse((await other().receive(url)).Body ?? '')
  expect([Type, TopicArn]).toEqual(['SubscriptionConfirmation', topicArn('foreign')])
  await other().sns.send(new ConfirmSubscriptionCommand({ TopicArn, Token }))
  await publish('foreign', 'across')
  expect((await waitFor(() => other().receive(url))).Body).toBe('across')
})

test('[150][152][154] a 404 is one attempt, and the envelope is in the dead-letter queue, without a trace of why', async () => {
  const { url, arn } = await failing('gone', 404)
  const { MessageId } = await publish('gone', 'lost', {
    MessageAttributes: { a: { DataType: 'String', StringValue: 'b' } },
  })
  const letter = await aws().receive(url)
  const sent = receiver().requestsTo('/gone')[1]
  // A reader of the queue is not the subscriber, so the letter's link has no token.
  expect(letter.Body).toBe(withoutToken(sent?.text))
  expect(JSON.parse(letter.Body ?? '')).toMatchObject({ MessageId, Message: 'lost' })
  expect(letter.Body).toContain(arn)
  expect(letter.MessageAttributes).toBeUndefined()
  expect(letter.Attributes).toMatchObject({ ApproximateReceiveCount: '1' })
  expect(letter.Attributes).not.toHaveProperty('DeadLetterQueueSourceArn')
  expect(attempts('gone')).toBe(1)
})

test('[151][153] a 500 is tried 1 + numRetries times; raw, the dead letter is the text with its attributes', async () => {
  const retries = { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 2, numNoDelayRetries: 2 }
  const { url } = await failing('broken', 500, {
    RawMessageDelivery: 'true',
    DeliveryPolicy: JSON.stringify({ healthyRetryPolicy: retries }),
  })
  await publish('broken', 'lost', { MessageAttributes: { n: { DataType: 'Number', StringValue: '7' } } })
  const letter = await aws().receive(url)
  expect(letter.Body).toBe('lost')
  expect(letter.MessageAttributes).toEqual({ n: { DataType: 'Number', StringValue: '7' } })
  expect(attempts('broken')).toBe(3)
})

test('a queue whose policy denies SNS sends what it misses to the dead-letter queue at once', async () => {
  await createTopic('denied')
  const url = await aws().createQueue('denied')
  const Statement = {
    Effect: 'Deny',
    Principal: { Service: 'sns.amazonaws.com' },
    Action: 'sqs:SendMessage',
    Resource: queueArn('denied'),
    Condition: { ArnEquals: { 'aws:SourceArn': topicArn('denied') } },
  }
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
  await aws().sqs.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { Policy } }))
  const dead = await aws().createQueue('denied-dead')
  const attributes = { RawMessageDelivery: 'true', ...deadLetters('denied-dead') }
  await aws().subscribe('denied', { protocol: 'sqs', endpoint: queueArn('denied'), attributes })
  await publish('denied', 'kept out')
  expect((await aws().receive(dead)).Body).toBe('kept out')
})

/** A queue of the region outside, whose policy lets no topic send, and what is received from it. */
async function outsideQueue(QueueName: string, more: Record<string, string> = {}) {
  const credentials = { accessKeyId: 'OUTSIDE', secretAccessKey: 'test' }
  const client = new SQSClient({ endpoint: stack().api.url, region: OUTSIDE, credentials, maxAttempts: 1 })
  const Resource = queueArn(QueueName).replace('us-east-1', OUTSIDE)
  const Principal = { Service: 'sns.amazonaws.com' }
  const Statement = { Effect: 'Deny', Principal, Action: 'sqs:SendMessage', Resource }
  const Attributes = { Policy: JSON.stringify({ Version: '2012-10-17', Statement }), ...more }
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName, Attributes }))
  const received: Message[] = []
  const receive = async (count: number) => {
    const command = new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 10,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
      WaitTimeSeconds: 1,
    })
    await waitFor(async () => {
      const { Messages = [] } = await client.send(command)
      for (const { ReceiptHandle } of Messages)
        await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
      received.push(...Messages)
      return received.length >= count
    })
    client.destroy()
    return received
  }
  return { arn: Resource, receive }
}

test('a queue outside of this Fantail gets what SNS would send, with the operator’s credentials', async () => {
  await createTopic('outside')
  const { arn, receive } = await outsideQueue('outside')
  const attributes = { RawMessageDelivery: 'true' }
  await aws().subscribe('outside', { protocol: 'sqs', endpoint: arn, attributes })
  const MessageAttributes = { size: { DataType: 'Number.int', StringValue: '3' } }
  const texts = Array.from({ length: 12 }, (_, i) => `bare ${i}`)
  await Promise.all(texts.map((text) => publish('outside', text, { MessageAttributes })))
  const received = await receive(texts.length)
  expect(received.map(({ Body }) => Body).sort()).toEqual(texts.sort())
  expect(received[0]?.MessageAttributes).toEqual(MessageAttributes)
})

test('a FIFO queue outside gets groups in order; a missing queue is not tried again', async () => {
  const fifo = { FifoTopic: 'true' }
  await aws().sns.send(new CreateTopicCommand({ Name: 'outside.fifo', Attributes: fifo }))
  const { arn, receive } = await outsideQueue('outside.fifo', { FifoQueue: 'true' })
  const dead = await aws().createQueue('outside-dead.fifo', { FifoQueue: 'true' })
  await aws().subscribe('outside.fifo', { protocol: 'sqs', endpoint: arn })
  const missing = { endpoint: arn.replace('outside.fifo', 'missing.fifo'), protocol: 'sqs' } as const
  await aws().subscribe('outside.fifo', { ...missing, attributes: deadLetters('outside-dead.fifo') })
  const ids = Array.from({ length: 12 }, (_, i) => ({
    MessageGroupId: `g${i % 2}`,
    MessageDeduplicationId: `d${i}`,
  }))
  for (const [i, id] of ids.entries()) await publish('outside.fifo', String(i), id)
  const received = await receive(ids.length)
  const bodies = Object.groupBy(received, ({ Attributes }) => Attributes?.MessageGroupId ?? '')
  const textsOf = (messages: Message[] = []) => messages.map(({ Body }) => JSON.parse(Body ?? '').Message)
  expect([textsOf(bodies.g0), textsOf(bodies.g1)]).toEqual([
    ['0', '2', '4', '6', '8', '10'],
    ['1', '3', '5', '7', '9', '11'],
  ])
  expect(received[0]?.Attributes?.MessageDeduplicationId).toMatch(/^d\d+$/)
  expect(JSON.parse((await aws().receive(dead)).Body ?? '')).toMatchObject({ Message: expect.any(String) })
})
