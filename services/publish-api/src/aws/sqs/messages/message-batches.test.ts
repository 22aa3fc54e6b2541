import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
} from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCOUNT, type SqsApi, startSqsApi } from '../sqs.fixture.ts'

let sqs: SqsApi
beforeAll(async () => {
  sqs = await startSqsApi()
})
afterAll(() => sqs.stop())

const create = (Attributes: Record<string, string> = {}) => sqs.createQueue(Attributes)

type Entries = Partial<SendMessageBatchRequestEntry>[]
const send = (QueueUrl: string, entries: Entries) => {
  const Entries = entries.map((entry, i) => ({ Id: `e${i}`, MessageBody: `body ${i}`, ...entry }))
  return sqs.client.send(new SendMessageBatchCommand({ QueueUrl, Entries }))
}
const receive = async (QueueUrl: string) => {
  const asked = { QueueUrl, MaxNumberOfMessages: 10 }
  return (await sqs.client.send(new ReceiveMessageCommand(asked))).Messages ?? []
}
const prefixed = (shape: string) => new RegExp(`^(AWS\\.SimpleQueueService\\.)?${shape}$`)

test('[181] a batch that is empty, too long, or has bad or equal ids is refused as a whole', async () => {
  const queue = await create()
  const kib = 'x'.repeat(104_860)
  const refused: [Entries, string, string][] = [
    [[], 'EmptyBatchRequest', 'There should be at least one SendMessageBatchRequestEntry in the request.'],
    [
      Array.from({ length: 11 }, () => ({})),
      'TooManyEntriesInBatchRequest',
      'Maximum number of entries per request are 10. You have sent 11.',
    ],
    [[{ Id: 'a' }, { Id: 'a' }], 'BatchEntryIdsNotDistinct', 'Id a repeated.'],
    ...['a b', '', 'x'.repeat(81)].map((Id): [Entries, string, string] => [
      [{ Id }],
      'InvalidBatchEntryId',
      'A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.',
    ]),
    [
      Array.from({ length: 10 }, () => ({ MessageBody: kib })),
      'BatchRequestTooLong',
      'Batch requests cannot be longer than 1048576 bytes. You have sent 1048600 bytes.',
    ],
  ]
  for (const [entries, name, message] of refused) {
    const refusal = (await send(queue, entries).catch((error: unknown) => error)) as Error
    expect([refusal.name, refusal.message]).toEqual([expect.stringMatching(prefixed(name)), message])
  }
  expect(await receive(queue)).toEqual([])
})

test('[215] an entry above the queue’s limit fails with its own text', async () => {
  const queue = await create({ MaximumMessageSize: '1024' })
  const { Failed } = await send(queue, [{}, { MessageBody: 'x'.repeat(1_025) }])
  expect(Failed).toEqual([
    {
      Id: 'e1',
      SenderFault: true,
      Code: 'InvalidParameterValue',
      Message: 'One or more parameters cannot be validated. Reason: Message must be shorter than 1024 bytes.',
    },
  ])
})

test('[182] an entry that is wrong fails alone', async () => {
  const queue = await create({ MaximumMessageSize: '1024' })
  const { Successful, Failed } = await send(queue, [
    {},
    { MessageBody: 'bad \u0000' },
    { MessageBody: 'x'.repeat(1_025) },
    { DelaySeconds: -1 },
    { MessageAttributes: { 'aws.x': { DataType: 'String', StringValue: 'x' } } },
    { MessageBody: 'message-1' },
  ])
  expect(Successful).toMatchObject([
    { Id: 'e0', MessageId: expect.any(String) },
    { Id: 'e5', MD5OfMessageBody: '3d6b824fd8c1520e9a047d21fee6fb1f' },
  ])
  expect(Failed).toMatchObject(
    [
      { Id: 'e1', SenderFault: true, Code: 'InvalidMessageContents' },
      { Id: 'e2', SenderFault: true, Code: 'InvalidParameterValue', Message: /shorter than 1024 bytes/ },
      { Id: 'e3', SenderFault: true, Code: 'InvalidParameterValue', Message: /DelaySeconds/ },
      { Id: 'e4', SenderFault: true, Code: 'InvalidParameterValue', Message: /attribute name/ },
    ].map(({ Message, ...entry }) => ({
      ...entry,
      ...(Message && { Message: expect.stringMatching(Message) }),
    })),
  )
  expect((await receive(queue)).map(({ Body }) => Body)).toEqual(['body 0', 'message-1'])
})

test('lists without an entry are left out', async () => {
  const queue = await create()
  const good = await send(queue, [{}])
  expect([good.Successful?.length, good.Failed]).toEqual([1, undefined])
  const bad = await send(queue, [{ MessageBody: '\u0001' }])
  expect([bad.Successful, bad.Failed?.length]).toEqual([undefined, 1])
})

test('a batch to a FIFO queue lacks no group and no deduplication id, else it is refused as a whole', async () => {
  const queue = await create({ FifoQueue: 'true' })
  const given = { MessageGroupId: 'g', MessageDeduplicationId: 'd' }
  for (const missing of [{ MessageGroupId: undefined }, { MessageDeduplicationId: undefined }]) {
    await expect(send(queue, [given, { ...given, ...missing }])).rejects.toMatchObject({
      name: 'InvalidParameterValue',
    })
  }
  expect(await receive(queue)).toEqual([])
  const { Successful = [] } = await send(queue, [
    { ...given, MessageDeduplicationId: 'a' },
    { ...given, MessageDeduplicationId: 'b' },
    { ...given, MessageDeduplicationId: 'a' },
  ])
  const [first, second, copy] = Successful.map((entry) => [entry.MessageId, entry.SequenceNumber])
  expect(copy).toEqual(first)
  expect(BigInt(second?.[1] ?? 0)).toBeGreaterThan(BigInt(first?.[1] ?? 0))
  expect((await receive(queue)).map(({ Body }) => Body)).toEqual(['body 0', 'body 1'])
})

test('[175] only the garbage fails in a batch of deletions or changes', async () => {
  const queue = await create({ VisibilityTimeout: '100' })
  await send(queue, [{}, {}])
  const received = await receive(queue)
  const [first = '', second = ''] = received.map(({ ReceiptHandle }) => ReceiptHandle)
  const changed = await sqs.client.send(
    new ChangeMessageVisibilityBatchCommand({
      QueueUrl: queue,
      Entries: [
        { Id: 'shown', ReceiptHandle: first, VisibilityTimeout: 0 },
        { Id: 'garbage', ReceiptHandle: 'garbage', VisibilityTimeout: 1 },
        { Id: 'none', ReceiptHandle: second },
        { Id: 'long', ReceiptHandle: second, VisibilityTimeout: 43_201 },
      ],
    }),
  )
  expect(changed.Successful).toEqual([{ Id: 'shown' }])
  expect(changed.Failed).toMatchObject([
    {
      Id: 'garbage',
      SenderFault: true,
      Code: 'ReceiptHandleIsInvalid',
      Message: 'The input receipt handle "garbage" is not a valid receipt handle.',
    },
    { Id: 'none', Code: 'MissingParameter' },
    { Id: 'long', Code: 'InvalidParameterValue' },
  ])
  const deleted = await sqs.client.send(
    new DeleteMessageBatchCommand({
      QueueUrl: queue,
      Entries: [
        { Id: 'a', ReceiptHandle: 'garbage' },
        { Id: 'b', ReceiptHandle: second },
      ],
    }),
  )
  expect([deleted.Successful, deleted.Failed?.map(({ Id }) => Id)]).toEqual([[{ Id: 'b' }], ['a']])
  expect((await receive(queue)).map(({ MessageId }) => MessageId)).toEqual([received[0]?.MessageId])
  const empty = new DeleteMessageBatchCommand({ QueueUrl: queue, Entries: [] })
  await expect(sqs.client.send(empty)).rejects.toMatchObject({
    name: expect.stringMatching(prefixed('EmptyBatchRequest')),
    message: 'There should be at least one DeleteMessageBatchRequestEntry in the request.',
  })
})

test('by AWS Query: entries in, entries out', async () => {
  const queue = await create()
  const entry = (n: number, name: string, value: string) => ({
    [`SendMessageBatchRequestEntry.${n}.${name}`]: value,
  })
  const sent = await sqs.query(
    {
      Action: 'SendMessageBatch',
      ...entry(1, 'Id', 'one'),
      ...entry(1, 'MessageBody', 'message-1'),
      ...entry(2, 'Id', 'two'),
      ...entry(2, 'MessageBody', '\u0001'),
    },
    `/${ACCOUNT}/${queue}`,
  )
  expect(sent.text).toMatch(
    /<SendMessageBatchResultEntry><Id>one<\/Id><MD5OfMessageBody>3d6b824fd8c1520e9a047d21fee6fb1f<\/MD5OfMessageBody><MessageId>/,
  )
  expect(sent.text).toContain(
    '<BatchResultErrorEntry><Id>two</Id><SenderFault>true</SenderFault><Code>InvalidMessageContents</Code>',
  )
  const [message] = await receive(queue)
  const deleted = await sqs.query(
    {
      Action: 'DeleteMessageBatch',
      'DeleteMessageBatchRequestEntry.1.Id': 'gone',
      'DeleteMessageBatchRequestEntry.1.ReceiptHandle': message?.ReceiptHandle ?? '',
    },
    `/${ACCOUNT}/${queue}`,
  )
  expect(deleted.text).toContain(
    '<DeleteMessageBatchResultEntry><Id>gone</Id></DeleteMessageBatchResultEntry>',
  )
})
