import { expect, test } from 'vitest'
import { readInvocation } from './invocation-answer.ts'

const answer = (statusCode: number, headers: Record<string, string> = {}, body: unknown = '') => ({
  statusCode,
  headers,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
})

test('an accepted event has the id of its request', () => {
  expect(readInvocation(answer(202, { 'x-amzn-requestid': 'r-1' }))).toEqual({
    requestId: 'r-1',
    problem: undefined,
    errorType: undefined,
    errorMessage: undefined,
  })
})

test.each([['not JSON'], ['[]'], ['null'], ['"text"'], [{ errorType: 5 }], [{ result: { errorType: 'x' } }]])(
  'the result %j of a function is no error',
  (body) => {
    expect(readInvocation(answer(200, {}, body)).problem).toBeUndefined()
  },
)

test('a function’s error is known by its body, as in the Runtime Interface Emulator', () => {
  const body = { errorType: 'TypeError', errorMessage: 'x is not a function', trace: [] }
  expect(readInvocation(answer(200, {}, body))).toMatchObject({
    problem: 'function',
    errorType: 'TypeError',
    errorMessage: 'x is not a function',
  })
})

test('a function’s error is known by its header, also if its body is too long to be read', () => {
  const headers = { 'x-amz-function-error': 'Unhandled' }
  expect(readInvocation({ statusCode: 200, headers })).toMatchObject({
    problem: 'function',
    errorType: 'Unhandled',
  })
})

test.each([
  [403, 'UnrecognizedClientException'],
  [403, 'InvalidSignatureException'],
  [403, 'ExpiredTokenException'],
  [403, 'MissingAuthenticationTokenException'],
  [400, 'ExpiredTokenException:http://internal.amazon.com/coral/com.amazonaws.services/'],
  [403, 'SignatureDoesNotMatch'],
  [401, 'Whatever'],
])('%i %s is of our credentials', (status, errorType) => {
  expect(readInvocation(answer(status, { 'x-amzn-errortype': errorType })).problem).toBe('credentials')
})

test.each([
  [403, 'AccessDeniedException'],
  [404, 'ResourceNotFoundException'],
  [429, 'TooManyRequestsException'],
  [502, 'KMSAccessDeniedException'],
])('%i %s is left to its status', (status, errorType) => {
  const body = { Type: 'User', Message: 'No.' }
  expect(readInvocation(answer(status, { 'x-amzn-errortype': errorType }, body))).toMatchObject({
    problem: undefined,
    errorType,
    errorMessage: 'No.',
  })
})

test('the name of an exception may stand in the body', () => {
  const body = { __type: 'com.amazonaws#ExpiredTokenException', message: 'The token has expired.' }
  expect(readInvocation(answer(403, {}, body))).toMatchObject({
    problem: 'credentials',
    errorType: 'ExpiredTokenException',
    errorMessage: 'The token has expired.',
  })
})

test('a refusal without a name is left to its status', () => {
  expect(readInvocation(answer(403, {}, '<html>')).problem).toBeUndefined()
  expect(readInvocation(answer(401, {}, '')).problem).toBe('credentials')
})
