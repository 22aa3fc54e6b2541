import { ARN_DEFAULTS } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { isStreamName, parseStreamArn, streamArn } from './service-arns.ts'

const ARN = 'arn:aws:firehose:eu-west-1:123456789012:deliverystream/orders_2.new-1'

test('the ARN of a delivery stream is read', () => {
  expect(parseStreamArn(ARN)).toEqual({
    partition: 'aws',
    region: 'eu-west-1',
    account: '123456789012',
    name: 'orders_2.new-1',
  })
})

test.each([
  '',
  'orders',
  'https://example.com/',
  'file:///etc',
  `${ARN}/x`,
  `${ARN}\n`,
  'arn:aws:firehose:eu-west-1:123456789012:deliverystream/',
  'arn:aws:firehose:eu-west-1:123456789012:stream/x',
  'arn:aws:firehose:eu.evil.example/:123456789012:deliverystream/x',
  `arn:aws:firehose:eu-west-1:123456789012:deliverystream/${'a'.repeat(65)}`,
])('%j is no ARN of a delivery stream', (text) => {
  expect(parseStreamArn(text)).toBeUndefined()
})

test('a short name stands for a stream of the own account and region', () => {
  expect(streamArn('orders', ARN_DEFAULTS)).toBe(
    'arn:aws:firehose:us-east-1:000000000000:deliverystream/orders',
  )
  expect(['orders', 'a.b_c-1'].every(isStreamName)).toBe(true)
  expect(['', 'a/b', 'a b', 'https://a/'].some(isStreamName)).toBe(false)
})
