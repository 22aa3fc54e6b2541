import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCOUNT, type SqsApi, startSqsApi } from '../sqs.fixture.ts'

let sqs: SqsApi
beforeAll(async () => {
  sqs = await startSqsApi()
})
afterAll(() => sqs.stop())

const create = (Attributes: Record<string, string> = {}) => sqs.createQueue(Attributes)
async function sent(QueueUrl: string): Promise<string> {
  const order = QueueUrl.endsWith('.fifo') ? { MessageGroupId: 'g', MessageDeduplicationId: 'd' } : {}
  await sqs.client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'hello', ...order }))
  return received(QueueUrl)
}
/** The handle of the next message; '' if there is none. */
async function received(QueueUrl: string): Promise<string> {
  const { Messages = [] } = await sqs.client.send(new ReceiveMessageCommand({ QueueUrl }))
  return Messages[0]?.ReceiptHandle ?? ''
}
const remove = (QueueUrl: string, ReceiptHandle: string) =>
  sqs.client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
const change = (QueueUrl: string, ReceiptHandle: string, VisibilityTimeout?: number) =>
  sqs.client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }))

const invalid = (handle: string, reason: string) => ({
  name: 'InvalidParameterValue',
  message: `Value ${handle} for parameter ReceiptHandle is invalid. Reason: ${reason}`,
})

test('[172] visibility 0 shows a message at once; another time counts from now', async () => {
  const queue = await create()
  const handle = await sent(queue)
  await change(queue, handle, 0)
  const again = await received(queue)
  expect(again).not.toBe('')
  await change(queue, again, 100)
  await sqs.later(99_000)
  expect(await received(queue)).toBe('')
  await sqs.later(1_100)
  expect(await received(queue)).not.toBe('')
})

test('[173] no extension reaches beyond 12 hours after the receive', async () => {
  const queue = await create()
  const handle = await sent(queue)
  await sqs.later(10_000)
  await change(queue, handle, 43_100)
  await expect(change(queue, handle, 43_195)).rejects.toMatchObject({
    name: 'InvalidParameterValue',
    message:
      'Value 43195 for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [43200 seconds]',
  })
  await expect(change(queue, handle, 43_201)).rejects.toMatchObject({
    name: 'InvalidParameterValue',
    message:
      'Value 43201 for parameter VisibilityTimeout is invalid. Reason: Must be >= 0 and <= 43200, if provided.',
  })
})

test('[174] an expired handle still deletes on a standard queue, and is refused on a FIFO one', async () => {
  const queue = await create({ VisibilityTimeout: '10' })
  const expired = await sent(queue)
  await sqs.later(11_000)
  for (let i = 0; i < 2; i++) await remove(queue, expired)
  expect(await received(queue)).toBe('')
  const ordered = await create({ FifoQueue: 'true', VisibilityTimeout: '10' })
  const late = await sent(ordered)
  await sqs.later(11_000)
  const refusal = invalid(late, 'The receipt handle has expired.')
  await expect(remove(ordered, late)).rejects.toMatchObject(refusal)
  await expect(change(ordered, late, 20)).rejects.toMatchObject(refusal)
  await remove(ordered, await received(ordered))
})

test('[175] garbage, and a handle of another queue, are no valid handles', async () => {
  const [queue, other] = [await create(), await create()]
  const foreign = await sent(other)
  for (const handle of ['garbage', foreign]) {
    const refusal = {
      name: 'ReceiptHandleIsInvalid',
      message: `The input receipt handle "${handle}" is not a valid receipt handle.`,
    }
    await expect(remove(queue, handle)).rejects.toMatchObject(refusal)
    await expect(change(queue, handle, 1)).rejects.toMatchObject(refusal)
  }
})

/** All operations that delete by a handle, or that hide by a handle for 100 s. */
const queryBy = (QueueUrl: string, Action: string, given: Record<string, string>) =>
  sqs.query({ Action, ...given }, `/${ACCOUNT}/${QueueUrl}`)
const DELETIONS: [string, (queue: string, handle: string) => Promise<unknown>][] = [
  ['DeleteMessage', remove],
  [
    'DeleteMessageBatch',
    (QueueUrl, ReceiptHandle) =>
      sqs.client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries: [{ Id: 'a', ReceiptHandle }] })),
  ],
  ['DeleteMessage by Query', (queue, ReceiptHandle) => queryBy(queue, 'DeleteMessage', { ReceiptHandle })],
  [
    'DeleteMessageBatch by Query',
    (queue, handle) =>
      queryBy(queue, 'DeleteMessageBatch', {
        'DeleteMessageBatchRequestEntry.1.Id': 'a',
        'DeleteMessageBatchRequestEntry.1.ReceiptHandle': handle,
      }),
  ],
]
const CHANGES: typeof DELETIONS = [
  ['ChangeMessageVisibility', (queue, handle) => change(queue, handle, 100)],
  [
    'ChangeMessageVisibilityBatch',
    (QueueUrl, ReceiptHandle) => {
      const Entries = [{ Id: 'a', ReceiptHandle, VisibilityTimeout: 100 }]
      return sqs.client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }))
    },
  ],
  [
    'ChangeMessageVisibility by Query',
    (queue, ReceiptHandle) =>
      queryBy(queue, 'ChangeMessageVisibility', { ReceiptHandle, VisibilityTimeout: '100' }),
  ],
  [
    'ChangeMessageVisibilityBatch by Query',
    (queue, handle) =>
      queryBy(queue, 'ChangeMessageVisibilityBatch', {
        'ChangeMessageVisibilityBatchRequestEntry.1.Id': 'a',
        'ChangeMessageVisibilityBatchRequestEntry.1.ReceiptHandle': handle,
        'ChangeMessageVisibilityBatchRequestEntry.1.VisibilityTimeout': '100',
      }),
  ],
]
/** The handles of a message that was received three times. The newest comes last. */
async function receivedThrice(queue: string): Promise<string[]> {
  const handles = [await sent(queue)]
  for (let i = 0; i < 2; i++) {
    await sqs.later(11_000)
    handles.push(await received(queue))
  }
  expect(new Set(handles).size).toBe(3)
  return handles
}
async function counted(QueueUrl: string): Promise<(string | undefined)[]> {
  const AttributeNames = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] })
  const { Attributes } = await sqs.client.send(asked)
  return AttributeNames.map((name) => Attributes?.[name])
}

test.each(DELETIONS)(
  '[202] %s takes a handle of an earlier receive of a standard queue',
  async (_, deleteBy) => {
    const queue = await create({ VisibilityTimeout: '10' })
    const [first = ''] = await receivedThrice(queue)
    await deleteBy(queue, first)
    expect(await counted(queue)).toEqual(['0', '0'])
    const [, second = ''] = await receivedThrice(queue)
    await sqs.later(11_000)
    expect(await counted(queue)).toEqual(['1', '0'])
    await deleteBy(queue, second)
    expect(await counted(queue)).toEqual(['0', '0'])
  },
)

test.each(CHANGES)(
  '[203] %s takes a handle of an earlier receive while the message is in flight',
  async (_, hideBy) => {
    const queue = await create({ VisibilityTimeout: '10' })
    const [first = '', , newest = ''] = await receivedThrice(queue)
    await hideBy(queue, first)
    await sqs.later(99_000)
    expect(await counted(queue)).toEqual(['0', '1'])
    await sqs.later(2_000)
    await hideBy(queue, first).catch((error: Error) => expect(error.name).toBe('InvalidParameterValue'))
    expect(await counted(queue)).toEqual(['1', '0'])
    await remove(queue, newest)
  },
)

test('[202][203] on a FIFO queue a handle of an earlier receive deletes and hides nothing', async () => {
  const queue = await create({ FifoQueue: 'true', VisibilityTimeout: '10' })
  const [first = ''] = await receivedThrice(queue)
  const refusal = invalid(first, 'The receipt handle has expired.')
  await expect(remove(queue, first)).rejects.toMatchObject(refusal)
  await expect(change(queue, first, 100)).rejects.toMatchObject(refusal)
  expect(await counted(queue)).toEqual(['0', '1'])
})

test('[204] in a batch a message that is gone fails as an invalid handle', async () => {
  const queue = await create({ VisibilityTimeout: '10' })
  const handle = await sent(queue)
  await remove(queue, handle)
  const Entries = [{ Id: 'a', ReceiptHandle: handle, VisibilityTimeout: 10 }]
  const { Failed } = await sqs.client.send(
    new ChangeMessageVisibilityBatchCommand({ QueueUrl: queue, Entries }),
  )
  expect(Failed).toEqual([
    {
      Id: 'a',
      SenderFault: true,
      Code: 'ReceiptHandleIsInvalid',
      Message: 'Message does not exist or is not available for visibility timeout change',
    },
  ])
})

test('the visibility of a message that is visible or deleted cannot be changed', async () => {
  const queue = await create({ VisibilityTimeout: '10' })
  const handle = await sent(queue)
  await sqs.later(11_000)
  const reason = 'Message does not exist or is not available for visibility timeout change.'
  await expect(change(queue, handle, 100)).rejects.toMatchObject(invalid(handle, reason))
  expect(await received(queue)).not.toBe('')
  await remove(queue, handle)
  await expect(change(queue, handle, 10)).rejects.toMatchObject(invalid(handle, reason))
})

test('missing members are named', async () => {
  const queue = await create()
  const handle = await sent(queue)
  const missing = (parameter: string) => ({
    name: 'MissingParameter',
    message: `The request must contain the parameter ${parameter}.`,
  })
  await expect(remove(queue, '')).rejects.toMatchObject(missing('ReceiptHandle'))
  await expect(change(queue, handle)).rejects.toMatchObject(missing('VisibilityTimeout'))
  await expect(remove('none', handle)).rejects.toMatchObject({ name: 'QueueDoesNotExist' })
})

test('[193] by AWS Query nothing is answered but metadata', async () => {
  const queue = await create()
  const handle = await sent(queue)
  const changed = { Action: 'ChangeMessageVisibility', ReceiptHandle: handle, VisibilityTimeout: '5' }
  expect((await sqs.query(changed, `/${ACCOUNT}/${queue}`)).text).toMatch(
    /^<ChangeMessageVisibilityResponse [^>]*><ResponseMetadata><RequestId>[^<]+<\/RequestId><\/ResponseMetadata><\/ChangeMessageVisibilityResponse>$/,
  )
  const { status } = await sqs.query(
    { Action: 'DeleteMessage', ReceiptHandle: handle },
    `/${ACCOUNT}/${queue}`,
  )
  expect(status).toBe(200)
  await sqs.later(60_000)
  expect(await received(queue)).toBe('')
})
