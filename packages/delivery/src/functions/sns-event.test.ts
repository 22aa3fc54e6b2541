import { SnsSchema } from '@aws-lambda-powertools/parser/schemas/sns'
import { expect, test } from 'vitest'
import { compileEnvelope, type Envelope, queueBody, textFor } from '../envelope/envelope.ts'
import { functionTarget, SUBSCRIPTION_ARN, TOPIC_ARN, testMessage } from './functions.fixture.ts'
import { renderSnsEvent } from './sns-event.ts'

const TARGET = functionTarget()
const ATTRIBUTES = {
  color: { type: 'String', value: 'red' },
  size: { type: 'Number', value: '3.10' },
  tags: { type: 'String.Array', value: '["a", 1]' },
  blob: { type: 'Binary.png', value: 'AgME' },
}

function signed(set: Parameters<typeof testMessage>[0] = {}): Envelope {
  const envelope = compileEnvelope(testMessage(set), undefined, '1')
  const certificateUrl = 'https://sns.example.com/SimpleNotificationService-1.pem'
  textFor(envelope, 'lambda').signature = { version: '1', value: 'c2lnbmVk', certificateUrl }
  return envelope
}

function recordOf(envelope: Envelope) {
  const event = JSON.parse(renderSnsEvent(envelope, TARGET)) as {
    Records: { Sns: Record<string, unknown> }[]
  }
  expect(Object.keys(event)).toEqual(['Records'])
  expect(event.Records).toHaveLength(1)
  const [record] = event.Records
  if (!record) throw new Error('no record')
  return record
}

test('[341][344] the event has the members of SNS’s, in their order', () => {
  const envelope = signed({ subject: 'Greeting', attributes: ATTRIBUTES })
  const record = recordOf(envelope)
  expect(Object.keys(record)).toEqual(['EventSource', 'EventVersion', 'EventSubscriptionArn', 'Sns'])
  expect(record).toMatchObject({
    EventSource: 'aws:sns',
    EventVersion: '1.0',
    EventSubscriptionArn: SUBSCRIPTION_ARN,
  })
  expect(Object.entries(record.Sns)).toEqual([
    ['Type', 'Notification'],
    ['MessageId', envelope.message.messageId],
    ['TopicArn', TOPIC_ARN],
    ['Subject', 'Greeting'],
    ['Message', 'hello'],
    ['Timestamp', '2026-11-22T10:00:00.007Z'],
    ['SignatureVersion', '1'],
    ['Signature', 'c2lnbmVk'],
    ['SigningCertUrl', 'https://sns.example.com/SimpleNotificationService-1.pem'],
    ['UnsubscribeUrl', `https://sns.example.com/?Action=Unsubscribe&SubscriptionArn=${SUBSCRIPTION_ARN}`],
    [
      'MessageAttributes',
      {
        color: { Type: 'String', Value: 'red' },
        size: { Type: 'String', Value: '3.10' },
        tags: { Type: 'String', Value: '["a", 1]' },
        blob: { Type: 'Binary', Value: 'AgME' },
      },
    ],
  ])
})

test('[342][343] without subject and attributes the members are null and {}', () => {
  expect(recordOf(signed()).Sns).toMatchObject({ Subject: null, MessageAttributes: {} })
})

test('[345][346] a Number is a String, a Binary its base64', () => {
  const { MessageAttributes } = recordOf(signed({ attributes: ATTRIBUTES })).Sns
  expect(MessageAttributes).toMatchObject({
    size: { Type: 'String', Value: '3.10' },
    blob: { Type: 'Binary', Value: 'AgME' },
  })
})

test('[356] a message with texts by protocol brings the function its own', () => {
  const texts = { default: 'for all', lambda: 'for functions' }
  const of = (message: object) =>
    recordOf(compileEnvelope(testMessage({ structure: 'json', message: JSON.stringify(message) }))).Sns
      .Message
  expect([of(texts), of({ default: 'for all' })]).toEqual(['for functions', 'for all'])
})

test('[355] AWS’s own schema of the event takes it, signed or not, with and without a subject', () => {
  const events = [
    signed({ subject: 'Greeting', attributes: ATTRIBUTES }),
    signed(),
    signed({ message: 'quote " \u2028 😀', attributes: { __proto__x: { type: 'String', value: '' } } }),
  ].map((envelope) => JSON.parse(renderSnsEvent(envelope, TARGET)) as unknown)
  for (const event of events) expect(SnsSchema.parse(event)).toMatchObject(event as object)
})

test('the members of the signature are there on a topic that does not sign, and empty', () => {
  const { Sns } = recordOf(compileEnvelope(testMessage()))
  expect(Sns).toMatchObject({ SignatureVersion: '', Signature: '', SigningCertUrl: '' })
})

test('nothing goes out before the signature is made', () => {
  const envelope = compileEnvelope(testMessage(), undefined, '2')
  expect(() => renderSnsEvent(envelope, TARGET)).toThrow('not signed yet')
})

test('[351] a dead letter has the ordinary envelope, with attributes as they were and none of its own', () => {
  const queueArn = 'arn:aws:sqs:eu-west-1:123456789012:dead'
  const { body, attributes } = queueBody(signed({ attributes: ATTRIBUTES }), TARGET, queueArn)
  expect(attributes).toEqual({})
  expect(JSON.parse(body)).toMatchObject({
    Type: 'Notification',
    Message: 'hello',
    SigningCertURL: 'https://sns.example.com/SimpleNotificationService-1.pem',
    MessageAttributes: {
      size: { Type: 'Number', Value: '3.10' },
      blob: { Type: 'Binary.png', Value: 'AgME' },
    },
  })
})
