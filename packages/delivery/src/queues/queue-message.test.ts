import type { MessageAttribute, QueueMessage } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { md5OfAttributes, md5OfBody, systemAttributes } from './queue-message.ts'

const text = (value: string): MessageAttribute => ({ type: 'String', value })

test('[166] MD5s are those that were recorded', () => {
  expect(md5OfBody('message-1')).toBe('3d6b824fd8c1520e9a047d21fee6fb1f')
  expect(md5OfAttributes({ MyAttribute: text('foobar') })).toBe('adb59cd4678ea5a855436b949cd07ab6')
  const three = { General: text('Kenobi'), Hello: text('There'), 'Help.Me': text('Me') }
  expect(md5OfAttributes(three)).toBe('4c360f3fdafd970e05fae2f149d997f5')
  expect(md5OfAttributes(Object.fromEntries(Object.entries(three).reverse()))).toBe(
    '4c360f3fdafd970e05fae2f149d997f5',
  )
  expect(md5OfAttributes({ Hello: text('There') })).toBe('a311262e065454b75da111d535b8dacd')
  const trace = Buffer.from(
    'traceparent\x1e00-774062d6c37081a5a0b9b5b88e30627c-2d2482211f6489da-01',
  ).toString('base64')
  expect(md5OfAttributes({ attr1: { type: 'Binary', value: trace } })).toBe(
    '8cbe4db156db8a94db8b801b7addb984',
  )
  expect(md5OfAttributes({})).toBeUndefined()
})

const received: QueueMessage = {
  messageId: 'a',
  receiveCount: 2,
  body: 'b',
  attributes: {},
  sentAt: 1_700_000_000_000,
  firstReceivedAt: 1_700_000_000_500,
}

test('a message has the system attributes that apply to it', () => {
  expect(systemAttributes(received, '000000000000')).toEqual({
    SenderId: '000000000000',
    SentTimestamp: '1700000000000',
    ApproximateReceiveCount: '2',
    ApproximateFirstReceiveTimestamp: '1700000000500',
  })
  const more = { senderId: '111111111111', groupId: 'g', deduplicationId: 'd', sequenceNumber: '1' }
  const asked = ['SenderId', 'MessageGroupId', 'MessageDeduplicationId', 'SequenceNumber', 'AWSTraceHeader']
  expect(systemAttributes({ ...received, ...more }, '000000000000', asked)).toEqual({
    SenderId: '111111111111',
    MessageGroupId: 'g',
    MessageDeduplicationId: 'd',
    SequenceNumber: '1',
  })
})
