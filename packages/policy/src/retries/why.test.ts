import { expect, test } from 'vitest'
import { causeOf, shownWhy, whyItEnded, whyNext } from './why.ts'

test('a step that follows a failure has its cause, and a delay only where a retry follows', () => {
  expect(whyNext({ step: 'retry', delayMs: 7_000, cause: 'retryAfter' })).toEqual({
    cause: 'retryAfter',
    delayMs: 7_000,
  })
  expect(whyNext({ step: 'dead', cause: 'permanent' })).toEqual({ cause: 'permanent', delayMs: null })
})

test('a first attempt is explained by what delayed it, measured from publishing', () => {
  expect(causeOf({ sincePublishedMs: 3 })).toBeUndefined()
  expect(causeOf({ waitedFor: 'throttle', sincePublishedMs: 7_000 })).toEqual({
    cause: 'throttle',
    delayMs: 7_000,
  })
})

test('a retry is explained by its decision, unless the circuit was open', () => {
  const whyDue = { cause: 'backoff', delayMs: 20_000 } as const
  expect(causeOf({ whyDue, waitedFor: 'throttle', sincePublishedMs: null })).toEqual(whyDue)
  expect(causeOf({ whyDue, waitedFor: 'circuitOpen', sincePublishedMs: null })).toEqual({
    cause: 'circuitOpen',
    delayMs: null,
  })
})

test('an end is explained by its reason, and one that is not in the list as unknown', () => {
  expect(whyItEnded('purged')).toEqual({ cause: 'purged', delayMs: null })
  expect(whyItEnded('toString')).toEqual({ cause: 'unknown', delayMs: null })
  expect(whyItEnded(null)).toEqual({ cause: 'unknown', delayMs: null })
})

test('both members are null if nothing delayed the attempt', () => {
  expect(shownWhy(undefined)).toEqual({ delayMs: null, cause: null })
  expect(shownWhy({ cause: 'expired', delayMs: null })).toEqual({ delayMs: null, cause: 'expired' })
})
