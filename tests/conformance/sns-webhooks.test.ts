/** Webhooks with SNS's clients, from Subscribe to Unsubscribe. */
import {
  ConfirmSubscriptionCommand,
  CreateTopicCommand,
  GetSubscriptionAttributesCommand,
  PublishBatchCommand,
  PublishCommand,
} from '@aws-sdk/client-sns'
import { expect, test } from 'vitest'
import { queueArn, topicArn, useAwsClients } from '../harness/aws/aws-clients.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { notification } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack()
const receiver = useReceiver()
const aws = useAwsClients(stack)

/**
 * A topic with a webhook that waits for its confirmation: the subscription's ARN and the request that the endpoint got.
 */
async function awaiting(topic: string, attributes: Record<string, string> = {}) {
  await aws().sns.send(new CreateTopicCommand({ Name: topic }))
  const endpoint = `${receiver().url}/${topic}`
  const arn = await aws().subscribe(topic, { protocol: 'http', endpoint, attributes })
  const [request] = await receiver().waitForRequests(1, `/${topic}`)
  if (!request) throw new Error('it was asked')
  return { arn, request, asked: notification(request) }
}

async function confirmed(topic: string, attributes: Record<string, string> = {}): Promise<string> {
  const { arn, asked } = await awaiting(topic, attributes)
  await aws().sns.send(new ConfirmSubscriptionCommand({ TopicArn: topicArn(topic), Token: asked.Token }))
  return arn
}

const publish = (topic: string, Message: string, more = {}) =>
  aws().sns.send(new PublishCommand({ TopicArn: topicArn(topic), Message, ...more }))

test('[41][45][56][58] the confirmation comes first, as text without a subscription’s ARN; then what is published', async () => {
  const DeliveryPolicy = '{"requestPolicy":{"headerContentType":"application/json"}}'
  const { arn, request, asked } = await awaiting('first', { DeliveryPolicy })
  expect(request.headers).toMatchObject({
    'x-amz-sns-message-type': 'SubscriptionConfirmation',
    'content-type': 'text/plain; charset=UTF-8',
  })
  expect(request.headers).not.toHaveProperty('x-amz-sns-subscription-arn')
  // A second subscriber. The recipients of a message are decided before any of them gets it.
  const witness = await aws().createQueue('witness')
  await aws().subscribe('first', { protocol: 'sqs', endpoint: queueArn('witness') })
  await publish('first', 'too early')
  await aws().receive(witness)
  const confirmation = new ConfirmSubscriptionCommand({ TopicArn: topicArn('first'), Token: asked.Token })
  expect((await aws().sns.send(confirmation)).SubscriptionArn).toBe(arn)
  const { MessageId } = await publish('first', 'in time')
  const requests = await receiver().waitForRequests(2, '/first')
  expect(requests.slice(1).map((sent) => notification(sent).Message)).toEqual(['in time'])
  expect(requests[1]?.headers).toMatchObject({
    'x-amz-sns-message-type': 'Notification',
    'x-amz-sns-message-id': MessageId,
    'x-amz-sns-topic-arn': topicArn('first'),
    'x-amz-sns-subscription-arn': arn,
    'content-type': 'application/json',
  })
})

test('[57][74][75] the links confirm, take out and restore', async () => {
  const { arn, asked } = await awaiting('links')
  expect(asked.SubscribeURL).toContain(
    `${stack().api.url}/?Action=ConfirmSubscription&TopicArn=${topicArn('links')}&Token=${asked.Token}`,
  )
  expect(await (await fetch(asked.SubscribeURL ?? '')).text()).toContain(`<SubscriptionArn>${arn}<`)
  await publish('links', 'one')
  const [, first] = await receiver().waitForRequests(2, '/links')
  const answer = await fetch((first && notification(first).UnsubscribeURL) ?? '')
  expect(await answer.text()).toContain('<UnsubscribeResponse')
  const [, , farewell] = await receiver().waitForRequests(3, '/links')
  expect(farewell?.headers['x-amz-sns-message-type']).toBe('UnsubscribeConfirmation')
  const get = new GetSubscriptionAttributesCommand({ SubscriptionArn: arn })
  await expect(aws().sns.send(get)).rejects.toThrow('Subscription does not exist')
  await fetch((farewell && notification(farewell).SubscribeURL) ?? '')
  expect((await aws().sns.send(get)).Attributes?.PendingConfirmation).toBe('false')
})

test('[66] a confirmation that an endpoint fails is sent again by its retry policy', async () => {
  receiver().respond('/failing', (_request, n) => ({ status: n < 3 ? 503 : 200 }))
  const retries = { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 3, numNoDelayRetries: 3 }
  await awaiting('failing', { DeliveryPolicy: JSON.stringify({ healthyRetryPolicy: retries }) })
  const requests = await receiver().waitForRequests(3, '/failing')
  expect(new Set(requests.map(({ messageId }) => messageId)).size).toBe(1)
})

test('[121] http gets the text of its name, or the default', async () => {
  await confirmed('structured')
  const texts = { default: 'for all', http: 'for http', https: 'for https' }
  await publish('structured', JSON.stringify(texts), { MessageStructure: 'json' })
  await publish('structured', '{"default":"for all","sqs":"for queues"}', { MessageStructure: 'json' })
  const requests = await receiver().waitForRequests(3, '/structured')
  expect(
    requests
      .slice(1)
      .map((sent) => notification(sent).Message)
      .sort(),
  ).toEqual(['for all', 'for http'])
})

test('[49] attributes stand in the envelope, binary ones as base64', async () => {
  await confirmed('attributed')
  const MessageAttributes = {
    size: { DataType: 'Number', StringValue: '3' },
    blob: { DataType: 'Binary', BinaryValue: Buffer.from([2, 3, 4]) },
  }
  await publish('attributed', 'x', { MessageAttributes, Subject: 'Greeting' })
  const [, sent] = await receiver().waitForRequests(2, '/attributed')
  expect(sent && notification(sent)).toMatchObject({
    Subject: 'Greeting',
    MessageAttributes: { size: { Type: 'Number', Value: '3' }, blob: { Type: 'Binary', Value: 'AgME' } },
  })
})

test('[42][46] raw: the bare text, its attributes left out', async () => {
  await confirmed('raw', { RawMessageDelivery: 'true' })
  await publish('raw', 'bare é', { MessageAttributes: { a: { DataType: 'String', StringValue: 'b' } } })
  const [, sent] = await receiver().waitForRequests(2, '/raw')
  expect(sent?.text).toBe('bare é')
  expect(sent?.headers['x-amz-sns-rawdelivery']).toBe('true')
})

test('[128] the other messages of a batch with one invalid subject arrive', async () => {
  await confirmed('batch')
  const entries = ['a', 'b', 'c'].map((Id) => ({ Id, Message: Id, ...(Id === 'b' && { Subject: '' }) }))
  const batch = new PublishBatchCommand({ TopicArn: topicArn('batch'), PublishBatchRequestEntries: entries })
  expect((await aws().sns.send(batch)).Failed?.map(({ Id }) => Id)).toEqual(['b'])
  const requests = await receiver().waitForRequests(3, '/batch')
  expect(
    requests
      .slice(1)
      .map((sent) => notification(sent).Message)
      .sort(),
  ).toEqual(['a', 'c'])
})
