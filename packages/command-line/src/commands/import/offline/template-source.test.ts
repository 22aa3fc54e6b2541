import { expect, test } from 'vitest'
import { readOffline } from './read-offline.ts'

const place = { partition: 'aws', region: 'eu-west-1', account: '111111111111' }
const arn = (service: string, name: string) => `arn:aws:${service}:eu-west-1:111111111111:${name}`

const note = (object: string, what: string, matter: string, text: string) => ({
  object,
  finding: { matter, what, text },
})
const subscribed = (more: object) => ({ isConfirmed: true, attributes: {}, ...more })

const NAMED = 'the name is the logical id here, because'

const YAML = `AWSTemplateFormatVersion: '2010-09-09'
Parameters:
  Stage: { Type: String, Default: test }
  Host: { Type: String }
Resources:
  Orders:
    Type: AWS::SNS::Topic
    Properties:
      TopicName: !Sub '\${Stage}-orders'
      DisplayName: Orders
      KmsMasterKeyId: !ImportValue shared-key
      Tags:
        - { Key: stack, Value: !Join ['-', [shop, !Ref Stage]] }
      DeliveryStatusLogging:
        - { Protocol: http/s, SuccessFeedbackRoleArn: 'arn:aws:iam::1:role/r', SuccessFeedbackSampleRate: '10' }
      Subscription:
        - { Protocol: sqs, Endpoint: !GetAtt Work.Arn }
        - { Protocol: lambda, Endpoint: !GetAtt Handler.Arn }
  Work:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 60
      RedrivePolicy:
        deadLetterTargetArn: !GetAtt [Dead, Arn]
        maxReceiveCount: 3
  Dead:
    Type: AWS::SQS::Queue
    Condition: WithLetters
    Properties: { QueueName: dead, FifoQueue: !Ref AWS::NoValue }
  Webhook:
    Type: AWS::SNS::Subscription
    Properties:
      TopicArn: !Ref Orders
      Protocol: https
      Endpoint: !Sub ['https://\${Host}/\${Path}/\${!Raw}', { Path: !Ref Stage }]
      FilterPolicy: { region: [eu] }
      RawMessageDelivery: true
      DeliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 5 } }
  Filtered:
    Type: AWS::SNS::Subscription
    Properties:
      TopicArn: !Ref Orders
      Protocol: https
      Endpoint: https://example.com/
      FilterPolicy: { region: [!FindInMap [Regions, a, b]] }
  WorkPolicy:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Work, 'https://sqs.eu-west-1.amazonaws.com/111111111111/elsewhere']
      PolicyDocument:
        Statement:
          - { Effect: Allow, Principal: '*', Action: sqs:SendMessage, Resource: !GetAtt Work.Arn }
  OrdersPolicy:
    Type: AWS::SNS::TopicPolicy
    Properties: { Topics: [!Ref Orders], PolicyDocument: { Statement: [] } }
  Handler: { Type: AWS::Lambda::Function }
`

test('a template in YAML is read, with its short tags, and what it does not decide is noted', () => {
  const parameters = { Host: 'hooks.example.com' }
  const found = readOffline(YAML, { file: 'shop.yaml', place, parameters })
  const policy = { Effect: 'Allow', Principal: '*', Action: 'sqs:SendMessage', Resource: arn('sqs', 'Work') }
  expect(found).toEqual({
    topics: [
      {
        arn: arn('sns', 'test-orders'),
        attributes: {
          DisplayName: 'Orders',
          HTTPSuccessFeedbackRoleArn: 'arn:aws:iam::1:role/r',
          HTTPSuccessFeedbackSampleRate: '10',
          Policy: '{"Statement":[]}',
        },
        tags: { stack: 'shop-test' },
      },
    ],
    queues: [
      {
        arn: arn('sqs', 'Work'),
        attributes: {
          MessageRetentionPeriod: '345600',
          VisibilityTimeout: '60',
          RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arn('sqs', 'dead'), maxReceiveCount: 3 }),
          Policy: JSON.stringify({ Statement: [policy] }),
        },
        tags: {},
      },
      { arn: arn('sqs', 'dead'), attributes: { MessageRetentionPeriod: '345600' }, tags: {} },
    ],
    subscriptions: [
      subscribed({ topicArn: arn('sns', 'test-orders'), protocol: 'sqs', endpoint: arn('sqs', 'Work') }),
      subscribed({
        topicArn: arn('sns', 'test-orders'),
        protocol: 'https',
        endpoint: `https://hooks.example.com/test/$${'{Raw}'}`,
        attributes: {
          FilterPolicy: '{"region":["eu"]}',
          RawMessageDelivery: 'true',
          DeliveryPolicy: '{"throttlePolicy":{"maxReceivesPerSecond":5}}',
        },
      }),
    ],
    unread: [],
    notes: [
      note(
        'Work',
        'changed',
        'requests',
        `${NAMED} the template has no QueueName, so that CloudFormation makes one up`,
      ),
      note('Orders', 'lost', 'access', 'KmsMasterKeyId: Fn::ImportValue is not supported'),
      note('Orders', 'lost', 'details', 'Endpoint: Handler.Arn has no value in the template'),
      note('Orders', 'lost', 'messages', 'a subscription needs Endpoint, which the template does not decide'),
      note('Dead', 'changed', 'details', 'it is made whether or not the condition WithLetters holds'),
      note('Filtered', 'lost', 'details', 'FilterPolicy: Fn::FindInMap is not supported'),
      note(
        'Filtered',
        'lost',
        'messages',
        'a subscription needs FilterPolicy, which the template does not decide',
      ),
      note('WorkPolicy', 'lost', 'access', 'the policy of a resource that the template does not have'),
    ],
  })
})

test('names that every object inherits have no value and no attribute', () => {
  const Properties = {
    TopicName: { 'Fn::GetAtt': ['Work', 'constructor'] },
    constructor: { 'Fn::ImportValue': 'x' },
    DeliveryStatusLogging: [{ Protocol: 'constructor', SuccessFeedbackSampleRate: '10' }],
  }
  const Resources = { Orders: { Type: 'AWS::SNS::Topic', Properties }, Work: { Type: 'AWS::SQS::Queue' } }
  const { topics, notes } = readOffline(JSON.stringify({ Resources }), {
    ...{ file: 'shop.json', place, parameters: {} },
  })
  expect(topics).toEqual([
    { arn: arn('sns', 'Orders'), attributes: { SuccessFeedbackSampleRate: '10' }, tags: {} },
  ])
  expect(notes).toEqual([
    note('Orders', 'changed', 'requests', `${NAMED} Work.constructor has no value in the template`),
    expect.objectContaining({ object: 'Work' }),
    note('Orders', 'lost', 'details', 'constructor: Fn::ImportValue is not supported'),
  ])
})

test('the same template in JSON says the same', () => {
  const Resources = {
    Orders: {
      Type: 'AWS::SNS::Topic',
      Properties: { FifoTopic: { Ref: 'Fifo' }, TopicName: { Ref: 'Name' } },
    },
    Sub: {
      Type: 'AWS::SNS::Subscription',
      Properties: {
        TopicArn: { Ref: 'Orders' },
        Protocol: 'sqs',
        Endpoint: {
          'Fn::Sub': `arn:$${'{AWS::Partition}:sqs:$'}${'{AWS::Region}'}:$${'{AWS::AccountId}'}:work`,
        },
      },
    },
  }
  const text = JSON.stringify(
    { Parameters: { Name: { Type: 'String' }, Fifo: { Default: 'true' } }, Resources },
    null,
    '\t',
  )
  const found = readOffline(text, { file: 'shop.json', place, parameters: {} })
  expect(found.subscriptions).toEqual([
    subscribed({ topicArn: arn('sns', 'Orders.fifo'), protocol: 'sqs', endpoint: arn('sqs', 'work') }),
  ])
  expect(found.notes).toEqual([
    note('Orders', 'changed', 'requests', `${NAMED} Name has no value in the template`),
  ])
})
