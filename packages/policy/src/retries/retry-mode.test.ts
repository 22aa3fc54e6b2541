import type { AttemptResult } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { answeredAs, retryCost } from './retry-mode.ts'

test('an answer says of the endpoint what counts here', () => {
  const response = (statusCode: number): AttemptResult => ({ kind: 'response', statusCode, durationMs: 1 })
  const statuses = [200, 204, 100, 302, 404, 410, 429, 500, 502, 503, 599]
  expect(statuses.map((status) => answeredAs(response(status)))).toEqual([
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
  const failure = (error: 'timeout' | 'dns' | 'secrets', permanent = false): AttemptResult => ({
    ...{ kind: 'failure', error, permanent, detail: '', durationMs: 1 },
  })
  expect(answeredAs(failure('timeout'))).toBe('timeout')
  expect(answeredAs(failure('dns'))).toBe('failed')
  expect([answeredAs(failure('secrets')), answeredAs(failure('dns', true))]).toEqual([null, null])
})

test('a retry costs by what the attempt before it came to', () => {
  expect([retryCost(null), retryCost({ error: null }), retryCost({ error: 'timeout' })]).toEqual([0, 5, 10])
})
