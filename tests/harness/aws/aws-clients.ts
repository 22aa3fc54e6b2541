/** The SDK's unmodified clients of SNS and SQS for a stack, with steps that many tests need. */
import { type CreateTopicCommandInput, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns'
import { CreateQueueCommand, type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll } from 'vitest'
import type { Stack } from '../services/stack.ts'

const REGION = 'us-east-1'
const ACCOUNT = '000000000000'

export const topicArn = (name: string) => `arn:aws:sns:${REGION}:${ACCOUNT}:${name}`
export const queueArn = (name: string, account = ACCOUNT) => `arn:aws:sqs:${REGION}:${account}:${name}`

export interface AwsClients {
  sns: SNSClient
  sqs: SQSClient
  /** Resolves with the queue's URL. */
  createQueue(name: string, attributes?: Record<string, string>): Promise<string>
  subscribe(topic: string, endpoint: SubscribedEndpoint): Promise<string>
  /** Resolves with the first message, with all its attributes. */
  receive(queueUrl: string): Promise<Message>
}

interface SubscribedEndpoint {
  protocol: 'http' | 'sqs' | 'lambda' | 'firehose' | 'application'
  endpoint: string
  attributes?: Record<string, string>
}

export type TopicAttributes = CreateTopicCommandInput['Attributes']

/** Clients for the tests of a file. `account`: an access key id of twelve digits. */
export function useAwsClients(stack: () => Stack, account = 'test'): () => AwsClients {
  let clients: AwsClients | undefined
  beforeAll(() => {
    const credentials = { accessKeyId: account, secretAccessKey: 'test' }
    const config = { endpoint: stack().api.url, region: REGION, credentials, maxAttempts: 1 }
    clients = clientsOf(new SNSClient(config), new SQSClient(config))
  })
  afterAll(() => {
    clients?.sns.destroy()
    clients?.sqs.destroy()
  })
  return () => {
    if (!clients) throw new Error('the clients are there in tests and hooks only')
    return clients
  }
}

function clientsOf(sns: SNSClient, sqs: SQSClient): AwsClients {
  const receiveOnce = async (QueueUrl: string) => {
    const names = { MessageAttributeNames: ['All'], MessageSystemAttributeNames: ['All' as const] }
    const command = new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 5, ...names })
    return (await sqs.send(command)).Messages?.[0]
  }
  return {
    sns,
    sqs,
    createQueue: async (QueueName, Attributes = {}) =>
      (await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl ?? '',
    subscribe: async (topic, { protocol: Protocol, endpoint: Endpoint, attributes: Attributes }) => {
      const given = { TopicArn: topicArn(topic), Protocol, Endpoint, Attributes, ReturnSubscriptionArn: true }
      return (await sns.send(new SubscribeCommand(given))).SubscriptionArn ?? ''
    },
    receive: (queueUrl) => waitFor(() => receiveOnce(queueUrl)),
  }
}
