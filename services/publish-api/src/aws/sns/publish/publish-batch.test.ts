/** PublishBatch with the SDK's client. */
import { PublishBatchCommand, type PublishBatchRequestEntry, PublishCommand } from '@aws-sdk/client-sns'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusalOf, type SnsApi, startSnsApi, topicArn } from '../sns.fixture.ts'

const TOPIC = topicArn('orders')
let sns: SnsApi

beforeAll(async () => {
  sns = await startSnsApi()
  await sns.api.deps.topics.put(TOPIC, {})
})

afterAll(() => sns.stop())

const publish = (entries: PublishBatchRequestEntry[], arn = TOPIC) =>
  sns.client.send(new PublishBatchCommand({ TopicArn: arn, PublishBatchRequestEntries: entries }))
const entries = (count: number, set: (i: number) => Partial<PublishBatchRequestEntry> = () => ({})) =>
  Array.from({ length: count }, (_, i) => ({ Id: `e${i}`, Message: `m${i}`, ...set(i) }))
const texts = async () => (await sns.api.published()).map(({ message }) => message)

test('ten messages are stored, each answered under its id', async () => {
  const { Successful, Failed } = await publish(entries(10, (i) => ({ Message: `ten-${i}` })))
  expect(Successful?.map(({ Id }) => Id)).toEqual(entries(10).map(({ Id }) => Id))
  const stored = await sns.api.published()
  for (const [i, { MessageId }] of (Successful ?? []).entries()) {
    expect(stored.find(({ messageId }) => messageId === MessageId)?.message).toBe(`ten-${i}`)
  }
  expect(Failed).toEqual([])
})

const distinct = 'Two or more batch entries in the request have the same Id.'
const subject = 'The Id of a batch entry in the batch request'

test.each<[what: string, given: PublishBatchRequestEntry[], name: string, message: string]>([
  [
    '[126] eleven entries',
    entries(11),
    'TooManyEntriesInBatchRequestException',
    'The batch request contains more entries than permissible.',
  ],
  ['[126] the same id twice', entries(2, () => ({ Id: 'a' })), 'BatchEntryIdsNotDistinctException', distinct],
  [
    '[126] an id with a space',
    entries(1, () => ({ Id: 'a b' })),
    'InvalidBatchEntryIdException',
    `${subject} contains an impermissible character: a b`,
  ],
  [
    '[126] an id of 81 characters',
    entries(1, () => ({ Id: 'x'.repeat(81) })),
    'InvalidBatchEntryIdException',
    `${subject} is too long: ${'x'.repeat(81)}`,
  ],
  ['no entries', [], 'EmptyBatchRequestException', "The batch request doesn't contain any entries."],
  [
    '[127] more than the limit together',
    entries(2, () => ({ Message: 'x'.repeat(131_073) })),
    'BatchRequestTooLongException',
    'The length of all the messages put together is more than the limit.',
  ],
  [
    '[129] one bad attribute',
    entries(2, (i) => (i === 1 ? { MessageAttributes: { a: { DataType: 'X', StringValue: 'x' } } } : {})),
    'InvalidParameterValueException',
    "The message attribute 'a' has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.",
  ],
  [
    '[131] one deduplication id on a standard topic',
    entries(2, (i) => (i === 1 ? { MessageDeduplicationId: 'd' } : {})),
    'InvalidParameterException',
    'Invalid parameter: MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that is not valid for this topic type',
  ],
])('%s: all of it is refused, and nothing is stored', async (_what, given, name, message) => {
  const before = await texts()
  expect(await refusalOf(publish(given))).toEqual({ name, message, status: 400 })
  expect(await texts()).toEqual(before)
})

test('[124] the error names the position of an attribute without DataType', async () => {
  const given = entries(2, (i) => ({
    ...(i === 1 && { MessageAttributes: { a: { DataType: undefined, StringValue: 'x' } } }),
  }))
  const { message } = await refusalOf(publish(given))
  expect(message).toContain("'publishBatchRequestEntries.2.member.messageAttributes.a.member.dataType'")
})

test('[128] an entry with an invalid subject fails alone', async () => {
  const given = entries(3, (i) => ({ Message: `three-${i}`, ...(i === 1 && { Subject: 'a\nb' }) }))
  const { Successful, Failed } = await publish(given)
  expect(Successful?.map(({ Id }) => Id)).toEqual(['e0', 'e2'])
  expect(Failed).toEqual([
    { Id: 'e1', Code: 'InvalidParameter', Message: 'Invalid parameter: Subject', SenderFault: true },
  ])
  const stored = (await texts()).filter((text) => text.startsWith('three-'))
  expect(stored.sort()).toEqual(['three-0', 'three-2'])
})

test.each([
  ['standard', false, '{"sqs":"x"}', 'No default entry in JSON message body'],
  ['standard', false, 'x', 'JSON message body failed to parse'],
  ['FIFO', true, '{"sqs":"x"}', 'No default entry in JSON message body'],
  ['FIFO', true, 'x', 'JSON message body failed to parse'],
])(
  '[214] on a %s topic a text for protocols without its default refuses the batch, before groups are judged',
  async (_kind, fifo, Message, reason) => {
    const arn = topicArn(fifo ? 'structured.fifo' : 'structured')
    await sns.api.deps.topics.create(arn, {})
    const given = entries(2, (i) => (i === 1 ? { Message, MessageStructure: 'json' } : {}))
    expect(await refusalOf(publish(given, arn))).toEqual({
      name: 'InvalidParameterException',
      message: `Invalid parameter: Message Structure - ${reason}`,
      status: 400,
    })
  },
)

test('if every entry fails, the answer is still 200', async () => {
  const { Successful, Failed } = await publish([
    { Id: 'empty', Message: '' },
    { Id: 'unstructured', Message: 'x', MessageStructure: 'text' },
  ])
  expect(Successful).toEqual([])
  expect(Failed?.map(({ Message }) => Message)).toEqual([
    'Invalid parameter: Empty message',
    'Invalid parameter: MessageStructure',
  ])
})

test('a message above its topic’s own limit fails alone', async () => {
  const arn = topicArn('small')
  await sns.api.deps.topics.put(arn, { attributes: { MaximumMessageSize: '1024' } })
  const given = entries(2, (i) => ({ Message: 'x'.repeat(1_024 + i) }))
  const { Successful, Failed } = await publish(given, arn)
  expect([Successful?.length, Failed?.[0]?.Message]).toEqual([1, 'Invalid parameter: Message too long'])
})

test('an unknown topic and a malformed ARN', async () => {
  expect(await refusalOf(publish(entries(1), topicArn('none')))).toMatchObject({
    name: 'NotFoundException',
    message: 'Topic does not exist',
  })
  expect((await refusalOf(publish(entries(1), 'a:b'))).message).toBe(
    'Invalid parameter: TopicArn Reason: An ARN must have at least 6 elements, not 2',
  )
})

test('a message that does not fit the catalogue of the topic fails only its entry', async () => {
  const arn = topicArn('typed')
  await sns.api.deps.topics.put(arn, { eventTypeCheck: 'refuse' })
  await sns.api.call('PUT', '/v1/topics/typed/event-types/order.paid', {
    body: { schema: { type: 'object', required: ['id'] } },
  })
  const attributes = { eventType: { DataType: 'String', StringValue: 'order.paid' } }
  const { Successful, Failed } = await publish(
    entries(3, (i) => ({
      Message: i === 1 ? '{}' : '{"id":1}',
      ...(i < 2 && { MessageAttributes: attributes }),
    })),
    arn,
  )
  expect(Successful?.map(({ Id }) => Id)).toEqual(['e0'])
  expect(Failed).toEqual([
    {
      Id: 'e1',
      Code: 'InvalidParameter',
      Message:
        "Invalid parameter: Message Reason: message does not fit version 1 of order.paid: must have required property 'id'",
      SenderFault: true,
    },
    {
      Id: 'e2',
      Code: 'InvalidParameter',
      Message:
        'Invalid parameter: MessageAttributes Reason: eventType is missing, and the topic checks event types',
      SenderFault: true,
    },
  ])
  const single = sns.client.send(
    new PublishCommand({ TopicArn: arn, Message: '{}', MessageAttributes: attributes }),
  )
  await expect(single).rejects.toMatchObject({ name: 'InvalidParameterException' })
})
