import { expect, test } from 'vitest'
import { failureText } from '../frame/failure-text.ts'
import { ApiRefusal, CommandError, EXIT_CODES, exitOf, Unreachable } from './exit-codes.ts'

const refusal = (status: number, code = 'x') =>
  new ApiRefusal(status, { code, message: 'no', details: [], requestId: 'r1' })

test.each([
  [new CommandError('usage', 'x'), 2],
  [new CommandError('timedOut', 'x'), 7],
  [new CommandError('partlyDone', 'x'), 8],
  [new CommandError('interrupted', 'x'), 130],
  [refusal(400), 2],
  [refusal(401), 4],
  [refusal(403), 4],
  [refusal(404), 3],
  [refusal(409), 5],
  [refusal(413), 2],
  [refusal(429), 1],
  [refusal(500), 1],
  [refusal(503), 6],
  [refusal(507), 1],
  [new Unreachable('x'), 6],
  [new Error('x'), 1],
])('%o ends with %i', (error, code) => {
  expect(EXIT_CODES[exitOf(error)]).toBe(code)
})

test('a failure says what is wrong and what to do', () => {
  expect(failureText(new CommandError('usage', 'a is missing', 'Add a.'))).toBe('a is missing\nAdd a.')
  expect(failureText(refusal(401, 'unauthorized'))).toMatch(
    /^no \(unauthorized, 401, request r1\)\nSet FANTAIL_API_KEY/,
  )
  expect(failureText(new Unreachable('http://x does not answer'))).toMatch(
    /^http:\/\/x does not answer\nIs Fantail/,
  )
})

test('every problem with the input is named', () => {
  const details = [
    { path: 'a', message: 'is wrong' },
    { path: 'b', message: 'is missing' },
  ]
  const error = new ApiRefusal(400, {
    code: 'validation_failed',
    message: 'a is wrong',
    details,
    requestId: undefined,
  })
  expect(failureText(error)).toBe('a is wrong (validation_failed, 400)\nb is missing')
})
