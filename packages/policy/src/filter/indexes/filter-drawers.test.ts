/** Steps of a look-up are short. Each filter that it finds is counted, however many share a value. */
import { expect, test } from 'vitest'
import type { Condition } from '../conditions/condition.ts'
import { filterSubject } from '../filter-subject.ts'
import { STEPS_AT_ONCE } from '../match-work.ts'
import { FilterDrawers } from './filter-drawers.ts'

const FILTERS = 3_000
const VALUES = 2_000

/** Looks up a body whose key has these values, among filters that all have the same condition. */
function lookUp(condition: Condition, values: string[]) {
  const drawers = new FilterDrawers()
  for (let n = 0; n < FILTERS; n++) drawers.file(n, { path: 'r.a', conditions: [condition] })
  const subject = filterSubject({ message: JSON.stringify({ r: values.map((a) => ({ a })) }) }, 'MessageBody')
  const foundAtOnce: number[] = []
  let found = 0
  let steps = 0
  for (const taken of drawers.findInSteps(subject, () => found++)) {
    foundAtOnce.push(found)
    found = 0
    steps += taken
  }
  const sum = foundAtOnce.reduce((all, each) => all + each, 0)
  return { longest: Math.max(...foundAtOnce), sum, steps }
}

test('a step ends when it has found many filters, even under few values', () => {
  const values = Array.from({ length: VALUES }, (_, n) => `x${n}`)
  const { longest, sum, steps } = lookUp({ op: 'prefix', value: 'x', ignoreCase: false }, values)
  expect(sum).toBe(VALUES * FILTERS)
  expect(steps).toBeGreaterThanOrEqual(sum)
  expect(longest).toBeLessThanOrEqual(STEPS_AT_ONCE + FILTERS)
})

test('values that are equal find their filters once', () => {
  const values = Array.from({ length: VALUES }, (_, n) => (n % 2 ? 'x' : 'y'))
  expect(lookUp({ op: 'string', value: 'x', address: undefined }, values).sum).toBe(FILTERS)
})

test('an address finds the filters of all blocks once', () => {
  const values = Array.from({ length: VALUES }, (_, n) => `10.0.${n >> 8}.${n & 255}`)
  expect(lookUp({ op: 'cidr', low: '0', high: '1' }, values).sum).toBe(FILTERS)
})
