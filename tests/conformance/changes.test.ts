/**
 * Attributes that are changed while a webhook is subscribed. Later messages follow the change. A change takes effect
 * within 100 ms, so tests publish until it does.
 */
import {
  ListSubscriptionsByTopicCommand,
  SetSubscriptionAttributesCommand,
  SetTopicAttributesCommand,
  SubscribeCommand,
} from '@aws-sdk/client-sns'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { topicArn, useAwsClients } from '../harness/aws/aws-clients.ts'
import { atOnce, awsWebhooks } from '../harness/aws/aws-webhooks.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { notification } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack()
const receiver = useReceiver()
const aws = useAwsClients(stack)
const webhooks = awsWebhooks({ stack, aws, receiver })

const set = (SubscriptionArn: string, AttributeName: string, AttributeValue: string) =>
  aws().sns.send(new SetSubscriptionAttributesCommand({ SubscriptionArn, AttributeName, AttributeValue }))

/** The state of a message at the topic's only subscription. */
async function endOf(topic: string, message: string, more = {}): Promise<string | undefined> {
  const [delivery] = await webhooks.ended(await webhooks.publish(topic, message, more), 0)
  return delivery?.state
}

test('raw delivery and the filter act on what is published next', async () => {
  await webhooks.createTopic('changed')
  const arn = await webhooks.subscribe('changed', '/changed')
  await set(arn, 'RawMessageDelivery', 'true')
  const large = 'ä'.repeat(131_072)
  await waitFor(async () => {
    await endOf('changed', large)
    return webhooks.sent('/changed').at(-1)?.text === large
  })
  const sized = (StringValue: string) => ({
    MessageAttributes: { size: { DataType: 'Number', StringValue } },
  })
  await set(arn, 'FilterPolicy', '{"size":[{"numeric":[">",5]}]}')
  await waitFor(async () => (await endOf('changed', 'five', sized('5'))) === 'filtered')
  expect(await endOf('changed', 'six', sized('6'))).toBe('delivered')
  await set(arn, 'FilterPolicy', '')
  await waitFor(async () => (await endOf('changed', 'any')) === 'delivered')
  const [six, any] = webhooks.sent('/changed').slice(-2)
  expect([six?.text, any?.text]).toEqual(['six', 'any'])
})

test('a policy is replaced whole, and removed by an empty text, of a subscription as of a topic', async () => {
  await webhooks.createTopic('policies', {
    DeliveryPolicy: JSON.stringify({
      http: { defaultHealthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 0 } },
    }),
  })
  const arn = await webhooks.subscribe('policies', '/policies', atOnce(2))
  webhooks.respond('/policies', { status: 500 })
  const attempts = async () => {
    const [delivery] = await webhooks.ended(await webhooks.publish('policies', 'x'), 1)
    return delivery?.attempts
  }
  expect(await attempts()).toBe(3)
  await set(arn, 'DeliveryPolicy', '{"requestPolicy":{"headerContentType":"application/json"}}')
  await waitFor(async () => (await attempts()) === 1)
  expect(webhooks.sent('/policies').at(-1)?.headers['content-type']).toBe('application/json')
  await set(arn, 'DeliveryPolicy', '')
  const http = {
    defaultHealthyRetryPolicy: {
      minDelayTarget: 1,
      maxDelayTarget: 1,
      numRetries: 1,
      numNoDelayRetries: 1,
    },
  }
  await aws().sns.send(
    new SetTopicAttributesCommand({
      TopicArn: topicArn('policies'),
      AttributeName: 'DeliveryPolicy',
      AttributeValue: JSON.stringify({ http }),
    }),
  )
  await waitFor(async () => (await attempts()) === 2)
  expect(webhooks.sent('/policies').at(-1)?.headers['content-type']).toBe('text/plain; charset=UTF-8')
})

test('an endpoint that undoes its unsubscription gets what comes next', async () => {
  await webhooks.createTopic('undone')
  const arn = await webhooks.subscribe('undone', '/undone')
  await webhooks.publish('undone', 'before')
  const [before] = await webhooks.waitForSent('/undone', 1)
  await fetch((before && notification(before).UnsubscribeURL) ?? '')
  const farewell = (await receiver().waitForRequests(3, '/undone'))[2]
  const missed = await waitFor(async () => {
    const messageId = await webhooks.publish('undone', 'meanwhile')
    return (await webhooks.ended(messageId, 0)).length === 0 && messageId
  })
  await fetch((farewell && notification(farewell).SubscribeURL) ?? '')
  await waitFor(async () => (await endOf('undone', 'after')) === 'delivered')
  const sent = webhooks.sent('/undone')
  expect(sent.at(-1)?.text).toContain('after')
  expect(sent.map(({ messageId }) => messageId)).not.toContain(missed)
  const list = new ListSubscriptionsByTopicCommand({ TopicArn: topicArn('undone') })
  expect((await aws().sns.send(list)).Subscriptions?.map((one) => one.SubscriptionArn)).toEqual([arn])
  const Endpoint = `${receiver().url}/undone`
  const again = new SubscribeCommand({ TopicArn: topicArn('undone'), Protocol: 'http', Endpoint })
  expect((await aws().sns.send(again)).SubscriptionArn).toBe(arn)
})
