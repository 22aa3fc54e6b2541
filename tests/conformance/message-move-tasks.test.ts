/** Message move tasks with the SDK's clients, run by the redrive service. */
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ListMessageMoveTasksCommand,
  type ListMessageMoveTasksResultEntry,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs'
import { queueArn } from '@fantail/contracts'
import { waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { publish, subscribe } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack({ redrive: true })
const receiver = useReceiver()
let client: SQSClient
beforeAll(() => {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  client = new SQSClient({ endpoint: stack().api.url, region: 'us-east-1', credentials })
})
afterAll(() => client.destroy())

const create = (QueueName: string, Attributes = {}) =>
  client.send(new CreateQueueCommand({ QueueName, Attributes }))
const start = (SourceArn: string, more = {}) =>
  client.send(new StartMessageMoveTaskCommand({ SourceArn, ...more }))

async function receive(QueueUrl: string, more = {}): Promise<Message[]> {
  const command = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: 10,
    MessageSystemAttributeNames: ['All'],
    ...more,
  })
  return (await client.send(command)).Messages ?? []
}

async function visible(QueueUrl: string): Promise<number> {
  const AttributeNames = ['ApproximateNumberOfMessages' as const]
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames })
  return Number((await client.send(command)).Attributes?.ApproximateNumberOfMessages)
}

/** The newest task of a source, after it has ended. */
async function ended(SourceArn: string): Promise<ListMessageMoveTasksResultEntry> {
  const command = new ListMessageMoveTasksCommand({ SourceArn })
  const newest = async () => (await client.send(command)).Results?.[0]
  await waitFor(async () => /COMPLETED|FAILED|CANCELLED/.test((await newest())?.Status ?? ''), {
    what: 'the end of the task',
  })
  return (await newest()) ?? {}
}

/**
 * Makes a queue and its dead-letter queue. Each of `bodies` is received once more than allowed, so all become dead
 * letters.
 */
async function fail(name: string, bodies: string[], attributes: Record<string, string> = {}) {
  const suffix = attributes.FifoQueue ? '.fifo' : ''
  const [dead, source] = [`${name}-dead${suffix}`, `${name}${suffix}`]
  await create(dead, attributes)
  const policy = { deadLetterTargetArn: queueArn(dead), maxReceiveCount: 1 }
  await create(source, { ...attributes, RedrivePolicy: JSON.stringify(policy) })
  const Entries = bodies.map((MessageBody, i) => ({
    Id: String(i),
    MessageBody,
    ...(suffix && { MessageGroupId: 'group', MessageDeduplicationId: MessageBody }),
  }))
  await client.send(new SendMessageBatchCommand({ QueueUrl: source, Entries }))
  const first = await receive(source, { VisibilityTimeout: 0 })
  await receive(source)
  expect(await visible(dead)).toBe(bodies.length)
  return { dead, source, first }
}

const ids = (messages: Message[]) => messages.map(({ MessageId }) => MessageId)
const bodies = (messages: Message[]) => messages.map(({ Body }) => Body)

test('each message goes back to its own source queue, as a new one', async () => {
  const { dead, source, first } = await fail('own', ['a', 'b'])
  await start(queueArn(dead))
  expect(await ended(queueArn(dead))).toMatchObject({
    Status: 'COMPLETED',
    ApproximateNumberOfMessagesMoved: 2,
    ApproximateNumberOfMessagesToMove: 2,
  })
  const back = await receive(source)
  expect(bodies(back).sort()).toEqual(['a', 'b'])
  expect(ids(back).filter((id) => ids(first).includes(id))).toEqual([])
  for (const { Attributes } of back) {
    expect(Attributes?.ApproximateReceiveCount).toBe('1')
    expect(Attributes).not.toHaveProperty('DeadLetterQueueSourceArn')
    const earliest = Math.min(...first.map((message) => Number(message.Attributes?.SentTimestamp)))
    expect(Number(Attributes?.SentTimestamp)).toBeGreaterThan(earliest)
  }
  expect(await visible(dead)).toBe(0)
})

test('messages of a FIFO queue go back in order, within five minutes of their first send too', async () => {
  const sent = ['1', '2', '3']
  const { dead, source } = await fail('ordered', sent, { FifoQueue: 'true' })
  await start(queueArn(dead))
  expect(await ended(queueArn(dead))).toMatchObject({
    Status: 'COMPLETED',
    ApproximateNumberOfMessagesMoved: 3,
  })
  const back = await receive(source)
  expect(bodies(back)).toEqual(sent)
  expect(back.map(({ Attributes }) => Attributes?.MessageGroupId)).toEqual(sent.map(() => 'group'))
})

test('messages go to the destination that is given', async () => {
  const { dead, source } = await fail('elsewhere', ['x'])
  await create('rescued')
  await start(queueArn(dead), { DestinationArn: queueArn('rescued') })
  expect(await ended(queueArn(dead))).toMatchObject({
    Status: 'COMPLETED',
    DestinationArn: queueArn('rescued'),
  })
  expect([await visible('rescued'), await visible(source), await visible(dead)]).toEqual([1, 0, 0])
})

test('a task fails when its destination is deleted, and what was not moved stays', async () => {
  const { dead } = await fail('cut', ['1', '2', '3', '4', '5', '6'])
  await create('short-lived')
  const DestinationArn = queueArn('short-lived')
  await start(queueArn(dead), { DestinationArn, MaxNumberOfMessagesPerSecond: 2 })
  await waitFor(async () => (await visible('short-lived')) > 0, { what: 'the first message' })
  await client.send(new DeleteQueueCommand({ QueueUrl: 'short-lived' }))
  const task = await ended(queueArn(dead))
  expect(task).toMatchObject({
    Status: 'FAILED',
    FailureReason: 'AWS.SimpleQueueService.NonExistentQueue',
  })
  expect(task).not.toHaveProperty('TaskHandle')
  expect(await visible(dead)).toBe(6 - (task.ApproximateNumberOfMessagesMoved ?? 0))
})

test('dead letters of subscriptions go back to their subscriptions', async () => {
  await create('letters')
  receiver().respond('/failing', { status: 400 })
  await subscribe(stack(), 'orders', {
    endpoint: `${receiver().url}/failing`,
    redrivePolicy: { deadLetterTargetArn: queueArn('letters') },
  })
  await publish(stack(), 'orders', 'hello')
  await waitFor(async () => (await visible('letters')) === 1, { what: 'the dead letter' })
  receiver().respond('/failing', { status: 204 })
  await start(queueArn('letters'))
  expect(await ended(queueArn('letters'))).toMatchObject({
    Status: 'COMPLETED',
    ApproximateNumberOfMessagesMoved: 1,
  })
  await receiver().waitForRequests(2, '/failing')
  expect(await visible('letters')).toBe(0)
})
