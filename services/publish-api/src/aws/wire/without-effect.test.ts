import { readFileSync } from 'node:fs'
import { CreateTopicCommand, SetTopicAttributesCommand, SubscribeCommand } from '@aws-sdk/client-sns'
import { CreateQueueCommand, SetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { WITHOUT_EFFECT, withoutEffect } from '@fantail/policy'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { queueArn, type SnsApi, startSnsApi, topicArn } from '../sns/sns.fixture.ts'

let sns: SnsApi
let sqs: SQSClient
beforeAll(async () => {
  sns = await startSnsApi()
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  sqs = new SQSClient({ endpoint: sns.endpoint, region: 'us-east-1', credentials, maxAttempts: 1 })
})
afterAll(async () => {
  sqs.destroy()
  await sns.stop()
})

const logged = () => sns.api.events.filter(({ event }) => event.endsWith('.without_effect'))

function policyFor(...services: string[]): string {
  const Statement = services.map((Service) => ({
    Effect: 'Allow',
    Principal: { Service },
    Action: 'sns:Publish',
    Resource: '*',
  }))
  return JSON.stringify({ Version: '2012-10-17', Statement })
}

test('a topic gets one line for what it is made with, and none for what it was logged with before', async () => {
  const TopicArn = topicArn('encrypted')
  const Attributes = {
    DisplayName: 'shown',
    TracingConfig: 'PassThrough',
    ApplicationFailureFeedbackRoleArn: 'arn:aws:iam::000000000000:role/logs',
    Policy: policyFor('events.amazonaws.com', 's3.amazonaws.com'),
  }
  await sns.client.send(new CreateTopicCommand({ Name: 'encrypted', Attributes }))
  await sns.client.send(new CreateTopicCommand({ Name: 'encrypted', Attributes }))
  const set = (AttributeName: string, AttributeValue: string) =>
    sns.client.send(new SetTopicAttributesCommand({ TopicArn, AttributeName, AttributeValue }))
  await set('DisplayName', 'other')
  await set('TracingConfig', 'Active')
  const lines = logged().filter(({ fields }) => fields.topicArn === TopicArn)
  expect(lines.map(({ event, fields }) => [event, fields.attributes])).toEqual([
    ['topic.without_effect', ['Policy for events.amazonaws.com', 'Policy for s3.amazonaws.com']],
    ['topic.without_effect', ['TracingConfig']],
  ])
  expect(lines[0]?.fields.detail).toContain('docs/aws-without-effect.md')
})

test('a queue and a subscription, too; SNS may send to a queue', async () => {
  const Policy = policyFor('sns.amazonaws.com', 's3.amazonaws.com')
  const { QueueUrl } = await sqs.send(
    new CreateQueueCommand({ QueueName: 'open', Attributes: { Policy, DelaySeconds: '1' } }),
  )
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { SqsManagedSseEnabled: 'true' } }))
  await sns.client.send(new CreateTopicCommand({ Name: 'roles' }))
  const { SubscriptionArn } = await sns.client.send(
    new SubscribeCommand({
      TopicArn: topicArn('roles'),
      Protocol: 'sqs',
      Endpoint: queueArn('open'),
      Attributes: { SubscriptionRoleArn: 'arn:aws:iam::000000000000:role/any' },
    }),
  )
  const lines = logged().flatMap(({ fields }) => {
    const arn = fields.queueArn ?? fields.subscriptionArn
    return arn === undefined ? [] : [[arn, fields.attributes]]
  })
  expect(lines).toEqual([
    [queueArn('open'), ['Policy for s3.amazonaws.com']],
    [SubscriptionArn, ['SubscriptionRoleArn']],
  ])
})

test('attributes that are removed, or say what holds anyway, are not logged', () => {
  const given = {
    TracingConfig: 'PassThrough',
    Policy: '',
    FifoThroughputLimit: 'PerQueue',
  }
  expect([withoutEffect('topic', given), withoutEffect('queue', given)]).toEqual([[], []])
  expect(withoutEffect('topic', { Policy: '{"Statement":{"Principal":{"Service":["a","b"]}}}' })).toEqual([
    'Policy for a',
    'Policy for b',
  ])
  expect(withoutEffect('topic', { Policy: '{"Statement":[null,{"Principal":"*"}]}' })).toEqual([])
})

test('the documents list everything that has no effect', () => {
  const page = readFileSync(new URL('../../../../../docs/aws-without-effect.md', import.meta.url), 'utf8')
  const names = Object.values(WITHOUT_EFFECT).flatMap((known) => Object.keys(known))
  expect(names).toContain('TracingConfig')
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})
