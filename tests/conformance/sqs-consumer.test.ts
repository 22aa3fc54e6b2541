/** A public consumer, the npm package sqs-consumer, on a queue that a topic feeds. */
import { PublishBatchCommand, SubscribeCommand } from '@aws-sdk/client-sns'
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import { waitFor } from '@fantail/test-kit'
import { Consumer } from 'sqs-consumer'
import { expect, test } from 'vitest'
import { queueArn, topicArn, useAwsClients } from '../harness/aws/aws-clients.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack()
const aws = useAwsClients(stack)

test('sqs-consumer takes everything from a queue, a failed message again, and leaves nothing', async () => {
  const { sns, sqs, createQueue } = aws()
  await stack().client.put('/v1/topics/consumed')
  const queueUrl = await createQueue('consumed', { VisibilityTimeout: '1' })
  const TopicArn = topicArn('consumed')
  const Attributes = { RawMessageDelivery: 'true' }
  await sns.send(
    new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint: queueArn('consumed'), Attributes }),
  )
  const texts = Array.from({ length: 30 }, (_, i) => `message ${i}`)
  for (let from = 0; from < texts.length; from += 10) {
    const PublishBatchRequestEntries = texts
      .slice(from, from + 10)
      .map((Message, i) => ({ Id: `${i}`, Message }))
    await sns.send(new PublishBatchCommand({ TopicArn, PublishBatchRequestEntries }))
  }
  const handled: string[] = []
  const problems: string[] = []
  const failing = new Set(['message 7'])
  const consumer = Consumer.create({
    sqs,
    queueUrl,
    batchSize: 10,
    waitTimeSeconds: 5,
    handleMessage: async (message) => {
      const { Body = '' } = message
      if (failing.delete(Body)) throw new Error('not this time')
      handled.push(Body)
      return message
    },
  })
  consumer.on('error', (error) => void problems.push(error.message))
  consumer.on('processing_error', (error) => void problems.push(error.message))
  consumer.start()
  await waitFor(() => handled.length >= texts.length)
  const depth = async () => {
    const AttributeNames = [
      'ApproximateNumberOfMessages' as const,
      'ApproximateNumberOfMessagesNotVisible' as const,
    ]
    const { Attributes: left = {} } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames }),
    )
    return Object.values(left).map(Number)
  }
  await waitFor(async () => (await depth()).every((count) => count === 0))
  consumer.stop({ abort: true })
  expect(handled.toSorted()).toEqual(texts.toSorted())
  expect(problems.filter((text) => !text.includes('not this time'))).toEqual([])
})
