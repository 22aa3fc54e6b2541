/** FIFO topics with subscribed queues, by the SDK's clients of both services. */
import { CreateTopicCommand, PublishBatchCommand, PublishCommand } from '@aws-sdk/client-sns'
import { DeleteMessageCommand, type Message } from '@aws-sdk/client-sqs'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { queueArn, topicArn, useAwsClients } from '../harness/aws/aws-clients.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack()
const aws = useAwsClients(stack)

const createTopic = (Name: string, more = {}) =>
  aws().sns.send(new CreateTopicCommand({ Name, Attributes: { FifoTopic: 'true', ...more } }))
const createFifoQueue = (name: string) => aws().createQueue(name, { FifoQueue: 'true' })
const publish = (topic: string, Message: string, more: { MessageGroupId?: string } = {}) =>
  aws().sns.send(
    new PublishCommand({
      TopicArn: topicArn(topic),
      Message,
      MessageGroupId: 'g',
      MessageDeduplicationId: Message,
      ...more,
    }),
  )
const raw = { RawMessageDelivery: 'true' }

/** Receives `count` messages of a queue. Each is deleted before the next is received. */
async function take(url: string, count: number): Promise<Message[]> {
  const taken: Message[] = []
  while (taken.length < count) {
    const message = await waitFor(() => aws().receive(url))
    taken.push(message)
    const command = new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: message.ReceiptHandle })
    await aws().sqs.send(command)
  }
  return taken
}

test('[134] each group arrives in its order, under its group, deduplication and sequence', async () => {
  await createTopic('ordered.fifo')
  const url = await createFifoQueue('ordered.fifo')
  await aws().subscribe('ordered.fifo', {
    protocol: 'sqs',
    endpoint: queueArn('ordered.fifo'),
    attributes: raw,
  })
  for (let round = 0; round < 2; round++) {
    const entries = Array.from({ length: 10 }, (_, i) => ({
      Id: `e${i}`,
      Message: `${round}${i}`,
      MessageGroupId: i % 2 ? 'odd' : 'even',
      MessageDeduplicationId: `d${round}${i}`,
    }))
    const given = { TopicArn: topicArn('ordered.fifo'), PublishBatchRequestEntries: entries }
    const { Successful = [] } = await aws().sns.send(new PublishBatchCommand(given))
    const numbers = Successful.map(({ SequenceNumber }) => SequenceNumber ?? '')
    expect([...numbers].sort()).toEqual(numbers)
    expect(numbers.every((number) => /^\d{20}$/.test(number))).toBe(true)
  }
  const messages = await take(url, 20)
  for (const [group, rest] of [
    ['even', 0],
    ['odd', 1],
  ] as const) {
    const bodies = messages.filter(({ Attributes }) => Attributes?.MessageGroupId === group)
    const expected = Array.from({ length: 20 }, (_, i) => i).filter((i) => i % 2 === rest)
    expect(bodies.map(({ Body }) => Number(Body))).toEqual(expected)
  }
  const first = messages.find(({ Body }) => Body === '00')
  expect(first?.Attributes?.MessageDeduplicationId).toBe('d00')
})

test('[132][133] a publish repeated within five minutes answers the first receipt and is delivered once', async () => {
  await createTopic('once.fifo', { ContentBasedDeduplication: 'true' })
  const url = await createFifoQueue('once.fifo')
  await aws().subscribe('once.fifo', { protocol: 'sqs', endpoint: queueArn('once.fifo'), attributes: raw })
  const input = { TopicArn: topicArn('once.fifo'), Message: 'same', MessageGroupId: 'g' }
  const first = await aws().sns.send(new PublishCommand(input))
  const MessageAttributes = { a: { DataType: 'String', StringValue: 'b' } }
  const again = await aws().sns.send(new PublishCommand({ ...input, MessageAttributes }))
  expect([again.MessageId, again.SequenceNumber]).toEqual([first.MessageId, first.SequenceNumber])
  await publish('once.fifo', 'other')
  expect((await take(url, 2)).map(({ Body }) => Body)).toEqual(['same', 'other'])
})

test('a standard queue gets neither group nor deduplication id of a FIFO topic; the envelope has the sequence', async () => {
  await createTopic('plain.fifo')
  const url = await aws().createQueue('plain')
  await aws().subscribe('plain.fifo', { protocol: 'sqs', endpoint: queueArn('plain') })
  const { SequenceNumber } = await publish('plain.fifo', 'x')
  const { Attributes, Body } = await aws().receive(url)
  expect(Attributes).not.toHaveProperty('MessageGroupId')
  expect(Attributes).not.toHaveProperty('MessageDeduplicationId')
  expect(JSON.parse(Body ?? '')).toMatchObject({ Message: 'x', SequenceNumber })
})

test('[155] a dead letter keeps its group and deduplication id, and gets a new sequence number', async () => {
  await createTopic('failing.fifo')
  const url = await createFifoQueue('dead.fifo')
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queueArn('dead.fifo') })
  const attributes = { ...raw, RedrivePolicy }
  await aws().subscribe('failing.fifo', { protocol: 'sqs', endpoint: queueArn('missing.fifo'), attributes })
  const { SequenceNumber } = await publish('failing.fifo', 'lost', { MessageGroupId: 'mine' })
  const letter = await aws().receive(url)
  expect(letter).toMatchObject({
    Body: 'lost',
    Attributes: { MessageGroupId: 'mine', MessageDeduplicationId: 'lost' },
  })
  expect(letter.Attributes?.SequenceNumber).not.toBe(SequenceNumber)
})
