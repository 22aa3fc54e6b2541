/** Publish with the SDK's client: what is stored, and every refusal. */
import { PublishCommand, type PublishCommandInput } from '@aws-sdk/client-sns'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusalOf, type SnsApi, startSnsApi, topicArn } from '../sns.fixture.ts'

const TOPIC = topicArn('orders')
const FIFO = topicArn('orders.fifo')
const BY_CONTENT = topicArn('content.fifo')
let sns: SnsApi

beforeAll(async () => {
  sns = await startSnsApi()
  const { topics } = sns.api.deps
  await topics.put(TOPIC, {})
  await topics.put(FIFO, {})
  await topics.put(BY_CONTENT, { contentBasedDeduplication: true })
})

afterAll(() => sns.stop())

const publish = (input: Partial<PublishCommandInput>) =>
  sns.client.send(new PublishCommand({ TopicArn: TOPIC, Message: 'hello', ...input }))
const refusal = (input: Partial<PublishCommandInput>) => refusalOf(publish(input))
const InvalidParameterException = (message: string) => ({
  name: 'InvalidParameterException',
  status: 400,
  message: `Invalid parameter: ${message}`,
})

async function stored(messageId: string | undefined) {
  return (await sns.api.published()).find((message) => message.messageId === messageId)
}

test('a message is stored with everything it came with, binary values as base64', async () => {
  const { MessageId, SequenceNumber } = await publish({
    Subject: 'Greeting',
    MessageGroupId: 'customer-7',
    MessageAttributes: {
      colour: { DataType: 'String', StringValue: 'red' },
      size: { DataType: 'Number.int', StringValue: '4' },
      tags: { DataType: 'String.Array', StringValue: '["a"]' },
      image: { DataType: 'Binary.png', BinaryValue: Buffer.from([2, 3, 4]) },
    },
  })
  expect(SequenceNumber).toBeUndefined()
  expect(await stored(MessageId)).toEqual({
    messageId: MessageId,
    topicArn: TOPIC,
    topicUid: expect.stringMatching(/^[0-9a-f]{15}$/),
    publishedAt: expect.any(Number),
    message: 'hello',
    subject: 'Greeting',
    groupId: 'customer-7',
    attributes: {
      colour: { type: 'String', value: 'red' },
      size: { type: 'Number.int', value: '4' },
      tags: { type: 'String.Array', value: '["a"]' },
      image: { type: 'Binary.png', value: 'AgME' },
    },
    publicUrl: sns.endpoint,
  })
})

test('[135] the trace header of the request is stored with the message', async () => {
  const response = await fetch(`${sns.endpoint}/`, {
    method: 'POST',
    headers: { 'X-Amzn-Trace-Id': 'Root=1-5759e988-bd862e3fe1be46a994272793' },
    body: new URLSearchParams({
      Action: 'Publish',
      Version: '2010-03-31',
      TopicArn: TOPIC,
      Message: 'traced',
    }),
  })
  const messageId = /<MessageId>([^<]+)/.exec(await response.text())?.[1]
  expect((await stored(messageId))?.traceHeader).toBe('Root=1-5759e988-bd862e3fe1be46a994272793')
})

test('[122] a TargetArn that is a topic’s ARN behaves like a TopicArn', async () => {
  const { MessageId } = await publish({ TopicArn: undefined, TargetArn: TOPIC, Message: 'targeted' })
  expect((await stored(MessageId))?.topicArn).toBe(TOPIC)
})

const DEFAULTLESS = 'Message Structure - No default entry in JSON message body'
const UNPARSED = 'Message Structure - JSON message body failed to parse'

test.each<[what: string, input: Partial<PublishCommandInput>, message: string]>([
  ['[117] an empty message', { Message: '' }, 'Empty message'],
  ['[119] an empty subject', { Subject: '' }, 'Subject'],
  ['[119] a subject of 100 characters', { Subject: 'x'.repeat(100) }, 'Subject'],
  ['[119] a line break in the subject', { Subject: 'a\nb' }, 'Subject'],
  ['[119] a control character in the subject', { Subject: 'a\u0085b' }, 'Subject'],
  ['[120] json that is none', { MessageStructure: 'json', Message: '{' }, UNPARSED],
  ['[120] json that is no object', { MessageStructure: 'json', Message: '[]' }, UNPARSED],
  ['[120] json without default', { MessageStructure: 'json', Message: '{"http":"x"}' }, DEFAULTLESS],
  ['[120] a default that is no text', { MessageStructure: 'json', Message: '{"default":1}' }, DEFAULTLESS],
  ['another structure', { MessageStructure: 'xml' }, 'MessageStructure'],
  ['no target', { TopicArn: undefined }, 'TopicArn or TargetArn Reason: no value for required parameter'],
  [
    'two targets',
    { TargetArn: TOPIC },
    'TopicArn Reason: specify only one of TopicArn, TargetArn and PhoneNumber',
  ],
  [
    '[110] a malformed ARN',
    { TopicArn: 'orders' },
    'TopicArn Reason: An ARN must have at least 6 elements, not 1',
  ],
  ['an ARN that names no topic', { TopicArn: 'arn:aws:sqs:us-east-1:000000000000:orders' }, 'TopicArn'],
  ['an ARN of another region', { TopicArn: TOPIC.replace('us-east-1', 'eu-west-1') }, 'TopicArn'],
  [
    'a platform’s endpoint',
    { TopicArn: undefined, TargetArn: 'arn:aws:sns:us-east-1:000000000000:endpoint/APNS/app/1' },
    'TargetArn Reason: No endpoint found for the target arn specified',
  ],
  [
    'a bad phone number',
    { TopicArn: undefined, PhoneNumber: '+abc' },
    'PhoneNumber Reason: +abc is not valid to publish to',
  ],
  [
    'a phone number',
    { TopicArn: undefined, PhoneNumber: '+15550001111' },
    'PhoneNumber Reason: cannot be delivered to: sms endpoints need FANTAIL_SMS_URL, which is not set',
  ],
  [
    '[131] a deduplication id on a standard topic',
    { MessageDeduplicationId: 'd' },
    'MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that is not valid for this topic type',
  ],
  [
    '[130] no group on a FIFO topic',
    { TopicArn: FIFO, MessageDeduplicationId: 'd' },
    'The MessageGroupId parameter is required for FIFO topics',
  ],
  [
    '[130] no deduplication id on a FIFO topic',
    { TopicArn: FIFO, MessageGroupId: 'g' },
    'The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly',
  ],
  [
    'a group that is none',
    { MessageGroupId: 'a b' },
    'MessageGroupId Reason: MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length.',
  ],
])('%s is refused', async (_what, input, message) => {
  expect(await refusal(input)).toEqual(InvalidParameterException(message))
})

test('a topic that is not there is NotFound', async () => {
  const expected = { name: 'NotFoundException', status: 404, message: 'Topic does not exist' }
  expect(await refusal({ TopicArn: topicArn('none') })).toEqual(expected)
  expect(await refusal({ TopicArn: topicArn('none.fifo'), MessageGroupId: 'g' })).toEqual(expected)
})

const long = 'x'.repeat(257)
const named = (name: string) => ({ [name]: { DataType: 'String', StringValue: 'v' } })

test.each<[what: string, attributes: PublishCommandInput['MessageAttributes'], message: string]>([
  [
    '[123] an empty value',
    { a: { DataType: 'String', StringValue: '' } },
    "The message attribute 'a' must contain non-empty message attribute value for message attribute type 'String'.",
  ],
  [
    '[123] no value',
    { a: { DataType: 'Number' } },
    "The message attribute 'a' must contain non-empty message attribute value for message attribute type 'Number'.",
  ],
  [
    'text for a binary',
    { a: { DataType: 'Binary', StringValue: 'x' } },
    "The message attribute 'a' with type 'Binary' must use field 'Binary'.",
  ],
  [
    'bytes for a number',
    { a: { DataType: 'Number', BinaryValue: Buffer.from('1') } },
    "The message attribute 'a' with type 'Number' must use field 'String'.",
  ],
  [
    '[125] an unknown type',
    { a: { DataType: 'Text', StringValue: 'x' } },
    "The message attribute 'a' has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.",
  ],
  ['a name of 257 bytes', named(long), 'Length of message attribute name must be less than 256 bytes.'],
  [
    'a character that no name has',
    named('a b'),
    "Invalid non-alphanumeric character '#x20' was found in the message attribute name. Can only include alphanumeric characters, hyphens, underscores, or dots.",
  ],
  [
    'a dot before the name',
    named('.a'),
    "Invalid message attribute name starting with character '.' was found.",
  ],
  [
    'a dot after the name',
    named('a.'),
    "Invalid message attribute name ending with character '.' was found.",
  ],
  ['two dots', named('a..b'), "Message attribute name can not have successive '.' character."],
])('an attribute with %s is refused', async (_what, MessageAttributes, message) => {
  expect(await refusal({ MessageAttributes })).toEqual({
    name: 'InvalidParameterValueException',
    status: 400,
    message,
  })
})

test('[218] the name of an attribute may have letters of any script', async () => {
  const MessageAttributes = named('größe.Ωμέγα_数-٣')
  const { MessageId } = await publish({ Message: 'named', MessageAttributes })
  expect(await stored(MessageId)).toMatchObject({
    attributes: { 'größe.Ωμέγα_数-٣': { type: 'String', value: 'v' } },
  })
})

test('[124] an attribute without DataType is a validation error', async () => {
  const MessageAttributes = { a: { DataType: undefined, StringValue: 'x' } }
  expect(await refusal({ MessageAttributes })).toMatchObject({
    name: expect.stringMatching(/^Validation(Error|Exception)$/),
    status: 400,
    message:
      "1 validation error detected: Value null at 'messageAttributes.a.member.dataType' failed to satisfy constraint: Member must not be null",
  })
})

test('[118] 262,144 bytes pass with attributes counted, one more does not', async () => {
  const MessageAttributes = {
    name: { DataType: 'String', StringValue: 'é' },
    data: { DataType: 'Binary', BinaryValue: Buffer.alloc(10) },
  }
  const fits = 262_144 - 'nameStringdataBinary'.length - 2 - 10
  expect((await publish({ Message: 'x'.repeat(fits), MessageAttributes })).MessageId).toBeDefined()
  expect(await refusal({ Message: 'x'.repeat(fits + 1), MessageAttributes })).toEqual(
    InvalidParameterException('Message too long'),
  )
})

test('a topic’s MaximumMessageSize stands for the limit, up to a mebibyte', async () => {
  const arn = topicArn('large')
  await sns.api.deps.topics.put(arn, { attributes: { MaximumMessageSize: '1048576' } })
  expect((await publish({ TopicArn: arn, Message: '&'.repeat(1_048_576) })).MessageId).toBeDefined()
  expect(await refusal({ TopicArn: arn, Message: 'x'.repeat(1_048_577) })).toEqual(
    InvalidParameterException('Message too long'),
  )
})

test('[132][133] a FIFO topic answers a repeated publish with the first receipt, with any attributes', async () => {
  const input = { TopicArn: BY_CONTENT, MessageGroupId: 'g', Message: 'once' }
  const first = await publish(input)
  expect(first.SequenceNumber).toMatch(/^\d{20}$/)
  const again = await publish({ ...input, MessageAttributes: named('a') })
  expect([again.MessageId, again.SequenceNumber]).toEqual([first.MessageId, first.SequenceNumber])
  const other = await publish({ ...input, Message: 'twice' })
  expect(other.MessageId).not.toBe(first.MessageId)
  expect(String(other.SequenceNumber) > String(first.SequenceNumber)).toBe(true)
  const explicit = await publish({ ...input, MessageDeduplicationId: 'mine' })
  expect(explicit.MessageId).not.toBe(first.MessageId)
})

test('[121] texts per protocol are stored as they came, for delivery to choose from', async () => {
  const Message = '{"default":"d","http":"h","sqs":5,"nonsense":{}}'
  const { MessageId } = await publish({ MessageStructure: 'json', Message })
  expect(await stored(MessageId)).toMatchObject({ structure: 'json', message: Message })
})

test('a publish is counted and logged in one line', async () => {
  const { MessageId } = await publish({ Message: 'counted' })
  const line = sns.api.events.find(({ fields }) => fields.messageId === MessageId)
  expect(line).toMatchObject({ event: 'message.published', fields: { topicArn: TOPIC, bytes: 7 } })
})
