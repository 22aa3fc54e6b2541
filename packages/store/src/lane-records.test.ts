import { createMessageId } from '@fantail/contracts'
import { expect, test } from 'vitest'
import {
  type DeadState,
  deliveryId,
  packState,
  parseDeliveryId,
  type RetryState,
  unpackState,
} from './lane-records.ts'

test('a delivery id names its message and generation in 16 or 18 bytes', () => {
  const messageId = createMessageId(1_700_000_000_000)
  expect(deliveryId(messageId)).toHaveLength(16)
  expect(parseDeliveryId(deliveryId(messageId))).toEqual({ messageId, generation: 0 })
  expect(deliveryId(messageId, 300)).toHaveLength(18)
  expect(parseDeliveryId(deliveryId(messageId, 300))).toEqual({ messageId, generation: 300 })
  expect(() => deliveryId('not an id')).toThrow('not a message id')
})

test.each<RetryState | DeadState>([
  { kind: 'retry', attempts: 0, statusCode: null, error: null },
  { kind: 'retry', attempts: 12, statusCode: 503, error: null },
  { kind: 'retry', attempts: 3, statusCode: null, error: 'connection_refused' },
  { kind: 'dead', reason: 'expired', attempts: 0, statusCode: null, error: null },
  { kind: 'dead', reason: 'permanent', attempts: 1, statusCode: 404, error: 'said: no, never\nagain' },
])('%o is kept as it is', (state) => {
  expect(unpackState(packState(state))).toEqual(state)
})

test('the usual states are short enough for the smallest allocation', () => {
  const failed = { kind: 'retry', attempts: 99, statusCode: null } as const
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
  expect(unpackState('something else')).toBe(null)
})
