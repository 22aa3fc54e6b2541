import { createMessageId } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { deliveryId, parseDeliveryId, redrivesOf, resentAtOf, resentGeneration } from './generations.ts'
import { type DeadState, packState, type RetryState, unpackState } from './lane-records.ts'

test('a delivery id names its message and generation in 16, 18 or 22 bytes', () => {
  const messageId = createMessageId(1_700_000_000_000)
  expect(deliveryId(messageId)).toHaveLength(16)
  expect(parseDeliveryId(deliveryId(messageId))).toEqual({ messageId, generation: 0 })
  expect(deliveryId(messageId, 300)).toHaveLength(18)
  expect(parseDeliveryId(deliveryId(messageId, 300))).toEqual({ messageId, generation: 300 })
  const resent = resentGeneration(1_800_000_000_001)
  expect(deliveryId(messageId, resent + 1)).toHaveLength(22)
  expect(parseDeliveryId(deliveryId(messageId, resent + 1))).toEqual({ messageId, generation: resent + 1 })
  expect([resentAtOf(resent + 1), redrivesOf(resent + 1)]).toEqual([1_800_000_000_001, 1])
  expect([resentAtOf(300), redrivesOf(300)]).toEqual([null, 300])
  expect(() => deliveryId('not an id')).toThrow('not a message id')
})

test.each<RetryState | DeadState>([
  { kind: 'retry', attempts: 0, statusCode: null, error: null },
  { kind: 'retry', attempts: 12, statusCode: 503, error: null },
  { kind: 'retry', attempts: 3, statusCode: null, error: 'connection_refused' },
  {
    kind: 'retry',
    attempts: 2,
    statusCode: 429,
    error: null,
    why: { cause: 'retryAfter', delayMs: 7_000 },
  },
  {
    kind: 'retry',
    attempts: 1,
    statusCode: null,
    error: 'timeout',
    why: { cause: 'immediate', delayMs: 0 },
  },
  {
    kind: 'retry',
    attempts: 1,
    statusCode: null,
    error: 'dns',
    why: { cause: 'retryNow', delayMs: null },
  },
  { kind: 'dead', cause: 'expired', attempts: 0, statusCode: null, error: null },
  { kind: 'dead', cause: 'permanent', attempts: 1, statusCode: 404, error: 'said: no, never\nagain' },
])('%o is kept as it is', (state) => {
  expect(unpackState(packState(state))).toEqual(state)
})

test('the usual states are short enough for the smallest allocation', () => {
  const why = { cause: 'postBackoff', delayMs: 3_600_000 } as const
  const failed = { kind: 'retry', attempts: 99, statusCode: null, why } as const
  for (const error of [
    'timeout',
    'connection_refused',
    'connection_reset',
    'dns',
    'tls',
    'invalid_response',
  ]) {
    expect(packState({ ...failed, error }).length).toBeLessThanOrEqual(14)
  }
  // Half an hour at most: the status code of an endpoint that failed a hundred times.
  const answered = { ...failed, statusCode: 503, error: null, why: { ...why, delayMs: 1_679_615 } }
  expect(packState(answered).length).toBeLessThanOrEqual(14)
  expect(unpackState('something else')).toBe(null)
})

test('a state without a decision is read', () => {
  expect(unpackState('A3,,timeout')).toEqual({
    kind: 'retry',
    attempts: 3,
    statusCode: null,
    error: 'timeout',
  })
  expect(unpackState('Dexpired,3,503,bfff~')).toMatchObject({ kind: 'dead', statusCode: 503, error: null })
})

test('an unknown decision is left out, and what stands beside it is kept', () => {
  const state = unpackState('A1,503,zfff~#r')
  expect(state).toEqual({ kind: 'retry', attempts: 1, statusCode: 503, error: 'connection_refused' })
})
