/**
 * Makes a queue with one message over the SQS protocol. `endpoint` leads to Fantail; without it the client uses AWS.
 */
import { CreateQueueCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'

export async function setUp(name) {
  const client = new SQSClient({
    endpoint: process.env.FANTAIL_URL ?? 'http://127.0.0.1:4100',
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
  const { QueueUrl: queueUrl } = await client.send(new CreateQueueCommand({ QueueName: name }))
  await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: '{"order":7}' }))
  return { client, queueUrl }
}
