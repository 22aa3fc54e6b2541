import { expect, test } from 'vitest'
import { isArnPattern, matchesArn } from './service-arns.ts'

const ARN = 'arn:aws:lambda:eu-west-1:123456789012:function:orders-new:live'

test.each([
  ['arn:aws:lambda:eu-west-1:123456789012:function:orders-*', true],
  ['arn:aws:lambda:*:123456789012:function:orders-new:live', true],
  ['arn:aws:lambda:eu-west-?:*:*', true],
  // An alias is a resource of its own, as in IAM.
  ['arn:aws:lambda:eu-west-1:123456789012:function:orders-new', false],
  ['arn:aws:lambda:eu-west-1:210987654321:function:*', false],
  ['arn:aws:*:function:orders-new:live', false],
  ['*', false],
])('%s: %s', (pattern, expected) => {
  expect(matchesArn(ARN, [pattern])).toBe(expected)
})

test('without patterns no ARN matches', () => {
  expect(matchesArn(ARN, [])).toBe(false)
})

test('a pattern has the six parts of an ARN', () => {
  expect(isArnPattern('arn:aws:lambda:*:*:function:*')).toBe(true)
  expect(['*', 'arn:*', 'orders', 'arn:aws:lambda:*:*:', 'arn:aws:lambda:*:*:a b'].some(isArnPattern)).toBe(
    false,
  )
})
