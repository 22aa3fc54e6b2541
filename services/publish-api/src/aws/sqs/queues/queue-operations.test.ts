import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListDeadLetterSourceQueuesCommand,
  ListQueuesCommand,
  PurgeQueueCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { queueArn } from '@fantail/contracts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ACCOUNT, type SqsApi, startSqsApi } from '../sqs.fixture.ts'

let sqs: SqsApi
beforeAll(async () => {
  sqs = await startSqsApi()
})
afterAll(() => sqs.stop())

const create = (QueueName: string, Attributes = {}) =>
  sqs.client.send(new CreateQueueCommand({ QueueName, Attributes }))
const invalidName = { name: 'InvalidParameterValue', $metadata: { httpStatusCode: 400 } }

test('a queue is created under its URL, found by name and deleted', async () => {
  const { QueueUrl } = await create('made')
  expect(QueueUrl).toBe(`${sqs.endpoint}/${ACCOUNT}/made`)
  expect((await sqs.client.send(new GetQueueUrlCommand({ QueueName: 'made' }))).QueueUrl).toBe(QueueUrl)
  const named = { QueueName: 'made', QueueOwnerAWSAccountId: '111122223333' }
  await expect(sqs.client.send(new GetQueueUrlCommand(named))).rejects.toMatchObject({
    name: 'QueueDoesNotExist',
  })
  await sqs.client.send(new DeleteQueueCommand({ QueueUrl }))
  for (const command of [
    new GetQueueUrlCommand({ QueueName: 'made' }),
    new DeleteQueueCommand({ QueueUrl }),
  ]) {
    await expect(sqs.client.send(command as GetQueueUrlCommand)).rejects.toMatchObject({
      name: 'QueueDoesNotExist',
      message: 'The specified queue does not exist.',
    })
  }
})

test('[161] a missing queue is named in header, type and text', async () => {
  const { status, headers, text } = await sqs.json('DeleteQueue', {
    QueueUrl: `${sqs.endpoint}/${ACCOUNT}/none`,
  })
  expect(status).toBe(400)
  expect(headers.get('x-amzn-query-error')).toBe('AWS.SimpleQueueService.NonExistentQueue;Sender')
  expect(headers.get('x-amzn-requestid')).toMatch(/\S/)
  expect(JSON.parse(text)).toEqual({
    __type: 'com.amazonaws.sqs#QueueDoesNotExist',
    message: 'The specified queue does not exist.',
  })
  const byQuery = await sqs.query({ Action: 'PurgeQueue' }, `/${ACCOUNT}/none`)
  expect(byQuery.status).toBe(400)
  expect(byQuery.text).toContain('<Code>AWS.SimpleQueueService.NonExistentQueue</Code>')
  expect(byQuery.text).toContain(
    '<Message>The specified queue does not exist for this wsdl version.</Message>',
  )
})

test('a queue is named by a URL on any host, by its name alone, or by the path of a Query request', async () => {
  await create('named')
  const names = ['named', `/${ACCOUNT}/named`, `https://sqs.us-east-1.amazonaws.com/${ACCOUNT}/named`]
  for (const QueueUrl of [...names, `https://example.com/behind/${ACCOUNT}/named/`]) {
    const { status, text } = await sqs.json('GetQueueAttributes', {
      QueueUrl,
      AttributeNames: ['QueueArn'],
    })
    expect([status, JSON.parse(text)]).toEqual([200, { Attributes: { QueueArn: queueArn('named') } }])
  }
  const asked = { Action: 'GetQueueAttributes', 'AttributeName.1': 'QueueArn' }
  expect((await sqs.query(asked, `/${ACCOUNT}/named`)).text).toContain(`<Value>${queueArn('named')}</Value>`)
  const link = `${sqs.endpoint}/${ACCOUNT}/named?Action=GetQueueAttributes&Version=2012-11-05&AttributeName.1=All`
  expect(await (await fetch(link)).text()).toContain('<Name>QueueArn</Name>')
  const none = await sqs.json('PurgeQueue', {})
  expect(none.headers.get('x-amzn-query-error')).toBe('MissingParameter;Sender')
})

test('creating a queue again with the same attributes answers its URL', async () => {
  const first = await create('again', { DelaySeconds: '5' })
  expect((await create('again')).QueueUrl).toBe(first.QueueUrl)
  expect((await create('again', { DelaySeconds: '5', VisibilityTimeout: '30' })).QueueUrl).toBe(
    first.QueueUrl,
  )
})

test('[164] creating a queue with another value is refused and changes nothing', async () => {
  await create('other', { VisibilityTimeout: '40' })
  const refused = {
    name: 'QueueNameExists',
    message: 'A queue already exists with the same name and a different value for attribute DelaySeconds',
  }
  await expect(create('other', { VisibilityTimeout: '40', DelaySeconds: '1' })).rejects.toMatchObject(refused)
  expect(await sqs.api.deps.queues.get(queueArn('other'))).toMatchObject({
    visibilityTimeoutSeconds: 40,
    delaySeconds: 0,
  })
  const { headers } = await sqs.json('CreateQueue', { QueueName: 'other', Attributes: { DelaySeconds: '1' } })
  expect(headers.get('x-amzn-query-error')).toBe('QueueAlreadyExists;Sender')
})

test('[165] a name rests for 60 seconds after its queue was deleted, where it is to', async () => {
  const { settings } = sqs.api.deps
  const { QueueUrl } = await create('resting')
  await sqs.client.send(new DeleteQueueCommand({ QueueUrl }))
  settings.sqsDeleteCooldownSeconds = 60
  try {
    await expect(create('resting')).rejects.toMatchObject({
      name: 'QueueDeletedRecently',
      message:
        'You must wait 60 seconds after deleting a queue before you can create another with the same name.',
    })
  } finally {
    settings.sqsDeleteCooldownSeconds = 0
  }
  await create('resting')
})

test('names that no queue can have are refused', async () => {
  const standard = 'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length'
  for (const name of ['a b', 'a/b', 'a'.repeat(81), 'half.fifo', 'é']) {
    await expect(create(name)).rejects.toMatchObject({ ...invalidName, message: standard })
  }
  const fifo = { FifoQueue: 'true' }
  for (const name of ['half', `${'a'.repeat(76)}.fifo`]) {
    await expect(create(name, fifo)).rejects.toMatchObject(invalidName)
  }
  await expect(create('half.fifo', { FifoQueue: 'false' })).rejects.toMatchObject(invalidName)
  await create(`${'a'.repeat(75)}.fifo`, fifo)
})

test('queues are listed by account and region, by prefix, and page by page where that is asked for', async () => {
  const urls = await Promise.all(
    ['list-1', 'list-2', 'list-3'].map(async (name) => (await create(name)).QueueUrl),
  )
  const list = (input: object) => sqs.client.send(new ListQueuesCommand(input))
  expect((await list({ QueueNamePrefix: 'list-' })).QueueUrls).toEqual(urls)
  expect((await list({})).NextToken).toBeUndefined()
  expect((await list({ QueueNamePrefix: 'none-' })).QueueUrls).toBeUndefined()
  const first = await list({ QueueNamePrefix: 'list-', MaxResults: 2 })
  const second = await list({ QueueNamePrefix: 'list-', MaxResults: 2, NextToken: first.NextToken })
  expect([...(first.QueueUrls ?? []), ...(second.QueueUrls ?? [])]).toEqual(urls)
  expect(second.NextToken).toBeUndefined()
  for (const wrong of [{ MaxResults: 0 }, { MaxResults: 1_001 }, { MaxResults: 1, NextToken: 'x' }]) {
    await expect(list(wrong)).rejects.toMatchObject(invalidName)
  }
  const credentials = { accessKeyId: '111122223333', secretAccessKey: 'x' }
  const other = new SQSClient({ endpoint: sqs.endpoint, region: 'eu-west-3', credentials })
  await other.send(new CreateQueueCommand({ QueueName: 'list-4' }))
  expect((await other.send(new ListQueuesCommand({}))).QueueUrls).toEqual([
    `${sqs.endpoint}/111122223333/list-4`,
  ])
  expect((await list({ QueueNamePrefix: 'list-' })).QueueUrls).toEqual(urls)
  other.destroy()
})

test('[180] a second purge within 60 seconds is refused', async () => {
  const { QueueUrl } = await create('purged')
  const arn = queueArn('purged')
  await sqs.api.deps.queues.send(arn, [{ body: 'a' }, { body: 'b' }])
  await sqs.api.deps.queues.receive(arn, { maxMessages: 1 })
  const purge = () => sqs.client.send(new PurgeQueueCommand({ QueueUrl }))
  await purge()
  expect(await sqs.api.deps.queues.getWithCounts(arn)).toMatchObject({
    counts: { visible: 0, inFlight: 0 },
  })
  await expect(purge()).rejects.toMatchObject({
    name: 'PurgeQueueInProgress',
    message: 'Only one PurgeQueue operation on purged is allowed every 60 seconds.',
    $metadata: { httpStatusCode: 403 },
  })
})

test('[186] the sources of a dead-letter queue are listed as queueUrls', async () => {
  const { QueueUrl } = await create('dead')
  const list = (input: object = {}) =>
    sqs.client.send(new ListDeadLetterSourceQueuesCommand({ QueueUrl, ...input }))
  expect((await list()).queueUrls).toEqual([])
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queueArn('dead'), maxReceiveCount: 3 })
  const urls = await Promise.all(
    ['source-1', 'source-2', 'source-3'].map(
      async (name) => (await create(name, { RedrivePolicy })).QueueUrl,
    ),
  )
  expect((await list()).queueUrls).toEqual(urls)
  const first = await list({ MaxResults: 2 })
  const rest = await list({ MaxResults: 2, NextToken: first.NextToken })
  expect([...(first.queueUrls ?? []), ...(rest.queueUrls ?? [])]).toEqual(urls)
  expect(rest.NextToken).toBeUndefined()
  await expect(list({ NextToken: 'nonsense' })).rejects.toMatchObject({
    ...invalidName,
    message: 'Invalid or expired next token.',
  })
  const { text } = await sqs.query({ Action: 'ListDeadLetterSourceQueues', QueueUrl: QueueUrl ?? '' })
  expect(text.match(/<QueueUrl>[^<]*<\/QueueUrl>/g)).toEqual(urls.map((url) => `<QueueUrl>${url}</QueueUrl>`))
})

test('[189] a client that knows the endpoint by its environment only reaches a queue by its URL', async () => {
  vi.stubEnv('AWS_ENDPOINT_URL', sqs.endpoint)
  vi.stubEnv('AWS_REGION', 'us-east-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test')
  const client = new SQSClient({})
  try {
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: 'by-environment' }))
    const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] })
    expect((await client.send(command)).Attributes).toEqual({ QueueArn: queueArn('by-environment') })
  } finally {
    client.destroy()
    vi.unstubAllEnvs()
  }
})

test('[189] JSON calls arrive at the queue’s own URL too, where the SDKs of Ruby and PHP send them', async () => {
  const { QueueUrl } = await create('at-its-url')
  const { status, text } = await sqs.json(
    'GetQueueAttributes',
    { QueueUrl, AttributeNames: ['QueueArn'] },
    `/${ACCOUNT}/at-its-url`,
  )
  expect([status, JSON.parse(text)]).toEqual([200, { Attributes: { QueueArn: queueArn('at-its-url') } }])
})

test('[189] queue URLs have the configured public base', async () => {
  const { settings } = sqs.api.deps
  settings.publicUrl = 'https://fantail.example/base/'
  try {
    const { QueueUrl } = await create('public')
    expect(QueueUrl).toBe(`https://fantail.example/base/${ACCOUNT}/public`)
    const asked = await sqs.client.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
    )
    expect(asked.Attributes).toEqual({ QueueArn: queueArn('public') })
  } finally {
    settings.publicUrl = undefined
  }
})
