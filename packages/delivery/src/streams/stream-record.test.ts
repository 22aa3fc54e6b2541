import type { Message, SubscriptionRecord } from '@fantail/contracts'
import { createMessageId, SYSTEM_POLICY } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { compileEnvelope } from '../envelope/envelope.ts'
import { compileTarget } from '../envelope/target.ts'
import { renderStreamRecord } from './stream-record.ts'

const TOPIC_ARN = 'arn:aws:sns:eu-west-1:123456789012:orders'
const ARN = `${TOPIC_ARN}:5f8a6f0e-8a4e-4d3f-9d53-0f6c0a5f1f11`
const PUBLISHED_AT = Date.UTC(2026, 10, 22, 10, 0, 0, 7)

function rendered(set: Partial<Message> = {}, rawMessageDelivery = false): string {
  const endpoint = 'arn:aws:firehose:eu-west-1:123456789012:deliverystream/orders'
  const record = {
    id: 's',
    arn: ARN,
    topicArn: TOPIC_ARN,
    protocol: 'firehose',
    endpoint,
    rawMessageDelivery,
  }
  const message: Message = {
    messageId: createMessageId(PUBLISHED_AT),
    topicArn: TOPIC_ARN,
    publishedAt: PUBLISHED_AT,
    message: 'line one\nline two',
    publicUrl: 'https://sns.example.com',
    ...set,
  }
  const target = compileTarget(record as SubscriptionRecord, SYSTEM_POLICY)
  return renderStreamRecord(compileEnvelope(message, undefined, '1'), target).toString()
}

test('[358][360] a record is one line of JSON, with SNS’s members in their order and no signature', () => {
  const attributes = {
    size: { type: 'Number', value: '3' },
    blob: { type: 'Binary', value: 'AgME' },
  }
  const text = rendered({ subject: 'Hi', attributes })
  expect(text.match(/\n/g)).toHaveLength(1)
  expect(text.endsWith('}\n')).toBe(true)
  expect(Object.entries(JSON.parse(text) as object)).toEqual([
    ['Type', 'Notification'],
    ['MessageId', expect.any(String)],
    ['TopicArn', TOPIC_ARN],
    ['Subject', 'Hi'],
    ['Message', 'line one\nline two'],
    ['Timestamp', '2026-11-22T10:00:00.007Z'],
    ['UnsubscribeURL', `https://sns.example.com/?Action=Unsubscribe&SubscriptionArn=${ARN}`],
    ['MessageAttributes', { size: { Type: 'Number', Value: '3' }, blob: { Type: 'Binary', Value: 'AgME' } }],
  ])
})

test('members that the message lacks are absent', () => {
  const members = Object.keys(JSON.parse(rendered()) as object)
  expect(members).toEqual(['Type', 'MessageId', 'TopicArn', 'Message', 'Timestamp', 'UnsubscribeURL'])
})

test('[359][360] raw is the text alone, and a line feed', () => {
  const attributes = { size: { type: 'Number', value: '3' } }
  expect(rendered({ attributes, subject: 'Hi' }, true)).toBe('line one\nline two\n')
})

test('a message with texts by protocol brings the stream its own', () => {
  const message = JSON.stringify({ default: 'for all', firehose: 'for streams' })
  expect(rendered({ structure: 'json', message }, true)).toBe('for streams\n')
})
