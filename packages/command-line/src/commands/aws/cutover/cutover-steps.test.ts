import { expect, test } from 'vitest'
import { type Looked, mayHaveOlder } from './cutover-steps.ts'

const AT = 100_000

test('a lane has surely nothing older only if its oldest message is known and nothing is under way', () => {
  const isOlder = (lane: Partial<Looked['lane']>, code: Looked['verdict']['code'] = 'fine') => {
    const looked = { lane: { waiting: 1, inFlight: 0, oldestWaitingSeconds: 1, ...lane }, verdict: { code } }
    return mayHaveOlder(looked, { since: AT - 5_000, at: AT })
  }
  expect(isOlder({})).toBe(false)
  expect(isOlder({ waiting: 0, oldestWaitingSeconds: null })).toBe(false)
  expect(isOlder({ oldestWaitingSeconds: 6 })).toBe(true)
  expect(isOlder({ inFlight: 1 })).toBe(true)
  // The API looks at the ten retries that are due first, and a later one may be older.
  expect([isOlder({ waiting: 10 }), isOlder({ waiting: 11 })]).toEqual([false, true])
  expect(isOlder({}, 'undispatched')).toBe(true)
})
