import { createHash } from 'node:crypto'
import {
  CreateQueueCommand,
  type MessageAttributeValue,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCOUNT, type SqsApi, startSqsApi } from '../sqs.fixture.ts'

let sqs: SqsApi
beforeAll(async () => {
  sqs = await startSqsApi()
  await sqs.client.send(new CreateQueueCommand({ QueueName: 'plain' }))
  const Attributes = { FifoQueue: 'true' }
  await sqs.client.send(new CreateQueueCommand({ QueueName: 'ordered.fifo', Attributes }))
})
afterAll(() => sqs.stop())

type Given = Partial<SendMessageCommandInput>
const send = (given: Given) =>
  sqs.client.send(new SendMessageCommand({ QueueUrl: 'plain', MessageBody: 'hello', ...given }))
const receive = async (QueueUrl = 'plain') => {
  const asked = { MessageAttributeNames: ['All'], MessageSystemAttributeNames: ['All' as const] }
  const { Messages = [] } = await sqs.client.send(new ReceiveMessageCommand({ QueueUrl, ...asked }))
  return Messages[0]
}
const text = (StringValue: string): MessageAttributeValue => ({ DataType: 'String', StringValue })

test('[166] a send answers the MD5s of body, attributes and system attributes', async () => {
  const three = { General: text('Kenobi'), Hello: text('There'), 'Help.Me': text('Me') }
  const sent = await send({ MessageBody: 'message-1', MessageAttributes: three })
  expect(sent).toMatchObject({
    MessageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    MD5OfMessageBody: '3d6b824fd8c1520e9a047d21fee6fb1f',
    MD5OfMessageAttributes: '4c360f3fdafd970e05fae2f149d997f5',
  })
  expect([sent.MD5OfMessageSystemAttributes, sent.SequenceNumber]).toEqual([undefined, undefined])
  expect((await receive())?.Body).toBe('message-1')
  const BinaryValue = Buffer.from('traceparent\x1e00-774062d6c37081a5a0b9b5b88e30627c-2d2482211f6489da-01')
  const binary = await send({ MessageAttributes: { attr1: { DataType: 'Binary', BinaryValue } } })
  expect(binary.MD5OfMessageAttributes).toBe('8cbe4db156db8a94db8b801b7addb984')
  const received = await receive()
  expect(Buffer.from(received?.MessageAttributes?.attr1?.BinaryValue ?? '')).toEqual(BinaryValue)
  expect(received?.MD5OfMessageAttributes).toBe(binary.MD5OfMessageAttributes)
})

test('lists of values are refused in every form, and nothing of a batch is sent', async () => {
  const QueueUrl = (await sqs.client.send(new CreateQueueCommand({ QueueName: 'listed' }))).QueueUrl
  const refusal = (operation: string) => ({
    name: 'UnsupportedOperation',
    message: `Message attribute list values in ${operation} operation are not supported.`,
  })
  for (const lists of [
    { StringListValues: [] },
    { BinaryListValues: [] },
    { StringListValues: ['y'] },
    { BinaryListValues: [Buffer.from('y')] },
  ]) {
    const MessageAttributes = { a: { ...text('x'), ...lists } }
    await expect(send({ QueueUrl, MessageAttributes })).rejects.toMatchObject(refusal('SendMessage'))
    const Entries = [
      { Id: 'plain', MessageBody: 'x' },
      { Id: 'list', MessageBody: 'x', MessageAttributes },
    ]
    const batch = sqs.client.send(new SendMessageBatchCommand({ QueueUrl, Entries }))
    await expect(batch).rejects.toMatchObject(refusal('SendMessageBatch'))
  }
  for (const list of [
    'MessageAttribute.1.Value.StringListValue.1',
    'MessageSystemAttribute.1.Value.BinaryListValue.1',
  ]) {
    const start = list.slice(0, list.indexOf('.1'))
    const given = {
      [`${start}.1.Name`]: 'AWSTraceHeader',
      [`${start}.1.Value.DataType`]: 'String',
      [list]: 'eA==',
    }
    const answer = await sqs.query(
      { Action: 'SendMessage', MessageBody: 'x', ...given },
      `/${ACCOUNT}/listed`,
    )
    expect(answer.text).toContain('Message attribute list values in SendMessage operation are not supported.')
  }
  expect(await receive('listed')).toBeUndefined()
})

test('a trace header is passed on: the system attribute, or else the request’s', async () => {
  const trace = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1'
  const sent = await send({ MessageSystemAttributes: { AWSTraceHeader: text(trace) } })
  expect(sent.MD5OfMessageSystemAttributes).toBe(md5Of('AWSTraceHeader', 'String', trace))
  expect((await receive())?.Attributes?.AWSTraceHeader).toBe(trace)
  const response = await fetch(`${sqs.endpoint}/${ACCOUNT}/plain?Action=SendMessage&MessageBody=traced`, {
    headers: { 'X-Amzn-Trace-Id': 'Root=1-67891233-abcdef012345678912345678' },
  })
  expect(await response.text()).not.toContain('MD5OfMessageSystemAttributes')
  expect((await receive())?.Attributes?.AWSTraceHeader).toBe('Root=1-67891233-abcdef012345678912345678')
})

/** The digest of one text attribute, computed only from the description of the algorithm. */
function md5Of(...[name, type, value]: [string, string, string]): string {
  const hash = createHash('md5')
  for (const part of [name, type]) hash.update(sized(part))
  return hash.update(Buffer.of(1)).update(sized(value)).digest('hex')
}

function sized(part: string): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32BE(Buffer.byteLength(part))
  return Buffer.concat([size, Buffer.from(part)])
}

const eleven = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`a${i}`, text('x')]))
const attribute = (name: string, value: MessageAttributeValue): Given => ({
  MessageAttributes: { [name]: value },
})
const invalid = (message: string | RegExp) => ['InvalidParameterValue', message] as const

test.each<[string, Given, readonly [string, string | RegExp]]>([
  [
    'empty body',
    { MessageBody: '' },
    ['MissingParameter', 'The request must contain the parameter MessageBody.'],
  ],
  [
    'control character',
    { MessageBody: 'a\u0001' },
    ['InvalidMessageContents', /^Invalid binary character '#x1' was found in the message body/],
  ],
  ['noncharacter', { MessageBody: '\uffff' }, ['InvalidMessageContents', /'#xFFFF'/]],
  [
    'delay past 900',
    { DelaySeconds: 901 },
    invalid('Value 901 for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.'),
  ],
  [
    'eleven attributes',
    { MessageAttributes: eleven },
    invalid('Number of message attributes [11] exceeds the allowed maximum [10].'),
  ],
  [
    'empty value',
    attribute('n', text('')),
    invalid("Message (user) attribute 'n' must contain a non-empty value of type 'String'."),
  ],
  [
    'value in the wrong field',
    attribute('n', { DataType: 'Binary', StringValue: 'x' }),
    invalid("Message (user) attribute 'n' must contain a non-empty value of type 'Binary'."),
  ],
  ['unknown type', attribute('n', { DataType: 'Text', StringValue: 'x' }), invalid(/type.*'n' is invalid/)],
  ['no type', attribute('n', { DataType: '', StringValue: 'x' }), invalid(/non-empty attribute type/)],
  [
    'number that is none',
    attribute('n', { DataType: 'Number', StringValue: 'x' }),
    invalid("Can't cast the value of message (user) attribute 'n' to a number."),
  ],
  ['bad value', attribute('n', text('\u0002')), invalid(/'#x2'/)],
  ['reserved name', attribute('aMaZon.x', text('x')), invalid(/'Amazon\.'/)],
  ['leading dot', attribute('.x', text('x')), invalid(/period/)],
  ['odd name', attribute('a b', text('x')), invalid(/name 'a b' is invalid/)],
  ['long name', attribute('n'.repeat(257), text('x')), invalid(/at most 256/)],
  [
    'other system attribute',
    { MessageSystemAttributes: { Other: text('x') } as Given['MessageSystemAttributes'] },
    invalid(/AWSTraceHeader/),
  ],
  [
    'group with a space',
    { MessageGroupId: 'a b' },
    invalid(
      /^Value a b for parameter MessageGroupId is invalid\. Reason: MessageGroupId can only include alphanumeric and punctuation characters\. 1 to 128 in length\.$/,
    ),
  ],
  ['deduplication id on a standard queue', { MessageDeduplicationId: 'd' }, invalid(/queue type/)],
])('[195] refused: %s', async (_, given, [name, message]) => {
  const refusal = await send(given).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ name, $metadata: { httpStatusCode: 400 } })
  expect((refusal as Error).message).toMatch(
    typeof message === 'string' ? new RegExp(`^${message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`) : message,
  )
})

test.each([
  ['MessageGroupId', false],
  ['MessageDeduplicationId', false],
  ['MessageDeduplicationId', true],
])('[219] an empty %s is refused (FIFO: %s), alone and in a batch', async (name, fifo) => {
  const QueueUrl = await sqs.createQueue(fifo ? { FifoQueue: 'true', ContentBasedDeduplication: 'true' } : {})
  const given = { MessageBody: 'x', ...(fifo && { MessageGroupId: 'g' }), [name]: '' }
  await expect(sqs.client.send(new SendMessageCommand({ QueueUrl, ...given }))).rejects.toMatchObject({
    name: 'InvalidParameterValue',
    message: `Value  for parameter ${name} is invalid. Reason: ${name} can only include alphanumeric and punctuation characters. 1 to 128 in length.`,
  })
  const batch = await sqs.json('SendMessageBatch', { QueueUrl, Entries: [{ Id: 'a', ...given }] })
  expect(JSON.parse(batch.text).Failed).toMatchObject([{ Id: 'a', Code: 'InvalidParameterValue' }])
})

test('[218] names of attributes may have letters of any script', async () => {
  const QueueUrl = await sqs.createQueue()
  const MessageAttributes = { 'größe.Ωμέγα_数-٣': text('x') }
  await sqs.client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x', MessageAttributes }))
  const asked = new ReceiveMessageCommand({ QueueUrl, MessageAttributeNames: ['All'] })
  const { Messages } = await sqs.client.send(asked)
  expect(Messages?.[0]?.MessageAttributes).toEqual(MessageAttributes)
})

test('the queue’s limit applies to body and attributes together, as soon as it is set', async () => {
  await sqs.client.send(new CreateQueueCommand({ QueueName: 'small' }))
  await send({ QueueUrl: 'small', MessageBody: 'x'.repeat(1_025) })
  const Attributes = { MaximumMessageSize: '1024' }
  await sqs.client.send(new SetQueueAttributesCommand({ QueueUrl: 'small', Attributes }))
  const MessageAttributes = { n: { DataType: 'Binary', BinaryValue: Buffer.alloc(17) } }
  await send({ QueueUrl: 'small', MessageBody: 'ü'.repeat(500), MessageAttributes })
  await expect(
    send({ QueueUrl: 'small', MessageBody: `${'ü'.repeat(500)}x`, MessageAttributes }),
  ).rejects.toMatchObject({
    name: 'InvalidParameterValue',
    message: 'One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes.',
  })
})

test('a message of 1 MiB passes whole', async () => {
  const MessageBody = 'é\n"<'.repeat(209_715)
  await send({ MessageBody })
  expect((await receive())?.Body).toBe(MessageBody)
})

test('a group on a standard queue is shown to the receiver; a sender from another account too', async () => {
  const foreign = new SQSClient({
    endpoint: sqs.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: '111122223333', secretAccessKey: 'test' },
  })
  const QueueUrl = `${sqs.endpoint}/${ACCOUNT}/plain`
  await foreign.send(new SendMessageCommand({ QueueUrl, MessageBody: 'far', MessageGroupId: 'tenant' }))
  foreign.destroy()
  expect((await receive())?.Attributes).toMatchObject({ SenderId: '111122223333', MessageGroupId: 'tenant' })
  await send({ MessageBody: 'near' })
  expect((await receive())?.Attributes).toMatchObject({ SenderId: ACCOUNT })
})

test('a delayed message is hidden and counted as delayed', async () => {
  await sqs.client.send(new CreateQueueCommand({ QueueName: 'late', Attributes: { DelaySeconds: '100' } }))
  await send({ QueueUrl: 'late', DelaySeconds: 0, MessageBody: 'now' })
  await send({ QueueUrl: 'late' })
  expect((await receive('late'))?.Body).toBe('now')
  expect(await receive('late')).toBeUndefined()
  const found = await sqs.api.deps.queues.getWithCounts(`arn:aws:sqs:us-east-1:${ACCOUNT}:late`)
  expect(found?.counts).toMatchObject({ delayed: 1, inFlight: 1 })
})

test('by AWS Query on the queue’s URL', async () => {
  const { status, text: xml } = await sqs.query(
    {
      Action: 'SendMessage',
      MessageBody: 'message-1',
      'MessageAttribute.1.Name': 'MyAttribute',
      'MessageAttribute.1.Value.DataType': 'String',
      'MessageAttribute.1.Value.StringValue': 'foobar',
    },
    `/${ACCOUNT}/plain`,
  )
  expect(status).toBe(200)
  expect(xml).toMatch(/^<SendMessageResponse xmlns="http:\/\/queue.amazonaws.com\/doc\/2012-11-05\/">/)
  expect(xml).toContain('<MD5OfMessageBody>3d6b824fd8c1520e9a047d21fee6fb1f</MD5OfMessageBody>')
  expect(xml).toContain('<MD5OfMessageAttributes>adb59cd4678ea5a855436b949cd07ab6</MD5OfMessageAttributes>')
  expect((await receive())?.MessageAttributes).toEqual({ MyAttribute: text('foobar') })
})

test('[161] a send to a missing queue, or one deleted by another process, gets that error', async () => {
  await expect(send({ QueueUrl: 'none' })).rejects.toMatchObject({ name: 'QueueDoesNotExist' })
  await sqs.client.send(new CreateQueueCommand({ QueueName: 'brief' }))
  await send({ QueueUrl: 'brief' })
  await sqs.api.redis.del(...(await sqs.api.redis.keys('*queue:*:brief')))
  await expect(send({ QueueUrl: 'brief' })).rejects.toMatchObject({ name: 'QueueDoesNotExist' })
})

const ordered: Given = { QueueUrl: 'ordered.fifo', MessageGroupId: 'g', MessageDeduplicationId: 'd' }

test('[185] a FIFO queue takes no delay but 0', async () => {
  await expect(send({ ...ordered, DelaySeconds: 2 })).rejects.toMatchObject({
    name: 'InvalidParameterValue',
    message:
      'Value 2 for parameter DelaySeconds is invalid. Reason: The request include parameter that is not valid for this queue type.',
  })
  const { SequenceNumber } = await send({ ...ordered, DelaySeconds: 0 })
  expect(SequenceNumber).toMatch(/^\d{20}$/)
})

test('a FIFO queue needs a group and a deduplication id', async () => {
  await expect(send({ ...ordered, MessageGroupId: undefined })).rejects.toMatchObject({
    name: 'MissingParameter',
    message: 'The request must contain the parameter MessageGroupId.',
  })
  const needed =
    'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly'
  await expect(send({ ...ordered, MessageDeduplicationId: undefined })).rejects.toMatchObject({
    name: 'InvalidParameterValue',
    message: needed,
  })
  await expect(send({ ...ordered, MessageDeduplicationId: 'é' })).rejects.toMatchObject({
    name: 'InvalidParameterValue',
    message: expect.stringMatching(/^Value é for parameter MessageDeduplicationId is invalid/),
  })
})

test('a queue that stopped making deduplication ids unnoticed refuses in the same words', async () => {
  const Attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true' }
  await sqs.client.send(new CreateQueueCommand({ QueueName: 'content.fifo', Attributes }))
  const given = { QueueUrl: 'content.fifo', MessageGroupId: 'g' }
  await send(given)
  const [key] = await sqs.api.redis.keys('*queue:*:content.fifo')
  await sqs.api.redis.hset(key ?? '', 'cb', '')
  await expect(send({ ...given, MessageBody: 'other' })).rejects.toMatchObject({
    name: 'InvalidParameterValue',
    message: expect.stringMatching(/^The queue should either have ContentBasedDeduplication/),
  })
})
