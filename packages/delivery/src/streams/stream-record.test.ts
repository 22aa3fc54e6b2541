import {
  type AttemptResult,
  createMessageId,
  type Message,
  type SubscriptionRecord,
  SYSTEM_POLICY,
} from '@fantail/contracts'
import { expect, test } from 'vitest'
import { compileEnvelope } from '../envelope/envelope.ts'
import { compileTarget } from '../envelope/target.ts'
import { putRecords, renderStreamRecord } from './stream-record.ts'
import type { StreamRecord, StreamSink } from './stream-sink.ts'

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

const record = (id: string, bytes = 1): StreamRecord => ({ id, data: Buffer.alloc(bytes), publishedAt: 0 })
const stored = (text: string): AttemptResult => ({ kind: 'response', statusCode: 200, durationMs: 1, text })

function sinkOf(results: (records: readonly StreamRecord[]) => AttemptResult[]) {
  const puts: string[][] = []
  const sink: StreamSink = {
    provider: 'test',
    credential: 'test',
    recordsMax: 3,
    bytesMax: 10,
    recordBytesMax: 8,
    lingerMs: 0,
    put: async (records) => {
      puts.push(records.map(({ id }) => id))
      return results(records)
    },
  }
  return { sink, puts }
}

test('[362][370] records go together in their order, and each has its own result', async () => {
  const failed = { kind: 'response', statusCode: 200, durationMs: 1, resultClass: 'retry' } as const
  const { sink, puts } = sinkOf((records) => records.map(({ id }) => (id === 'b' ? failed : stored(id))))
  const results = await putRecords(
    sink,
    ['a', 'b', 'c'].map((id) => record(id)),
    40,
  )
  expect([puts, results]).toEqual([[['a', 'b', 'c']], [stored('a'), failed, stored('c')]])
})

test('a record that the sink cannot take fails permanently, and the others go', async () => {
  const { sink, puts } = sinkOf((records) => records.map(({ id }) => stored(id)))
  const results = await putRecords(sink, [record('a'), record('large', 9), record('b')], 40)
  expect(results).toMatchObject([stored('a'), { error: 'invalid_record', permanent: true }, stored('b')])
  expect(puts).toEqual([['a', 'b']])
  expect(await putRecords(sink, [record('large', 9)], 40)).toMatchObject([{ error: 'invalid_record' }])
  expect(puts).toHaveLength(1)
})

test('a record without a result is put again', async () => {
  const { sink } = sinkOf(() => [stored('a')])
  expect(await putRecords(sink, [record('a'), record('b')], 40)).toMatchObject([
    stored('a'),
    { error: 'invalid_response', permanent: false },
  ])
})
