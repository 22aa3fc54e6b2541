import { expect, test } from 'vitest'
import { AwsSigner } from '../aws/aws-signer.ts'
import { placeOf } from './function-places.ts'
import { FUNCTION_ARN, TEST_CREDENTIALS } from './functions.fixture.ts'

const aws = (...targets: string[]) => new AwsSigner({ credentials: TEST_CREDENTIALS, targets })
const mapped = (functions: Record<string, string>, arn = FUNCTION_ARN) => placeOf(arn, { functions })?.url

test('the most particular entry of the map decides', () => {
  const functions = {
    '*': 'http://any.internal/all',
    hello: 'http://name.internal/x',
    'hello:live': 'http://alias.internal/x',
    [FUNCTION_ARN]: 'http://arn.internal/x',
    [`${FUNCTION_ARN}:7`]: 'http://version.internal/x',
  }
  const { [FUNCTION_ARN]: _, ...byName } = functions
  expect(mapped(functions, `${FUNCTION_ARN}:7`)).toBe('http://version.internal/x')
  expect(mapped(functions)).toBe('http://arn.internal/x')
  expect(mapped(byName, `${FUNCTION_ARN}:live`)).toBe('http://alias.internal/x')
  expect(mapped(byName, `${FUNCTION_ARN}:8`)).toBe('http://name.internal/x')
  expect(mapped(byName, FUNCTION_ARN.replace('hello', 'other'))).toBe('http://any.internal/all')
})

test('a URL without a path is the base of an invoke API, any other is used as it is', () => {
  expect(mapped({ hello: 'http://127.0.0.1:9000' })).toBe(
    'http://127.0.0.1:9000/2015-03-31/functions/hello/invocations',
  )
  expect(mapped({ hello: 'http://127.0.0.1:9000/' }, `${FUNCTION_ARN}:$LATEST`)).toBe(
    'http://127.0.0.1:9000/2015-03-31/functions/hello/invocations?Qualifier=%24LATEST',
  )
  const emulator = 'http://127.0.0.1:9000/2015-03-31/functions/function/invocations'
  expect(mapped({ hello: emulator }, `${FUNCTION_ARN}:live`)).toBe(emulator)
  expect(placeOf(FUNCTION_ARN, { functions: { hello: emulator } })?.isEmulator).toBe(true)
})

test('a URL of the map is reached without a signature', () => {
  const settings = { functions: { hello: 'http://127.0.0.1:9000/x' }, aws: aws('arn:aws:lambda:*:*:*') }
  expect(placeOf(FUNCTION_ARN, settings)).toEqual({
    url: 'http://127.0.0.1:9000/x',
    host: '127.0.0.1:9000',
    region: undefined,
    isEmulator: false,
    credential: 'functions:127.0.0.1:9000/x',
  })
})

test.each([
  ['aws', 'amazonaws.com'],
  ['aws-us-gov', 'amazonaws.com'],
  ['aws-cn', 'amazonaws.com.cn'],
])('a function of the partition %s is reached by its whole ARN in its region', (partition, suffix) => {
  const arn = `${FUNCTION_ARN.replace('aws', partition)}:live`
  expect(placeOf(arn, { aws: aws('arn:*:lambda:eu-west-1:123456789012:function:*') })).toEqual({
    url: `https://lambda.eu-west-1.${suffix}/2015-03-31/functions/${encodeURIComponent(arn)}/invocations`,
    host: `lambda.eu-west-1.${suffix}`,
    region: 'eu-west-1',
    isEmulator: false,
    credential: 'aws:AKIDEXAMPLE:eu-west-1',
  })
})

test('a function that no setting names has no place', () => {
  const other = 'arn:aws:lambda:eu-west-1:123456789012:function:other'
  expect(placeOf(FUNCTION_ARN, {})).toBeUndefined()
  expect(placeOf(FUNCTION_ARN, { aws: aws() })).toBeUndefined()
  expect(
    placeOf(FUNCTION_ARN, { functions: { other: 'http://127.0.0.1/' }, aws: aws(other) }),
  ).toBeUndefined()
  expect(placeOf(`${FUNCTION_ARN}:live`, { aws: aws(FUNCTION_ARN) })).toBeUndefined()
  expect(
    placeOf('arn:aws:sqs:eu-west-1:123456789012:q', { functions: { '*': 'http://127.0.0.1/' } }),
  ).toBeUndefined()
  expect(placeOf(FUNCTION_ARN.replace('hello', 'constructor'), { functions: {} })).toBeUndefined()
})
