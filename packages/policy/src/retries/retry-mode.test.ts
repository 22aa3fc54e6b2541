import type { AttemptResult, RetryPolicy } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { answeredAs, retryCost } from './retry-mode.ts'

const response = (statusCode: number): AttemptResult => ({ kind: 'response', statusCode, durationMs: 1 })
const answered = (result: AttemptResult, retryOn?: RetryPolicy['retryOn']) =>
  answeredAs(result, 'https', retryOn ? { retryOn } : {})

test('an answer says of the endpoint what counts here', () => {
  const statuses = [200, 204, 100, 302, 404, 410, 429, 500, 502, 503, 599]
  expect(statuses.map((status) => answered(response(status)))).toEqual([
    ...[
      'ok',
      'ok',
      'failed',
      'refused',
      'refused',
      'refused',
      'limited',
      'failed',
      'failed',
      'unavailable',
      'failed',
    ],
  ])
  const failure = (error: 'timeout' | 'dns' | 'storage', permanent = false): AttemptResult => ({
    ...{ kind: 'failure', error, permanent, detail: '', durationMs: 1 },
  })
  expect(answered(failure('timeout'))).toBe('timeout')
  expect(answered(failure('dns'))).toBe('failed')
  expect([answered(failure('storage')), answered(failure('dns', true))]).toEqual([null, null])
})

test('a status that the policy has retried is a failure, and one that the traits have retried stays one', () => {
  const statuses = [200, 404, 410, 429, 500, 503]
  expect(statuses.map((status) => answered(response(status), ['404', 410]))).toEqual([
    ...['ok', 'failed', 'failed', 'limited', 'failed', 'unavailable'],
  ])
})

test('a retry costs by what the attempt before it came to', () => {
  expect([retryCost(null), retryCost({ error: null }), retryCost({ error: 'timeout' })]).toEqual([0, 5, 10])
})
