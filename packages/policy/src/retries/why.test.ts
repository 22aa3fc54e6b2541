import { expect, test } from 'vitest'
import { causeOf, shownWhy, whyItEnded, whyNext } from './why.ts'

test('a step that follows a failure has its cause, and a delay only where a retry follows', () => {
  expect(whyNext({ step: 'retry', delayMs: 7_000, cause: 'retryAfter' })).toEqual({
    because: 'retryAfter',
    delayMs: 7_000,
  })
  expect(whyNext({ step: 'dead', cause: 'permanent' })).toEqual({ because: 'permanent', delayMs: null })
})

test('a first attempt is explained by what delayed it, measured from publishing', () => {
  expect(causeOf({ sincePublishedMs: 3 })).toBeUndefined()
  expect(causeOf({ waitedFor: 'throttle', sincePublishedMs: 7_000 })).toEqual({
    because: 'throttle',
    delayMs: 7_000,
  })
})

test('a retry is explained by its decision, unless the circuit was open', () => {
  const whyDue = { because: 'backoff', delayMs: 20_000 } as const
  expect(causeOf({ whyDue, waitedFor: 'throttle', sincePublishedMs: null })).toEqual(whyDue)
  expect(causeOf({ whyDue, waitedFor: 'circuitOpen', sincePublishedMs: null })).toEqual({
    because: 'circuitOpen',
    delayMs: null,
  })
})

test('an end is explained by its reason, and one that is not in the list as unknown', () => {
  expect(whyItEnded('purged')).toEqual({ because: 'purged', delayMs: null })
  expect(whyItEnded('toString')).toEqual({ because: 'unknown', delayMs: null })
  expect(whyItEnded(null)).toEqual({ because: 'unknown', delayMs: null })
})

test('both members are null if nothing delayed the attempt', () => {
  expect(shownWhy(undefined)).toEqual({ delayMs: null, because: null })
  expect(shownWhy({ because: 'expired', delayMs: null })).toEqual({ delayMs: null, because: 'expired' })
})
