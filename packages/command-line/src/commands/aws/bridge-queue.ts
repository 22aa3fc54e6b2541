/** The queue at AWS that carries messages to the bridge. It is made once, and keeps messages while no bridge runs. */
import { SubscribeCommand, UnsubscribeCommand } from '@aws-sdk/client-sns'
import { CreateQueueCommand, GetQueueAttributesCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import { parseArn } from '@fantail/contracts'
import { type AwsTopic, confirmedSubscriptions } from './aws-topic.ts'

/** 14 days, the longest time that SQS keeps messages. */
const RETENTION_SECONDS = '1209600'

/** Makes the queue if it is missing, and subscribes it. Resolves with its URL. */
export async function openBridgeQueue(topic: AwsTopic, name: string): Promise<string> {
  const { queueUrl, queueArn } = await makeAwsQueue(topic, name)
  await topic.sns.send(new SubscribeCommand({ TopicArn: topic.arn, Protocol: 'sqs', Endpoint: queueArn }))
  return queueUrl
}

interface AwsQueue {
  queueUrl: string
  queueArn: string
}

/** Makes a queue at AWS if it is missing, and lets the topic send to it. */
export async function makeAwsQueue({ sqs, arn, isFifo }: AwsTopic, QueueName: string): Promise<AwsQueue> {
  const fifo = isFifo && { FifoQueue: 'true' }
  const Attributes = { MessageRetentionPeriod: RETENTION_SECONDS, ...fifo }
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] })
  const queueArn = (await sqs.send(asked)).Attributes?.QueueArn ?? ''
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [mayBeSent(queueArn, arn)] })
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { Policy } }))
  return { queueUrl: QueueUrl ?? '', queueArn }
}

function mayBeSent(queueArn: string, topicArn: string): object {
  return {
    Effect: 'Allow',
    Principal: { Service: 'sns.amazonaws.com' },
    Action: 'sqs:SendMessage',
    Resource: queueArn,
    Condition: { ArnEquals: { 'aws:SourceArn': topicArn } },
  }
}

/** Unsubscribes the endpoint of a bridge: a URL, or a queue with this name. Resolves with whether it was subscribed. */
export async function unsubscribeBridge(topic: AwsTopic, urlOrQueue: string): Promise<boolean> {
  const isBridge = ({ endpoint }: { endpoint: string }) =>
    endpoint === urlOrQueue || parseArn(endpoint)?.name === urlOrQueue
  const found = (await confirmedSubscriptions(topic)).filter(isBridge)
  for (const { arn } of found) await topic.sns.send(new UnsubscribeCommand({ SubscriptionArn: arn }))
  return found.length > 0
}
