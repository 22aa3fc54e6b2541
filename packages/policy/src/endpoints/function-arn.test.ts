import { ARN_DEFAULTS } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { functionArn, isFunctionName, parseFunctionArn, unqualifiedArn } from './service-arns.ts'

const ARN = 'arn:aws:lambda:eu-west-1:123456789012:function:hello_2'
const PARTS = { partition: 'aws', region: 'eu-west-1', account: '123456789012', name: 'hello_2' }

test.each([undefined, '7', 'live', '$LATEST'])('an ARN with the qualifier %s is read', (qualifier) => {
  const arn = parseFunctionArn(qualifier === undefined ? ARN : `${ARN}:${qualifier}`)
  expect(arn).toEqual({ ...PARTS, qualifier })
  expect(arn && unqualifiedArn(arn)).toBe(ARN)
})

test.each([
  '',
  'hello',
  `${ARN}:`,
  `${ARN}:a:b`,
  `${ARN}:$NEWEST`,
  `${ARN}\n`,
  'arn:aws:lambda:eu-west-1:123456789012:layer:hello',
  'arn:aws:lambda:eu-west-1:1234:function:hello',
  'arn:aws:lambda:eu.evil.example/:123456789012:function:hello',
  `arn:aws:lambda:eu-west-1:123456789012:function:${'a'.repeat(65)}`,
  'arn:aws:sqs:eu-west-1:123456789012:hello',
])('%j is no ARN of a function', (text) => {
  expect(parseFunctionArn(text)).toBeUndefined()
})

test('a short name stands for a function of the own account and region', () => {
  expect(functionArn('hello:live', ARN_DEFAULTS)).toBe(
    'arn:aws:lambda:us-east-1:000000000000:function:hello:live',
  )
  expect(['hello', 'hello:live', 'hello:$LATEST'].every(isFunctionName)).toBe(true)
  expect(['', 'a b', 'a/b', 'a:', 'https://a/', 'a'.repeat(65)].some(isFunctionName)).toBe(false)
})
