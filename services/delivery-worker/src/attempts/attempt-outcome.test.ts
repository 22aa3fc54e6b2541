import type { AttemptResult } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { outcomeOf } from './attempt-outcome.ts'

type Failure = Extract<AttemptResult, { kind: 'failure' }>
const failed = (error: Failure['error']): Failure => {
  return { kind: 'failure', error, detail: '', durationMs: 3, permanent: false }
}

test('a response or a refused connection is an answer, a timeout or an attempt that was not made is none', () => {
  const afterMs = (result: AttemptResult) => outcomeOf(result).answeredAfterMs
  expect(afterMs({ kind: 'response', statusCode: 503, durationMs: 7 })).toBe(7)
  expect(afterMs(failed('connection_failed'))).toBe(3)
  expect(afterMs(failed('timeout'))).toBeUndefined()
  expect(afterMs(failed('service_limit'))).toBeUndefined()
})
