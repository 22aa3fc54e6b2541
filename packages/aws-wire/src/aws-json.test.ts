import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AwsError, decodeJson, jsonAnswer, jsonError, type Shape } from './index.ts'

const SHAPES: Record<string, Shape> = {
  Name: 'string',
  Flag: 'boolean',
  Count: 'integer',
  Data: 'blob',
  Attributes: { map: 'string' },
  Entries: { list: { struct: { Id: 'string', Tags: { map: 'blob' } } } },
}

const decode = (value: unknown) => decodeJson(JSON.stringify(value), SHAPES)

function refusal(text: string): AwsError {
  try {
    decodeJson(text, SHAPES)
  } catch (error) {
    if (error instanceof AwsError) return error
    throw error
  }
  throw new Error(`not refused: ${text}`)
}

test('reads what is given; null and unknown members are as if absent', () => {
  expect(decodeJson('', SHAPES)).toEqual({})
  expect(decode({ Name: 'a', Flag: null, Unknown: { deep: [1] }, toString: 1 })).toEqual({ Name: 'a' })
  expect(decode({ Data: 'aGk=', Attributes: { a: 'b', c: null } })).toEqual({
    Data: Buffer.from('hi'),
    Attributes: { a: 'b' },
  })
})

test.each([
  ['{', 'not JSON'],
  ['[]', 'Start of list'],
  ['null', 'structure or map'],
  ['7', 'NUMBER_VALUE'],
  ['{"Name":1}', 'NUMBER_VALUE can not be converted to a String'],
  ['{"Count":"1"}', 'STRING_VALUE can not be converted to an Integer'],
  ['{"Count":1.5}', 'Integer'],
  ['{"Count":1e99}', 'Integer'],
  ['{"Flag":"true"}', 'Boolean'],
  ['{"Data":"%"}', 'Base64'],
  ['{"Data":7}', 'NUMBER_VALUE can not be converted to a Blob'],
  ['{"Name":["a"]}', 'Start of list'],
  ['{"Name":{}}', 'Start of structure'],
  ['{"Entries":{}}', 'list'],
  ['{"Attributes":[]}', 'Start of list'],
  ['{"Attributes":{"__proto__":"x"}}', '__proto__'],
  ['{"Attributes":{"a":{"b":1}}}', 'Start of structure'],
])('%s is a SerializationException', (text, message) => {
  const error = refusal(text)
  expect(error).toMatchObject({ code: 'SerializationException', status: 400 })
  expect(error.message).toContain(message)
  expect(jsonError(error, 'r').text).toContain('"__type":"com.amazon.coral.service#SerializationException"')
})

test('deep nesting and too many values are refused, also in unknown members', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const many = (values: number) => JSON.stringify(Array.from({ length: values }, () => 1))
  for (const name of ['Name', 'Other']) {
    expect(refusal(`{"${name}":${nested(200)}}`)).toMatchObject({
      code: 'SerializationException',
      message: 'JSON may be nested at most 200 deep.',
    })
    expect(refusal(`{"${name}":${many(10_000)}}`).message).toBe('JSON may have at most 10000 values.')
  }
  expect(decodeJson(`{"Other":${nested(199)}}`, SHAPES)).toEqual({})
  expect(decodeJson(`{"Other":${many(9_998)}}`, SHAPES)).toEqual({})
})

test('an answer can be read by the same shapes', () => {
  const text = fc.string({ unit: 'binary' })
  const key = text.filter((name) => name !== '__proto__')
  const blob = fc.uint8Array().map((bytes) => Buffer.from(bytes))
  const given = fc.record(
    {
      Name: text,
      Flag: fc.boolean(),
      Count: fc.integer(),
      Data: blob,
      Attributes: fc.dictionary(key, text),
      Entries: fc.array(fc.record({ Id: text, Tags: fc.dictionary(key, blob) })),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(given, (result) => {
      const answer = jsonAnswer({ requestId: 'r', operation: { output: SHAPES }, result })
      expect(decodeJson(answer.text, SHAPES)).toEqual(result)
    }),
  )
})

test('[205] an operation without output answers an empty body', () => {
  const { status, text, headers } = jsonAnswer({
    requestId: 'r',
    operation: { output: null },
    result: undefined,
  })
  expect([status, text]).toEqual([200, ''])
  expect(headers).toEqual({ 'Content-Type': 'application/x-amz-json-1.0', 'x-amzn-RequestId': 'r' })
})

test.each([
  ['AWS.SimpleQueueService.NonExistentQueue', 'com.amazonaws.sqs#QueueDoesNotExist'],
  ['QueueAlreadyExists', 'com.amazonaws.sqs#QueueNameExists'],
  ['AWS.SimpleQueueService.PurgeQueueInProgress', 'com.amazonaws.sqs#PurgeQueueInProgress'],
  ['ReceiptHandleIsInvalid', 'com.amazonaws.sqs#ReceiptHandleIsInvalid'],
  ['InvalidParameterValue', 'com.amazon.coral.service#InvalidParameterValueException'],
  ['MissingParameter', 'com.amazon.coral.service#MissingRequiredParameterException'],
])('the error %s comes as %s, with its Query code in a header', (code, type) => {
  const { status, text, headers } = jsonError(new AwsError(code, 'why', { status: 403 }), 'r')
  expect([status, JSON.parse(text)]).toEqual([403, { __type: type, message: 'why' }])
  expect(headers['x-amzn-query-error']).toBe(`${code};Sender`)
})

test('a shape that is given stands, and our own failures are the receiver’s', () => {
  const { text, headers } = jsonError(new AwsError('Odd', 'why', { status: 500, shape: 'OverLimit' }), 'r')
  expect(JSON.parse(text).__type).toBe('com.amazonaws.sqs#OverLimit')
  expect(headers['x-amzn-query-error']).toBe('Odd;Receiver')
})
