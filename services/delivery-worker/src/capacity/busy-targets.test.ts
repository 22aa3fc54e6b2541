/** One attempt at a time for each target of direct messages. */
import { expect, test } from 'vitest'
import { BusyTargets } from './busy-targets.ts'

const to = (target?: string) => ({ message: { ...(target !== undefined && { target }) } })

test('a target is busy while an attempt is under way, and no other target is', () => {
  const locks = new BusyTargets(() => 0)
  locks.begin(to('+1'))
  locks.begin(to('+1'))
  locks.end(to('+1'))
  expect([locks.isBusy(to('+1')), locks.isBusy(to('+2')), locks.waitOf(to('+2'))]).toEqual([
    true,
    false,
    undefined,
  ])
  locks.end(to('+1'))
  expect([locks.isBusy(to('+1')), locks.waitOf(to('+1'))]).toEqual([false, undefined])
})

test('messages of topics never wait', () => {
  const locks = new BusyTargets(() => 0)
  locks.begin(to())
  expect([locks.isBusy(to()), locks.waitOf(to())]).toEqual([false, undefined])
})

test('deliveries that find their target busy get different times, a minute away at most', () => {
  let now = 0
  const locks = new BusyTargets(() => now)
  locks.begin(to('+1'))
  expect([1, 2, 3].map(() => locks.waitOf(to('+1')))).toEqual([250, 275, 300])
  for (let i = 0; i < 10_000; i++) locks.waitOf(to('+1'))
  expect(locks.waitOf(to('+1'))).toBe(60_000)
  now = 120_000
  expect(locks.waitOf(to('+1'))).toBe(250)
})
