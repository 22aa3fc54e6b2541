/** Errors of the API in words for customers. */
import { expect, test } from 'vitest'
import { ApiError } from '../../api/api-error.ts'
import { portalDe } from '../../i18n/portal/portal-de.ts'
import { portalEn } from '../../i18n/portal/portal-en.ts'
import { failureOf, fieldProblem, isOfFields, problemOf } from './trouble.tsx'

const errorOf = (code: string, status: number, paths: string[] = []) =>
  new ApiError({
    code,
    status,
    message: 'the key fk_1 lacks arn:aws:sns',
    details: paths.map((path) => ({ path, message: 'is in 10.0.0.0/8' })),
  })

test('no text of the API reaches a customer', () => {
  const errors = [
    errorOf('rate_limited', 429),
    errorOf('made_up', 400),
    errorOf('storage_full', 503),
    ApiError.silent(new Error('fetch failed')),
    new TypeError('x is undefined'),
  ]
  for (const { problems } of [portalEn, portalDe]) {
    const texts = errors.map((error) => problemOf(problems, error))
    const { rate_limited, other, storage, noAnswer } = problems
    expect(texts).toEqual([rate_limited, other, storage, noAnswer, other])
  }
})

test('a problem stands beside its field, and other problems below the form', () => {
  const error = errorOf('validation_failed', 400, ['endpoint', 'eventTypes.0'])
  expect(fieldProblem(portalEn.problems, error, 'endpoint')).toMatch(/^Enter an https address/)
  expect(fieldProblem(portalEn.problems, error, 'name')).toBeUndefined()
  expect(isOfFields(error, ['endpoint', 'eventTypes'])).toBe(true)
  expect(isOfFields(error, ['endpoint'])).toBe(false)
  expect(isOfFields(errorOf('conflict', 409), ['endpoint'])).toBe(false)
})

test('a failed attempt is a status or a reason', () => {
  expect(failureOf(portalEn, { statusCode: 503, error: null })).toBe('answered 503')
  expect(failureOf(portalEn, { statusCode: null, error: 'dns' })).toBe('its host name was not found')
  expect(failureOf(portalDe, { statusCode: null, error: 'made_up' })).toBe('es kam keine Antwort')
  expect(failureOf(portalEn, { statusCode: null, error: null })).toBeUndefined()
})
