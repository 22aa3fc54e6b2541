import type { QueueMessage } from '@fantail/contracts'
import { QueueEvent } from '@fantail/contracts/schemas/queues/queue-event-schemas'
import { expect, test } from 'vitest'
import { renderQueueEvent } from './queue-event.ts'

const QUEUE = 'arn:aws:sqs:eu-central-1:123456789012:orders.fifo'
const MESSAGE: QueueMessage = {
  messageId: '059f36b4-87a3-44ab-83d2-661975830a7d',
  receiptHandle: 'AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a',
  receiveCount: 1,
  body: 'message-1',
  attributes: {},
  sentAt: 1_545_082_649_183,
  firstReceivedAt: 1_545_082_649_185,
}

test('a message is a record as Lambda gets it', () => {
  expect(JSON.parse(renderQueueEvent(QUEUE, [MESSAGE]))).toEqual({
    Records: [
      {
        messageId: '059f36b4-87a3-44ab-83d2-661975830a7d',
        receiptHandle: 'AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a',
        body: 'message-1',
        attributes: {
          ApproximateReceiveCount: '1',
          SentTimestamp: '1545082649183',
          SenderId: '123456789012',
          ApproximateFirstReceiveTimestamp: '1545082649185',
        },
        messageAttributes: {},
        md5OfBody: '3d6b824fd8c1520e9a047d21fee6fb1f',
        eventSource: 'aws:sqs',
        eventSourceARN: QUEUE,
        awsRegion: 'eu-central-1',
      },
    ],
  })
})

test('attributes, order and source go with it', () => {
  const attributes = {
    Text: { type: 'String', value: 'foobar' },
    Bytes: { type: 'Binary.png', value: 'AQID' },
  }
  const message = { ...MESSAGE, attributes, groupId: 'g', deduplicationId: 'd', sequenceNumber: '1' }
  const [record] = JSON.parse(renderQueueEvent(QUEUE, [message])).Records
  const lists = { stringListValues: [], binaryListValues: [] }
  expect(record.messageAttributes).toEqual({
    Text: { stringValue: 'foobar', dataType: 'String', ...lists },
    Bytes: { binaryValue: 'AQID', dataType: 'Binary.png', ...lists },
  })
  expect(record.md5OfMessageAttributes).toMatch(/^[0-9a-f]{32}$/)
  expect(record.attributes).toMatchObject({
    MessageGroupId: 'g',
    MessageDeduplicationId: 'd',
    SequenceNumber: '1',
  })
})

test('the event has the members that the OpenAPI document names, and no other', () => {
  const attributes = {
    Text: { type: 'String', value: 'foobar' },
    Bytes: { type: 'Binary', value: 'AQID' },
  }
  const event = JSON.parse(renderQueueEvent(QUEUE, [MESSAGE, { ...MESSAGE, attributes }]))
  // The parsed event lacks members that the schema does not have, so the comparison would fail.
  expect(QueueEvent.parse(event)).toEqual(event)
})
