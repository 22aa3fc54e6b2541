/** The steps of a typical user of SNS and SQS, from the first topic to redriven dead letters. */
import { ConfirmSubscriptionCommand, CreateTopicCommand, SubscribeCommand } from '@aws-sdk/client-sns'
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ListMessageMoveTasksCommand,
  ReceiveMessageCommand,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { useAwsClients } from '../harness/aws/aws-clients.ts'
import { atOnce, awsWebhooks } from '../harness/aws/aws-webhooks.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { notification } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack({ redrive: true })
const receiver = useReceiver()
const aws = useAwsClients(stack)
const webhooks = awsWebhooks({ stack, aws, receiver })

/** Creates a queue, and returns the URL of the answer and the ARN from the queue's attributes. */
async function createQueue(QueueName: string, Attributes = {}): Promise<{ url: string; arn: string }> {
  const { QueueUrl } = await aws().sqs.send(new CreateQueueCommand({ QueueName, Attributes }))
  const AttributeNames = ['QueueArn' as const]
  const got = await aws().sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }))
  return { url: QueueUrl ?? '', arn: got.Attributes?.QueueArn ?? '' }
}

/** Receives a message, and deletes it. */
async function take(QueueUrl: string) {
  const message = await aws().receive(QueueUrl)
  await aws().sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }))
  return message
}

async function waitingIn(QueueUrl: string): Promise<number> {
  const AttributeNames = ['ApproximateNumberOfMessages' as const]
  const got = await aws().sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }))
  return Number(got.Attributes?.ApproximateNumberOfMessages)
}

async function moveBack(SourceArn: string): Promise<void> {
  await aws().sqs.send(new StartMessageMoveTaskCommand({ SourceArn }))
  await waitFor(async () => {
    const { Results } = await aws().sqs.send(new ListMessageMoveTasksCommand({ SourceArn }))
    return Results?.[0]?.Status === 'COMPLETED' && Results[0].ApproximateNumberOfMessagesMoved === 1
  })
}

test('a topic, a webhook and a queue: published, received, failed, and brought back', async () => {
  const { TopicArn } = await aws().sns.send(new CreateTopicCommand({ Name: 'orders' }))
  const hookDead = await createQueue('hook-dead')
  const workDead = await createQueue('work-dead')
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: workDead.arn, maxReceiveCount: 1 })
  const work = await createQueue('work', { RedrivePolicy })

  const ofQueue = {
    TopicArn,
    Protocol: 'sqs',
    Endpoint: work.arn,
    Attributes: { RawMessageDelivery: 'true' },
  }
  expect((await aws().sns.send(new SubscribeCommand(ofQueue))).SubscriptionArn).toContain(`${TopicArn}:`)
  const policy = JSON.stringify({ deadLetterTargetArn: hookDead.arn })
  const Attributes = { ...atOnce(2), RedrivePolicy: policy }
  const ofHook = { TopicArn, Protocol: 'http', Endpoint: `${receiver().url}/hook`, Attributes }
  const { SubscriptionArn } = await aws().sns.send(new SubscribeCommand(ofHook))
  expect(SubscriptionArn).toBe('pending confirmation')
  const [asked] = await receiver().waitForRequests(1, '/hook')
  const Token = asked && notification(asked).Token
  const confirmed = await aws().sns.send(new ConfirmSubscriptionCommand({ TopicArn, Token }))
  expect(confirmed.SubscriptionArn).toContain(`${TopicArn}:`)

  const first = await webhooks.publish('orders', 'first')
  expect((await webhooks.waitForSent('/hook', 1))[0]?.messageId).toBe(first)
  expect((await take(work.url)).Body).toBe('first')

  webhooks.respond('/hook', { status: 500 })
  const second = await webhooks.publish('orders', 'second')
  await webhooks.waitForSent('/hook', 4)
  await waitFor(async () => (await waitingIn(hookDead.url)) === 1)
  webhooks.respond('/hook', {})
  await moveBack(hookDead.arn)
  const sent = await webhooks.waitForSent('/hook', 5)
  expect(sent.slice(1).map(({ messageId }) => messageId)).toEqual(Array(4).fill(second))
  expect(sent[4]?.text).toBe(sent[1]?.text)

  const receive = { QueueUrl: work.url, VisibilityTimeout: 0, WaitTimeSeconds: 5 }
  const received = await aws().sqs.send(new ReceiveMessageCommand(receive))
  expect(received.Messages?.map(({ Body }) => Body)).toEqual(['second'])
  await aws().sqs.send(new ReceiveMessageCommand({ ...receive, WaitTimeSeconds: 0 }))
  const letter = await aws().sqs.send(
    new ReceiveMessageCommand({ QueueUrl: workDead.url, VisibilityTimeout: 0, WaitTimeSeconds: 5 }),
  )
  expect(letter.Messages?.map(({ Body }) => Body)).toEqual(['second'])
  await moveBack(workDead.arn)
  expect((await take(work.url)).Body).toBe('second')
})
