/** Messages that fail permanently at a subscription: the queue, the counters, and the unchanged subscription. */
import { GetSubscriptionAttributesCommand, SetSubscriptionAttributesCommand } from '@aws-sdk/client-sns'
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { queueArn, useAwsClients } from '../harness/aws/aws-clients.ts'
import { atOnce, awsWebhooks, deadLetters } from '../harness/aws/aws-webhooks.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { notification } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack()
const receiver = useReceiver()
const aws = useAwsClients(stack)
const webhooks = awsWebhooks({ stack, aws, receiver })

async function attributesOf(SubscriptionArn: string): Promise<Record<string, string>> {
  const command = new GetSubscriptionAttributesCommand({ SubscriptionArn })
  return (await aws().sns.send(command)).Attributes ?? {}
}

async function visibleIn(QueueUrl: string): Promise<number> {
  const AttributeNames = ['ApproximateNumberOfMessages' as const]
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames })
  return Number((await aws().sqs.send(command)).Attributes?.ApproximateNumberOfMessages)
}

/** A counter of the worker, found by its name in CloudWatch. */
async function counted(metric: string, topic: string): Promise<number> {
  const name = `aws_sns${metric.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}_total`
  const text = await (await fetch(`${stack().worker(0).url}/metrics`)).text()
  const line = text.split('\n').find((l) => l.startsWith(`${name}{`) && l.includes(`"${topic}"`))
  return Number(line?.split(' ').at(-1) ?? 0)
}

test('[52][156] without a dead-letter queue it is discarded; every attempt counts, and the subscription stays', async () => {
  await webhooks.createTopic('forgetful')
  const arn = await webhooks.subscribe('forgetful', '/forgetful', atOnce(1))
  const before = await attributesOf(arn)
  webhooks.respond('/forgetful', (_, n) => ({ status: n <= 2 ? 500 : 404 }))
  await webhooks.ended(await webhooks.publish('forgetful', 'exhausted'), 1)
  const refused = await webhooks.publish('forgetful', 'refused')
  expect(await webhooks.ended(refused, 1)).toMatchObject([{ state: 'discarded', attempts: 1 }])
  await waitFor(async () => (await counted('NumberOfNotificationsFailed', 'forgetful')) === 3)
  expect(await attributesOf(arn)).toEqual(before)
  webhooks.respond('/forgetful', {})
  const messageId = await webhooks.publish('forgetful', 'arrives')
  expect((await webhooks.waitForSent('/forgetful', 4)).at(-1)?.messageId).toBe(messageId)
})

test('[157] a dead-letter queue that is missing counts what it does not get', async () => {
  await webhooks.createTopic('hopeful')
  await webhooks.subscribe('hopeful', '/hopeful', deadLetters('no-such-queue'))
  webhooks.respond('/hopeful', { status: 404 })
  const messageId = await webhooks.publish('hopeful', 'lost')
  expect(await webhooks.ended(messageId, 1)).toMatchObject([{ state: 'discarded' }])
  await waitFor(async () => (await counted('NumberOfNotificationsFailedToRedriveToDlq', 'hopeful')) === 1)
  expect(await counted('NumberOfNotificationsRedrivenToDlq', 'hopeful')).toBe(0)
})

test('[88][159] a message that a filter keeps back is neither sent nor a dead letter', async () => {
  await webhooks.createTopic('picky')
  const byAttributes = await aws().createQueue('picky-attributes-dead')
  const byBody = await aws().createQueue('picky-body-dead')
  const FilterPolicy = '{"kind":["wanted"]}'
  await webhooks.subscribe('picky', '/attributes', { FilterPolicy, ...deadLetters('picky-attributes-dead') })
  await webhooks.subscribe('picky', '/body', {
    FilterPolicyScope: 'MessageBody',
    FilterPolicy,
    ...deadLetters('picky-body-dead'),
  })
  for (const path of ['/attributes', '/body']) webhooks.respond(path, { status: 404 })
  const kind = (StringValue: string) => ({
    MessageAttributes: { kind: { DataType: 'String', StringValue } },
  })
  for (const text of ['no object', '["wanted"]', '{"kind":"other"}', '{}'])
    await webhooks.publish('picky', text, kind('other'))
  await webhooks.publish('picky', '{"kind":"wanted"}', kind('wanted'))
  for (const [path, url] of [
    ['/attributes', byAttributes],
    ['/body', byBody],
  ] as const) {
    expect(JSON.parse((await aws().receive(url)).Body ?? '').Message).toBe('{"kind":"wanted"}')
    expect(await visibleIn(url)).toBe(0)
    expect(webhooks.sent(path).map((sent) => notification(sent).Message)).toEqual(['{"kind":"wanted"}'])
  }
  await waitFor(async () => (await counted('NumberOfNotificationsFilteredOut', 'picky')) === 8)
})

test('[160] an empty RedrivePolicy takes the dead-letter queue away', async () => {
  await webhooks.createTopic('resigned')
  const url = await aws().createQueue('resigned-dead')
  const arn = await webhooks.subscribe('resigned', '/resigned', deadLetters('resigned-dead'))
  webhooks.respond('/resigned', { status: 404 })
  expect(JSON.parse((await attributesOf(arn)).RedrivePolicy ?? '')).toEqual({
    deadLetterTargetArn: queueArn('resigned-dead'),
  })
  await webhooks.ended(await webhooks.publish('resigned', 'kept'), 1)
  const remove = { SubscriptionArn: arn, AttributeName: 'RedrivePolicy', AttributeValue: '' }
  await aws().sns.send(new SetSubscriptionAttributesCommand(remove))
  expect(await attributesOf(arn)).not.toHaveProperty('RedrivePolicy')
  const messageId = await webhooks.publish('resigned', 'not kept')
  expect(await webhooks.ended(messageId, 1)).toMatchObject([{ state: 'discarded' }])
  expect(JSON.parse((await aws().receive(url)).Body ?? '').Message).toBe('kept')
  expect(await visibleIn(url)).toBe(0)
})

/** Resolves when `count` deliveries of the subscription have failed permanently. */
async function discarded(arn: string, count: number): Promise<void> {
  const id = arn.slice(arn.lastIndexOf(':') + 1)
  await waitFor(() => {
    const lines = stack().worker(0).logLines()
    const ours = lines.filter(
      ({ msg, subscriptionId }) => msg === 'delivery.discarded' && subscriptionId === id,
    )
    return ours.length === count
  })
}

test('confirmations that an endpoint refuses are no dead letters', async () => {
  await webhooks.createTopic('unwanted')
  const url = await aws().createQueue('unwanted-dead')
  const attributes = deadLetters('unwanted-dead')
  receiver().respond('/unwanted', { status: 410 })
  const endpoint = `${receiver().url}/unwanted`
  const pending = await aws().subscribe('unwanted', { protocol: 'http', endpoint, attributes })
  await discarded(pending, 1)
  expect((await attributesOf(pending)).PendingConfirmation).toBe('true')
  const leaving = await webhooks.subscribe('unwanted', '/leaving', attributes)
  await webhooks.publish('unwanted', 'x')
  const [sent] = await webhooks.waitForSent('/leaving', 1)
  receiver().respond('/leaving', { status: 410 })
  await fetch((sent && notification(sent).UnsubscribeURL) ?? '')
  await discarded(leaving, 1)
  expect(receiver().requestsTo('/leaving').at(-1)?.headers).toMatchObject({
    'x-amz-sns-message-type': 'UnsubscribeConfirmation',
  })
  expect([await visibleIn(url), receiver().requestsTo('/unwanted').length]).toEqual([0, 1])
})
