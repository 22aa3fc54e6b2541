/** One attempt at a time for each target of direct messages. */
import { expect, test } from 'vitest'
import { TargetTurns } from './target-turns.ts'

const to = (target?: string) => ({ message: { ...(target !== undefined && { target }) } })

test('a target is busy while an attempt is under way, and no other target is', () => {
  const turns = new TargetTurns(() => 0)
  turns.begin(to('+1'))
  turns.begin(to('+1'))
  turns.end(to('+1'))
  expect([turns.isBusy(to('+1')), turns.isBusy(to('+2')), turns.waitOf(to('+2'))]).toEqual([
    true,
    false,
    undefined,
  ])
  turns.end(to('+1'))
  expect([turns.isBusy(to('+1')), turns.waitOf(to('+1'))]).toEqual([false, undefined])
})

test('messages of topics are never held up', () => {
  const turns = new TargetTurns(() => 0)
  turns.begin(to())
  expect([turns.isBusy(to()), turns.waitOf(to())]).toEqual([false, undefined])
})

test('deliveries that find their target busy get different times, a minute away at most', () => {
  let now = 0
  const turns = new TargetTurns(() => now)
  turns.begin(to('+1'))
  expect([1, 2, 3].map(() => turns.waitOf(to('+1')))).toEqual([250, 275, 300])
  for (let i = 0; i < 10_000; i++) turns.waitOf(to('+1'))
  expect(turns.waitOf(to('+1'))).toBe(60_000)
  now = 120_000
  expect(turns.waitOf(to('+1'))).toBe(250)
})
