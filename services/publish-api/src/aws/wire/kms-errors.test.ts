import { CreateTopicCommand, PublishCommand } from '@aws-sdk/client-sns'
import { CreateQueueCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SnsApi, startSnsApi } from '../sns/sns.fixture.ts'

let sns: SnsApi
let sqs: SQSClient
beforeAll(async () => {
  sns = await startSnsApi()
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  sqs = new SQSClient({ endpoint: sns.endpoint, region: 'us-east-1', credentials, maxAttempts: 1 })
  sns.api.deps.settings = {
    ...sns.api.deps.settings,
    kmsKeys: new Map<string, '*' | 'disabled' | string[]>([
      ['alias/mine', ['000000000000']],
      ['alias/old', 'disabled'],
      ['alias/theirs', ['111122223333']],
    ]),
  }
})
afterAll(async () => {
  sqs.destroy()
  await sns.stop()
})

let made = 0

async function publishTo(KmsMasterKeyId: string): Promise<string | undefined> {
  const Name = `topic-${++made}`
  const { TopicArn } = await sns.client.send(new CreateTopicCommand({ Name, Attributes: { KmsMasterKeyId } }))
  return (await sns.client.send(new PublishCommand({ TopicArn, Message: 'hello' }))).MessageId
}

async function sendTo(KmsMasterKeyId: string): Promise<string | undefined> {
  const QueueName = `queue-${++made}`
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes: { KmsMasterKeyId } }))
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'hello' }))
  return (await sqs.send(new ReceiveMessageCommand({ QueueUrl }))).Messages?.[0]?.Body
}

test.each(['alias/aws/sns', 'alias/mine'])('a topic and a queue may use %s', async (keyId) => {
  expect(await publishTo(keyId)).toBeDefined()
  expect(await sendTo(keyId)).toBe('hello')
})

test.each([
  ['alias/other', 'NotFound', 'Alias alias/other is not found.'],
  ['alias/old', 'Disabled', 'alias/old is disabled.'],
  ['alias/theirs', 'AccessDenied', 'you are not allowed to access'],
])('[410] %s can be set, and fails at first use: %s', async (keyId, problem, text) => {
  const message = expect.stringContaining(text)
  const refusal = { $metadata: { httpStatusCode: 400 }, message }
  await expect(publishTo(keyId)).rejects.toMatchObject({ ...refusal, name: `KMS${problem}Exception` })
  await expect(sendTo(keyId)).rejects.toMatchObject({ ...refusal, name: `Kms${problem}` })
})

test('without a master key SQS’s own encryption stays off', async () => {
  const { vault } = sns.api.deps
  sns.api.deps.vault = undefined
  try {
    const Attributes = { SqsManagedSseEnabled: 'true' }
    const created = await sqs.send(new CreateQueueCommand({ QueueName: 'plain', Attributes }))
    const again = await sqs.send(new CreateQueueCommand({ QueueName: 'plain', Attributes }))
    expect(again.QueueUrl).toBe(created.QueueUrl)
    const queue = await sns.api.deps.queues.get('arn:aws:sqs:us-east-1:000000000000:plain')
    expect(queue?.attributes.SqsManagedSseEnabled).toBe('false')
  } finally {
    sns.api.deps.vault = vault
  }
})
