import {
  type Message,
  type QueueAttributeName,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs'
import { queueArn } from '@fantail/contracts'
import { Queues } from '@fantail/store'
import { startFairTimer, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCOUNT, type SqsApi, startSqsApi } from '../sqs.fixture.ts'

let sqs: SqsApi
beforeAll(async () => {
  sqs = await startSqsApi()
})
afterAll(() => sqs.stop())

const create = (Attributes: Record<string, string> = {}) => sqs.createQueue(Attributes)
const send = (QueueUrl: string, MessageBody = 'hello') =>
  sqs.client.send(new SendMessageCommand({ QueueUrl, MessageBody }))
async function receive(QueueUrl: string, given: Partial<ReceiveMessageCommandInput> = {}) {
  return (await sqs.client.send(new ReceiveMessageCommand({ QueueUrl, ...given }))).Messages ?? []
}

test('[168] an empty receive has no list of messages', async () => {
  const queue = await create()
  const { status, text } = await sqs.json('ReceiveMessage', { QueueUrl: queue })
  expect([status, JSON.parse(text)]).toEqual([200, {}])
  const xml = await sqs.query({ Action: 'ReceiveMessage' }, `/${ACCOUNT}/${queue}`)
  expect(xml.text).toContain('<ReceiveMessageResult/>')
})

test('[169] numbers out of range are refused', async () => {
  const queue = await create()
  const refused: [Partial<ReceiveMessageCommandInput>, string][] = [
    [
      { MaxNumberOfMessages: 0 },
      'Value 0 for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.',
    ],
    [
      { MaxNumberOfMessages: 11 },
      'Value 11 for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.',
    ],
    [
      { WaitTimeSeconds: 21 },
      'Value 21 for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.',
    ],
    [
      { VisibilityTimeout: 43_201 },
      'Value 43201 for parameter VisibilityTimeout is invalid. Reason: Must be >= 0 and <= 43200, if provided.',
    ],
  ]
  for (const [given, message] of refused) {
    await expect(receive(queue, given)).rejects.toMatchObject({ name: 'InvalidParameterValue', message })
  }
})

test('[167] digests and attributes are those that were asked for', async () => {
  const queue = await create({ VisibilityTimeout: '0' })
  const text = (StringValue: string) => ({ DataType: 'String', StringValue })
  const three = { General: text('Kenobi'), Hello: text('There'), 'Help.Me': text('Me') }
  await sqs.client.send(
    new SendMessageCommand({ QueueUrl: queue, MessageBody: 'm', MessageAttributes: three }),
  )
  const selected = async (...MessageAttributeNames: string[]) => {
    const [message] = await receive(queue, { MessageAttributeNames })
    return [message?.MD5OfMessageAttributes, Object.keys(message?.MessageAttributes ?? {}).sort()]
  }
  const all = ['4c360f3fdafd970e05fae2f149d997f5', ['General', 'Hello', 'Help.Me']]
  for (const name of ['All', '.*', '*']) expect(await selected(name)).toEqual(all)
  expect(await selected('Hello')).toEqual(['a311262e065454b75da111d535b8dacd', ['Hello']])
  expect((await selected('Hel.*'))[1]).toEqual(['Hello', 'Help.Me'])
  expect((await selected('Foo', 'Hello'))[1]).toEqual(['Hello'])
  for (const names of [[], ['Foo', 'Help', 'hello']]) {
    expect(await selected(...names)).toEqual([undefined, []])
  }
})

test('system attributes are given as asked for, by either name of the parameter', async () => {
  const queue = await create({ VisibilityTimeout: '0' })
  const before = Date.now() - 1
  await send(queue)
  const [first] = await receive(queue)
  expect(first).toMatchObject({ Body: 'hello', MD5OfBody: '5d41402abc4b2a76b9719d911017c592' })
  expect(first?.Attributes).toBeUndefined()
  const [some] = await receive(queue, {
    AttributeNames: ['SentTimestamp', 'QueueArn'] as string[] as QueueAttributeName[],
    MessageSystemAttributeNames: ['SenderId', 'SequenceNumber'],
  })
  expect(some?.Attributes).toEqual({ SenderId: ACCOUNT, SentTimestamp: expect.stringMatching(/^\d{13}$/) })
  expect(Number(some?.Attributes?.SentTimestamp)).toBeGreaterThan(before)
  const [every] = await receive(queue, { AttributeNames: ['All'] })
  expect(every?.Attributes).toEqual({
    ...some?.Attributes,
    ApproximateReceiveCount: '3',
    ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
  })
  const unknown = { AttributeNames: ['Nonsense'] as string[] as QueueAttributeName[] }
  await expect(receive(queue, unknown)).rejects.toMatchObject({
    name: 'InvalidAttributeName',
    message: 'Unknown Attribute Nonsense.',
  })
})

test('[170] a long poll returns as soon as a message arrives', async () => {
  const queue = await create({ ReceiveMessageWaitTimeSeconds: '20' })
  const waits = [receive(queue), receive(queue, { WaitTimeSeconds: 20 })]
  await inLine(2)
  const took = startFairTimer(sqs.api.server.pid())
  await sqs.client.send(
    new SendMessageBatchCommand({
      QueueUrl: queue,
      Entries: ['a', 'b'].map((Id) => ({ Id, MessageBody: Id })),
    }),
  )
  const bodies = (await Promise.all(waits)).map((messages) => messages.map(({ Body }) => Body))
  expect(bodies.flat().sort()).toEqual(['a', 'b'])
  expect(took()).toBeLessThan(1_500)
  expect(await receive(queue, { WaitTimeSeconds: 0 })).toEqual([])
})

/** Waits until this many receives wait in line. Their commands to Redis show it. */
async function inLine(count: number): Promise<void> {
  const before = await calls()
  await waitFor(async () => (await calls()) - before >= count || (await steady()), { intervalMs: 50 })
}
async function calls(): Promise<number> {
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(await sqs.api.redis.info('commandstats'))?.[1] ?? 0)
}
let last = -1
async function steady(): Promise<boolean> {
  const now = await calls()
  const same = now === last
  last = now
  return same
}

test('a wait whose caller goes away takes no message with it', async () => {
  const queue = await create()
  const leaving = new AbortController()
  const wait = sqs.client.send(new ReceiveMessageCommand({ QueueUrl: queue, WaitTimeSeconds: 20 }), {
    abortSignal: leaving.signal,
  })
  await inLine(1)
  leaving.abort()
  await expect(wait).rejects.toMatchObject({ name: 'AbortError' })
  // The server notices the end a moment later. A message that arrives before that is given back to the queue.
  await send(queue)
  const messages = await waitFor(async () => {
    const found = await receive(queue, { WaitTimeSeconds: 1 })
    return found.length > 0 ? found : undefined
  })
  expect(messages.map(({ Body }) => Body)).toEqual(['hello'])
})

test('[171] a received message is hidden, then comes back counted, with another handle', async () => {
  const queue = await create()
  await send(queue)
  const asked = { VisibilityTimeout: 50, AttributeNames: ['All' as const] }
  const [first] = await receive(queue, asked)
  await sqs.later(49_000)
  expect(await receive(queue, asked)).toEqual([])
  await sqs.later(1_100)
  const [second] = await receive(queue, asked)
  expect(second?.MessageId).toBe(first?.MessageId)
  expect(second?.ReceiptHandle).not.toBe(first?.ReceiptHandle)
  expect([first, second].map((message) => message?.Attributes?.ApproximateReceiveCount)).toEqual(['1', '2'])
  const receivedAt = [first, second].map((message) => message?.Attributes?.ApproximateFirstReceiveTimestamp)
  expect(receivedAt[0]).toBe(receivedAt[1])
})

test('[176][177] received once too often it is found in the dead-letter queue, as it was, with its source', async () => {
  const dead = await create()
  const policy = { deadLetterTargetArn: queueArn(dead), maxReceiveCount: '2' }
  const source = await create({ RedrivePolicy: JSON.stringify(policy), VisibilityTimeout: '0' })
  const MessageAttributes = { n: { DataType: 'Number', StringValue: '7' } }
  await sqs.client.send(
    new SendMessageCommand({ QueueUrl: source, MessageBody: 'poison', MessageAttributes }),
  )
  const asked = { AttributeNames: ['All' as const], MessageAttributeNames: ['All'] }
  const received: Message[] = []
  for (let i = 0; i < 3; i++) received.push(...(await receive(source, asked)))
  expect(received).toHaveLength(2)
  const [moved] = await receive(dead, asked)
  const [kept] = received
  expect(moved).toMatchObject({ MessageId: kept?.MessageId, Body: 'poison', MessageAttributes })
  expect(moved?.Attributes).toEqual({
    ...kept?.Attributes,
    ApproximateReceiveCount: '3',
    DeadLetterQueueSourceArn: queueArn(source),
  })
})

test('with too many in flight, a short poll fails and a long one waits without a result', async () => {
  const queue = await create()
  await send(queue, 'a')
  await send(queue, 'b')
  await receive(queue)
  const { queues } = sqs.api.deps
  sqs.api.deps.queues = new Queues(sqs.api.redis, { inFlightMax: 1 })
  try {
    await expect(receive(queue)).rejects.toMatchObject({
      name: 'OverLimit',
      $metadata: { httpStatusCode: 403 },
    })
  } finally {
    sqs.api.deps.queues = queues
  }
  expect(await receive(queue)).toHaveLength(1)
})

test('by AWS Query, with flat lists', async () => {
  const queue = await create()
  await send(queue, 'a & b')
  const { text } = await sqs.query({
    Action: 'ReceiveMessage',
    QueueUrl: `http://any.host/${ACCOUNT}/${queue}`,
    'AttributeName.1': 'ApproximateReceiveCount',
  })
  expect(text).toMatch(/<Message><MessageId>[0-9a-f-]{36}<\/MessageId><ReceiptHandle>/)
  expect(text).toContain('<Body>a &amp; b</Body>')
  expect(text).toContain('<Attribute><Name>ApproximateReceiveCount</Name><Value>1</Value></Attribute>')
})

test('a receive and a send are one script call each', async () => {
  const queue = await create()
  await send(queue)
  await receive(queue)
  // The audit line of the new queue is written by a separate script, after the answer.
  await waitFor(async () => (await (await fetch(`${sqs.endpoint}/v1/audit`)).text()).includes(queue))
  const before = await calls()
  for (let i = 0; i < 20; i++) await send(queue)
  expect((await calls()) - before).toBe(20)
  for (let i = 0; i < 20; i++) await receive(queue)
  expect((await calls()) - before).toBe(40)
})
