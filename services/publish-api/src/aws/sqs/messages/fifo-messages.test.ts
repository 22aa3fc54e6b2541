import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageCommand,
} from '@aws-sdk/client-sqs'
import { startFairTimer } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SqsApi, startSqsApi } from '../sqs.fixture.ts'

let sqs: SqsApi
beforeAll(async () => {
  sqs = await startSqsApi()
})
afterAll(() => sqs.stop())

const create = (Attributes: Record<string, string> = {}) =>
  sqs.createQueue({ FifoQueue: 'true', ...Attributes })
let ids = 0
const send = (QueueUrl: string, MessageGroupId: string, MessageBody: string, given = {}) => {
  ids += 1
  const order = { MessageGroupId, MessageDeduplicationId: `id-${ids}` }
  return sqs.client.send(new SendMessageCommand({ QueueUrl, MessageBody, ...order, ...given }))
}
async function receive(
  QueueUrl: string,
  given: Partial<ReceiveMessageCommandInput> = {},
): Promise<Message[]> {
  const asked = { QueueUrl, MaxNumberOfMessages: 10, ...given }
  return (await sqs.client.send(new ReceiveMessageCommand(asked))).Messages ?? []
}
const bodies = (messages: Message[]) => messages.map(({ Body }) => Body)
const show = (QueueUrl: string, message: Message | undefined, VisibilityTimeout: number) =>
  sqs.client.send(
    new ChangeMessageVisibilityCommand({
      QueueUrl,
      ReceiptHandle: message?.ReceiptHandle,
      VisibilityTimeout,
    }),
  )

test('[183] nothing later than a message in flight is returned, earlier visible ones are', async () => {
  const queue = await create({ VisibilityTimeout: '30' })
  for (const body of ['m1', 'm2', 'm3', 'm4']) await send(queue, 'g', body)
  await send(queue, 'other', 'o1')
  const [m1, m2, m3] = await receive(queue, { MaxNumberOfMessages: 3 })
  expect(bodies([m1, m2, m3].flatMap((message) => message ?? []))).toEqual(['m1', 'm2', 'm3'])
  expect(bodies(await receive(queue))).toEqual(['o1'])
  await show(queue, m2, 300)
  await sqs.later(31_000)
  expect(bodies(await receive(queue)).sort()).toEqual(['m1', 'o1'])
})

test('[183] a deleted head leaves its group blocked by what is still in flight; one shown again is returned', async () => {
  const queue = await create({ VisibilityTimeout: '30' })
  for (const body of ['m1', 'm2', 'm3']) await send(queue, 'g', body)
  const [m1] = await receive(queue, { MaxNumberOfMessages: 2 })
  await show(queue, m1, 0)
  const [again] = await receive(queue, { MaxNumberOfMessages: 1 })
  expect(again?.Body).toBe('m1')
  const handle = { QueueUrl: queue, ReceiptHandle: again?.ReceiptHandle }
  await sqs.client.send(new DeleteMessageCommand(handle))
  expect(await receive(queue)).toEqual([])
})

test('[184] a copy within 5 minutes is accepted and not stored, even after the first was deleted', async () => {
  const queue = await create()
  const first = await send(queue, 'g', 'once', { MessageDeduplicationId: 'same' })
  const [message] = await receive(queue)
  await sqs.client.send(new DeleteMessageCommand({ QueueUrl: queue, ReceiptHandle: message?.ReceiptHandle }))
  await sqs.later(290_000)
  const copy = await send(queue, 'g', 'once', { MessageDeduplicationId: 'same' })
  expect([copy.MessageId, copy.SequenceNumber]).toEqual([first.MessageId, first.SequenceNumber])
  expect(await receive(queue)).toEqual([])
  await sqs.later(11_000)
  await send(queue, 'g', 'again', { MessageDeduplicationId: 'same' })
  expect(bodies(await receive(queue))).toEqual(['again'])
})

test('copies are known by their bodies where the queue says so, and within a group where it says that', async () => {
  const byContent = await create({ ContentBasedDeduplication: 'true' })
  for (const body of ['same', 'same', 'other']) {
    await send(byContent, 'g', body, { MessageDeduplicationId: undefined })
  }
  expect(bodies(await receive(byContent))).toEqual(['same', 'other'])
  const inGroups = await create({ DeduplicationScope: 'messageGroup' })
  for (const group of ['a', 'b', 'a']) await send(inGroups, group, group, { MessageDeduplicationId: 'same' })
  expect(bodies(await receive(inGroups)).sort()).toEqual(['a', 'b'])
})

test('a received message has its group, deduplication id and sequence number', async () => {
  const queue = await create()
  const sent = await send(queue, 'g', 'x', { MessageDeduplicationId: 'd' })
  const [message] = await receive(queue, { AttributeNames: ['All'] })
  expect(message?.Attributes).toMatchObject({
    MessageGroupId: 'g',
    MessageDeduplicationId: 'd',
    SequenceNumber: sent.SequenceNumber,
    ApproximateReceiveCount: '1',
  })
})

test('a receive that is repeated with its attempt id gets the same messages and handles, while none was changed', async () => {
  const queue = await create({ VisibilityTimeout: '30' })
  for (const body of ['m1', 'm2']) await send(queue, 'g', body)
  const ReceiveRequestAttemptId = 'attempt-1'
  const first = await receive(queue, { ReceiveRequestAttemptId })
  expect(bodies(first)).toEqual(['m1', 'm2'])
  expect(await receive(queue, { ReceiveRequestAttemptId: 'attempt-2' })).toEqual([])
  expect(await receive(queue, { ReceiveRequestAttemptId })).toEqual(first)
  await show(queue, first[0], 100)
  await expect(receive(queue, { ReceiveRequestAttemptId })).rejects.toMatchObject({
    name: 'InvalidParameterValue',
    message: expect.stringMatching(/^Value attempt-1 for parameter ReceiveRequestAttemptId is invalid/),
  })
  await expect(receive(queue, { ReceiveRequestAttemptId: 'a b' })).rejects.toMatchObject({
    name: 'InvalidParameterValue',
  })
})

test('a long poll is woken when the way of a group comes free', async () => {
  const queue = await create()
  for (const body of ['m1', 'm2']) await send(queue, 'g', body)
  const [m1] = await receive(queue, { MaxNumberOfMessages: 1 })
  const waiting = receive(queue, { WaitTimeSeconds: 20 })
  await sqs.client.send(new DeleteMessageCommand({ QueueUrl: queue, ReceiptHandle: m1?.ReceiptHandle }))
  const took = startFairTimer(sqs.api.server.pid())
  expect(bodies(await waiting)).toEqual(['m2'])
  expect(took()).toBeLessThan(1_500)
})
