import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type QueueAttributeName,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs'
import { queueArn } from '@fantail/contracts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCOUNT, type SqsApi, startSqsApi } from '../sqs.fixture.ts'

let sqs: SqsApi
beforeAll(async () => {
  sqs = await startSqsApi()
})
afterAll(() => sqs.stop())

const create = (Attributes: Record<string, string> = {}) => sqs.createQueue(Attributes)
const set = (QueueUrl: string, Attributes: Record<string, string>) =>
  sqs.client.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }))
async function get(QueueUrl: string, ...asked: string[]): Promise<Record<string, string> | undefined> {
  const AttributeNames = asked as QueueAttributeName[]
  return (await sqs.client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }))).Attributes
}
const settable = async (name: string) => {
  const all = await get(name, 'All')
  const counted = /^(Approximate|CreatedTimestamp|LastModified|QueueArn)/
  return Object.fromEntries(Object.entries(all ?? {}).filter(([key]) => !counted.test(key)))
}

test('[162] a fresh queue has the twelve attributes with their defaults', async () => {
  const before = Math.floor(Date.now() / 1_000) - 1
  const name = await create()
  const attributes = await get(name, 'All')
  const { CreatedTimestamp, LastModifiedTimestamp, ...rest } = attributes ?? {}
  expect(rest).toEqual({
    ApproximateNumberOfMessages: '0',
    ApproximateNumberOfMessagesDelayed: '0',
    ApproximateNumberOfMessagesNotVisible: '0',
    DelaySeconds: '0',
    MaximumMessageSize: '1048576',
    MessageRetentionPeriod: '345600',
    QueueArn: queueArn(name),
    ReceiveMessageWaitTimeSeconds: '0',
    SqsManagedSseEnabled: 'false',
    VisibilityTimeout: '30',
  })
  expect(Number(CreatedTimestamp)).toBeGreaterThanOrEqual(before)
  expect(Number(CreatedTimestamp)).toBeLessThan(before + 60)
  expect(LastModifiedTimestamp).toBe(CreatedTimestamp)
})

test('[162] a FIFO queue has four more', async () => {
  const name = await create({ FifoQueue: 'true' })
  expect(await settable(name)).toMatchObject({
    FifoQueue: 'true',
    ContentBasedDeduplication: 'false',
    DeduplicationScope: 'queue',
    FifoThroughputLimit: 'perQueue',
  })
  expect((await get(name, 'All'))?.QueueArn).toBe(queueArn(name))
})

test('[163] without names there are no attributes, and only known names may be asked for', async () => {
  const name = await create()
  expect(await get(name)).toBeUndefined()
  expect(JSON.parse((await sqs.json('GetQueueAttributes', { QueueUrl: name })).text)).toEqual({})
  expect(await get(name, 'Policy', 'FifoQueue', 'RedrivePolicy')).toBeUndefined()
  expect(await get(name, 'DelaySeconds', 'QueueArn')).toEqual({
    DelaySeconds: '0',
    QueueArn: queueArn(name),
  })
  await expect(get(name, 'DelaySeconds', 'Nonsense')).rejects.toMatchObject({
    name: 'InvalidAttributeName',
    message: 'Unknown Attribute Nonsense.',
  })
})

test('counts are those of the moment', async () => {
  const name = await create()
  const { queues } = sqs.api.deps
  await queues.send(queueArn(name), [{ body: 'a' }, { body: 'b' }, { body: 'c', delaySeconds: 900 }])
  await queues.receive(queueArn(name), { maxMessages: 1 })
  expect(await get(name, 'All')).toMatchObject({
    ApproximateNumberOfMessages: '1',
    ApproximateNumberOfMessagesNotVisible: '1',
    ApproximateNumberOfMessagesDelayed: '1',
  })
})

const RANGES = {
  DelaySeconds: [0, 900],
  MaximumMessageSize: [1_024, 1_048_576],
  MessageRetentionPeriod: [60, 1_209_600],
  ReceiveMessageWaitTimeSeconds: [0, 20],
  VisibilityTimeout: [0, 43_200],
  KmsDataKeyReusePeriodSeconds: [60, 86_400],
} as const

test('numbers are taken within their bounds only', async () => {
  const name = await create()
  for (const [attribute, [min, max]] of Object.entries(RANGES)) {
    for (const value of [min, max]) {
      await set(name, { KmsMasterKeyId: 'alias/mine', [attribute]: String(value) })
      expect(await get(name, attribute)).toEqual({ [attribute]: String(value) })
    }
    for (const wrong of [String(min - 1), String(max + 1), '', ' 61', '61.5', 'many', '1e3']) {
      await expect(set(name, { [attribute]: wrong }), `${attribute} ${wrong}`).rejects.toMatchObject({
        name: 'InvalidAttributeValue',
        message: `Invalid value for the parameter ${attribute}.`,
      })
    }
    expect(await get(name, attribute)).toEqual({ [attribute]: String(max) })
  }
})

test('a change with one wrong value changes nothing, and one of nothing is refused', async () => {
  const name = await create()
  await expect(set(name, { DelaySeconds: '7', VisibilityTimeout: 'x' })).rejects.toMatchObject({
    name: 'InvalidAttributeValue',
  })
  expect(await get(name, 'DelaySeconds')).toEqual({ DelaySeconds: '0' })
  await expect(set(name, {})).rejects.toMatchObject({
    name: 'MissingParameter',
    message: 'The request must contain the parameter Attribute.Name.',
  })
  await expect(set('no-such-queue', { DelaySeconds: '7' })).rejects.toMatchObject({
    name: 'QueueDoesNotExist',
  })
})

test('attributes that cannot be set are unknown', async () => {
  for (const [attribute, value] of [
    ['QueueArn', queueArn('x')],
    ['ApproximateNumberOfMessages', '1'],
    ['Nonsense', '1'],
    ['__proto__x', '1'],
    ['constructor', '1'],
    ['FifoQueue', 'false'],
    ['ContentBasedDeduplication', 'true'],
  ] as const) {
    const unknown = { name: 'InvalidAttributeName', message: `Unknown Attribute ${attribute}.` }
    await expect(create({}).then((name) => set(name, { [attribute]: value }))).rejects.toMatchObject(unknown)
  }
  for (const [attribute, value] of [
    ['DeduplicationScope', 'queue'],
    ['FifoThroughputLimit', 'perQueue'],
  ] as const) {
    await expect(create({}).then((name) => set(name, { [attribute]: value }))).rejects.toMatchObject({
      name: 'InvalidAttributeName',
      message: `You can specify the ${attribute} only when FifoQueue is set to true.`,
    })
  }
})

test('the settings of a FIFO queue are changed, its type is not', async () => {
  const name = await create({ FifoQueue: 'true' })
  await expect(set(name, { FifoQueue: 'false' })).rejects.toMatchObject({
    name: 'InvalidAttributeValue',
    message: 'Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported.',
  })
  const perGroup = { FifoThroughputLimit: 'perMessageGroupId' }
  await expect(set(name, perGroup)).rejects.toMatchObject({ name: 'InvalidAttributeValue' })
  await set(name, { ...perGroup, DeduplicationScope: 'messageGroup', ContentBasedDeduplication: 'true' })
  await set(name, { FifoQueue: 'true', DelaySeconds: '1' })
  expect(await settable(name)).toMatchObject({
    ...perGroup,
    DeduplicationScope: 'messageGroup',
    ContentBasedDeduplication: 'true',
    DelaySeconds: '1',
  })
  await expect(set(name, { DeduplicationScope: 'queue' })).rejects.toMatchObject({
    name: 'InvalidAttributeValue',
  })
  for (const [attribute, wrong] of [
    ['DeduplicationScope', 'topic'],
    ['ContentBasedDeduplication', 'maybe'],
  ] as const) {
    await expect(set(name, { [attribute]: wrong })).rejects.toMatchObject({ name: 'InvalidAttributeValue' })
  }
})

test('[179] maxReceiveCount may be text, and must be a number from 1 to 1000', async () => {
  const target = queueArn(await create())
  const name = await create()
  const policyOf = (policy: unknown) =>
    set(name, { RedrivePolicy: typeof policy === 'string' ? policy : JSON.stringify(policy) })
  await policyOf({ deadLetterTargetArn: target, maxReceiveCount: '5' })
  expect(JSON.parse((await get(name, 'RedrivePolicy'))?.RedrivePolicy ?? '')).toEqual({
    deadLetterTargetArn: target,
    maxReceiveCount: 5,
  })
  const missing = (member: string) => `Redrive policy does not contain mandatory attribute: ${member}.`
  const count = (text: string) =>
    `Invalid value for maxReceiveCount: ${text}, valid values are from 1 to 1000 both inclusive.`
  for (const [policy, reason] of [
    [{ deadLetterTargetArn: target }, missing('maxReceiveCount')],
    [{ maxReceiveCount: 1 }, missing('deadLetterTargetArn')],
    [{ deadLetterTargetArn: target, maxReceiveCount: 'x' }, count('x')],
    [{ deadLetterTargetArn: target, maxReceiveCount: 0 }, count('0')],
    [{ deadLetterTargetArn: target, maxReceiveCount: 1_001 }, count('1001')],
    [{ deadLetterTargetArn: target, maxReceiveCount: 1.5 }, count('1.5')],
    [{ deadLetterTargetArn: queueArn('nowhere'), maxReceiveCount: 1 }, 'Dead letter target does not exist.'],
    [
      { deadLetterTargetArn: queueArn('nowhere.fifo'), maxReceiveCount: 1 },
      'Dead-letter queue must be same type of queue as the source..',
    ],
    [
      { deadLetterTargetArn: 'arn:aws:sns:us-east-1:000000000000:topic', maxReceiveCount: 1 },
      'Only SQS queues are valid resources for deadLetterTargetArn.',
    ],
    [
      { deadLetterTargetArn: 'nowhere', maxReceiveCount: 1 },
      'Dead-letter target ARN should be fully qualified ARN.',
    ],
    [
      { deadLetterTargetArn: target, maxReceiveCount: 1, more: 1 },
      'Only following attributes are supported: [maxReceiveCount, deadLetterTargetArn].',
    ],
  ] as const) {
    await expect(policyOf(policy)).rejects.toMatchObject({
      name: 'InvalidParameterValue',
      message: `Value ${JSON.stringify(policy)} for parameter RedrivePolicy is invalid. Reason: ${reason}`,
    })
  }
  for (const text of ['x', '5', '[]']) {
    await expect(policyOf(text)).rejects.toMatchObject({ name: 'InvalidAttributeValue' })
  }
  await expect(
    create({
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queueArn('nowhere'), maxReceiveCount: 1 }),
    }),
  ).rejects.toMatchObject({ name: 'InvalidParameterValue' })
  await policyOf('')
  expect(await get(name, 'RedrivePolicy')).toBeUndefined()
})

test('[206] a queue may name itself as its dead-letter queue', async () => {
  const name = await create()
  const policy = { deadLetterTargetArn: queueArn(name), maxReceiveCount: 1 }
  await set(name, { RedrivePolicy: JSON.stringify(policy) })
  expect(JSON.parse((await get(name, 'RedrivePolicy'))?.RedrivePolicy ?? '')).toEqual(policy)
  for (const count of ['1', '2', '3']) {
    if (count === '1') await sqs.client.send(new SendMessageCommand({ QueueUrl: name, MessageBody: 'round' }))
    const MessageSystemAttributeNames = ['ApproximateReceiveCount' as const]
    const asked = new ReceiveMessageCommand({
      QueueUrl: name,
      MessageSystemAttributeNames,
      VisibilityTimeout: 0,
    })
    expect((await sqs.client.send(asked)).Messages).toMatchObject([
      { Body: 'round', Attributes: { ApproximateReceiveCount: count } },
    ])
  }
})

test('[207] in a chain of dead-letter queues each offers a message as often as it may, and the count goes on', async () => {
  const [third, second, first] = [await create(), await create(), await create()]
  const leadsTo = (target: string) =>
    JSON.stringify({ deadLetterTargetArn: queueArn(target), maxReceiveCount: 1 })
  await set(second, { RedrivePolicy: leadsTo(third) })
  await set(first, { RedrivePolicy: leadsTo(second) })
  await sqs.client.send(new SendMessageCommand({ QueueUrl: first, MessageBody: 'poison' }))
  const countIn = async (QueueUrl: string) => {
    const MessageSystemAttributeNames = ['ApproximateReceiveCount' as const]
    const asked = new ReceiveMessageCommand({ QueueUrl, MessageSystemAttributeNames, VisibilityTimeout: 0 })
    return (await sqs.client.send(asked)).Messages?.map(
      ({ Attributes }) => Attributes?.ApproximateReceiveCount,
    )
  }
  expect(await countIn(first)).toEqual(['1'])
  expect(await countIn(first)).toBeUndefined()
  expect(await countIn(second)).toEqual(['2'])
  expect(await countIn(second)).toBeUndefined()
  expect(await countIn(third)).toEqual(['3'])
})

test('[205] SetQueueAttributes and DeleteQueue answer an empty body over AWS JSON', async () => {
  const QueueUrl = await create()
  for (const [operation, input] of [
    ['SetQueueAttributes', { QueueUrl, Attributes: { DelaySeconds: '1' } }],
    ['DeleteQueue', { QueueUrl }],
  ] as const) {
    const { status, text, headers } = await sqs.json(operation, input)
    expect([operation, status, text, headers.get('content-length')]).toEqual([operation, 200, '', '0'])
    expect(headers.get('content-type')).toBe('application/x-amz-json-1.0')
  }
})

test('a dead-letter queue says who may use it', async () => {
  const dead = await create()
  const [allowed, other] = [await create(), await create()]
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queueArn(dead), maxReceiveCount: 1 })
  const policy = { redrivePermission: 'byQueue', sourceQueueArns: [queueArn(allowed)] }
  await set(dead, { RedriveAllowPolicy: JSON.stringify(policy) })
  expect(JSON.parse((await get(dead, 'RedriveAllowPolicy'))?.RedriveAllowPolicy ?? '')).toEqual(policy)
  await set(allowed, { RedrivePolicy })
  await expect(set(other, { RedrivePolicy })).rejects.toMatchObject({ name: 'InvalidParameterValue' })
  await set(dead, { RedriveAllowPolicy: '{"redrivePermission":"denyAll"}' })
  await expect(set(allowed, { RedrivePolicy, DelaySeconds: '3' })).rejects.toMatchObject({
    name: 'InvalidParameterValue',
  })
  for (const permission of ['denyAll', 'allowAll']) {
    const text = JSON.stringify({ redrivePermission: permission, sourceQueueArns: null })
    for (const queue of [await create({ RedriveAllowPolicy: text }), dead]) {
      await set(queue, { RedriveAllowPolicy: text })
      const shown = (await get(queue, 'RedriveAllowPolicy'))?.RedriveAllowPolicy
      expect(shown).toBe(`{"redrivePermission":"${permission}"}`)
    }
  }
  await set(dead, { RedriveAllowPolicy: '' })
  await set(other, { RedrivePolicy })
  for (const [text, error] of [
    ['x', 'InvalidAttributeValue'],
    ['{}', 'InvalidAttributeValue'],
    ['{"redrivePermission":"some"}', 'InvalidAttributeValue'],
    ['{"redrivePermission":"byQueue","sourceQueueArns":[1]}', 'InvalidAttributeValue'],
    ['{"redrivePermission":"byQueue"}', 'InvalidParameterValue'],
    ['{"redrivePermission":"byQueue","sourceQueueArns":null}', 'InvalidParameterValue'],
    ['{"redrivePermission":"allowAll","sourceQueueArns":["arn"]}', 'InvalidParameterValue'],
    [JSON.stringify({ ...policy, sourceQueueArns: Array(11).fill(queueArn('x')) }), 'InvalidParameterValue'],
  ]) {
    await expect(set(dead, { RedriveAllowPolicy: text ?? '' }), text).rejects.toMatchObject({ name: error })
  }
})

test('names of keys are kept as given, and both kinds of encryption are refused', async () => {
  const name = await create()
  const both = { SqsManagedSseEnabled: 'true', KmsMasterKeyId: 'alias/mine' }
  const refused = {
    name: 'InvalidAttributeName',
    message:
      'You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE.',
  }
  await expect(set(name, both)).rejects.toMatchObject(refused)
  await expect(create(both)).rejects.toMatchObject(refused)
  await set(name, { KmsMasterKeyId: 'alias/mine' })
  const shown = ['KmsMasterKeyId', 'KmsDataKeyReusePeriodSeconds', 'SqsManagedSseEnabled']
  expect(await get(name, ...shown)).toEqual({
    KmsMasterKeyId: 'alias/mine',
    KmsDataKeyReusePeriodSeconds: '300',
    SqsManagedSseEnabled: 'false',
  })
  await set(name, { SqsManagedSseEnabled: 'true' })
  expect(await get(name, ...shown)).toEqual({ SqsManagedSseEnabled: 'true' })
  await set(name, { KmsMasterKeyId: 'alias/mine', KmsDataKeyReusePeriodSeconds: '600' })
  await set(name, { SqsManagedSseEnabled: 'false', KmsMasterKeyId: '' })
  expect(await get(name, ...shown)).toEqual({ SqsManagedSseEnabled: 'false' })
})

test('[220] without a KmsMasterKeyId a queue has no reuse period, in whatever order they are given', async () => {
  const given = { KmsMasterKeyId: '', KmsDataKeyReusePeriodSeconds: '600' }
  const reversed = { KmsDataKeyReusePeriodSeconds: '600', KmsMasterKeyId: '' }
  for (const change of [given, reversed, { SqsManagedSseEnabled: 'true' }]) {
    const queue = await create({ KmsMasterKeyId: 'alias/mine', KmsDataKeyReusePeriodSeconds: '6000' })
    await set(queue, change)
    expect(await get(queue, 'KmsMasterKeyId', 'KmsDataKeyReusePeriodSeconds')).toBeUndefined()
  }
  for (const attributes of [given, { KmsDataKeyReusePeriodSeconds: '300' }]) {
    expect(await get(await create(attributes), 'KmsDataKeyReusePeriodSeconds')).toBeUndefined()
  }
})

test('[220] an empty KmsMasterKeyId alone also removes the reuse period', async () => {
  const name = await create()
  const shown = ['KmsMasterKeyId', 'KmsDataKeyReusePeriodSeconds']
  await set(name, { KmsMasterKeyId: 'alias/mine', KmsDataKeyReusePeriodSeconds: '600' })
  expect((await get(name, ...shown))?.KmsDataKeyReusePeriodSeconds).toBe('600')
  await set(name, { KmsMasterKeyId: '' })
  expect(await get(name, ...shown)).toBeUndefined()
  await set(name, { KmsMasterKeyId: 'alias/mine' })
  expect((await get(name, ...shown))?.KmsDataKeyReusePeriodSeconds).toBe('300')
})

test('values are bounded, and odd ones inside them are refused like any other', async () => {
  const name = await create()
  const policy = (id: string) => `{"Statement":[],"Id":${id}}`
  const nested = (depth: number) => policy(`${'{"a":'.repeat(depth - 1)}1${'}'.repeat(depth - 1)}`)
  const sized = (bytes: number) => policy(`"${'x'.repeat(bytes - 24)}"`)
  for (const Policy of [nested(201), sized(8_193)])
    await expect(set(name, { Policy })).rejects.toMatchObject({ name: 'InvalidAttributeValue' })
  await set(name, { Policy: sized(8_192) })
  await set(name, { Policy: nested(200) })
  await expect(
    sqs.client.send(new CreateQueueCommand({ QueueName: name, Attributes: { Policy: nested(199) } })),
  ).rejects.toMatchObject({ name: 'QueueNameExists' })
  for (const odd of ['{"toString":1}', '[[]]', 'null', '[['.repeat(90) + ']]'.repeat(90)]) {
    for (const RedrivePolicy of [
      `{"maxReceiveCount":1,"deadLetterTargetArn":${odd}}`,
      `{"deadLetterTargetArn":"x","maxReceiveCount":${odd}}`,
    ]) {
      await expect(set(name, { RedrivePolicy })).rejects.toMatchObject({ name: 'InvalidParameterValue' })
    }
  }
})

test('a policy is kept as given, compared by what it says, and removed by an empty text', async () => {
  const Policy = '{ "Version": "2012-10-17",  "Statement": [] }'
  const name = await create({ Policy })
  expect(await get(name, 'Policy')).toEqual({ Policy })
  const again = { QueueName: name, Attributes: { Policy: '{"Statement":[],"Version":"2012-10-17"}' } }
  await sqs.client.send(new CreateQueueCommand(again))
  const misspelt = { Effect: 'deny', Principal: '*', Action: 'sqs:*' }
  await expect(set(name, { Policy: JSON.stringify({ Statement: misspelt }) })).rejects.toMatchObject({
    name: 'InvalidAttributeValue',
    message: 'Invalid value for the parameter Policy. Reason: Effect must be Allow or Deny',
  })
  for (const wrong of ['x', '[]', '"text"']) {
    await expect(set(name, { Policy: wrong })).rejects.toMatchObject({
      name: 'InvalidAttributeValue',
      message: 'Invalid value for the parameter Policy.',
    })
  }
  await set(name, { Policy: '' })
  expect(await get(name, 'Policy')).toBeUndefined()
})

test('AWS Query names attributes by number, in both directions', async () => {
  const created = await sqs.query({
    Action: 'CreateQueue',
    QueueName: 'by-query',
    'Attribute.1.Name': 'DelaySeconds',
    'Attribute.1.Value': '4',
    'Attribute.2.Name': 'VisibilityTimeout',
    'Attribute.2.Value': '9',
    'Tag.1.Key': 'team',
    'Tag.1.Value': 'blue',
  })
  expect(created.text).toContain(`<QueueUrl>${sqs.endpoint}/${ACCOUNT}/by-query</QueueUrl>`)
  expect(await sqs.api.deps.queues.get(queueArn('by-query'))).toMatchObject({
    delaySeconds: 4,
    visibilityTimeoutSeconds: 9,
    tags: { team: 'blue' },
  })
  const change = { 'Attribute.1.Name': 'DelaySeconds', 'Attribute.1.Value': '5' }
  const done = await sqs.query({ Action: 'SetQueueAttributes', ...change }, `/${ACCOUNT}/by-query`)
  expect([done.status, done.text]).toEqual([200, expect.not.stringContaining('SetQueueAttributesResult')])
  const asked = { 'AttributeName.1': 'DelaySeconds', 'AttributeName.2': 'VisibilityTimeout' }
  const { text } = await sqs.query({ Action: 'GetQueueAttributes', ...asked }, `/${ACCOUNT}/by-query`)
  expect(text.replaceAll(/\s*\n\s*/g, '')).toContain(
    '<Attribute><Name>DelaySeconds</Name><Value>5</Value></Attribute>',
  )
  expect(text.match(/<Attribute>/g)).toHaveLength(2)
})

test('queues made natively are seen on the wire, and the reverse', async () => {
  const { call } = sqs.api
  await call('PUT', '/v1/queues/native', { body: { delaySeconds: 6, retentionSeconds: 120 } })
  expect(await settable('native')).toMatchObject({ DelaySeconds: '6', MessageRetentionPeriod: '120' })
  const dead = await create()
  const name = await create({
    VisibilityTimeout: '11',
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queueArn(dead), maxReceiveCount: '2' }),
  })
  expect((await call('GET', `/v1/queues/${name}`)).body).toMatchObject({
    name,
    arn: queueArn(name),
    visibilityTimeoutSeconds: 11,
    retentionSeconds: 345_600,
    redrivePolicy: { deadLetterTargetArn: queueArn(dead), maxReceiveCount: 2 },
  })
  await call('PATCH', `/v1/queues/${name}`, { body: { visibilityTimeoutSeconds: 12, redrivePolicy: null } })
  expect(await get(name, 'VisibilityTimeout', 'RedrivePolicy')).toEqual({ VisibilityTimeout: '12' })
})
