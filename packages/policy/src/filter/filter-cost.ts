/**
 * The most that a filter may cost, counted when it is written: passes over the values of a body. A body of 256 KB holds
 * some 45,000 values that differ, and a pass over them takes about half a millisecond, so that no filter that is
 * accepted takes more than 10 ms. Filters that were accepted before there was this bound are kept, and take as long as
 * they do.
 */

import { ConditionSet } from './conditions/condition-set.ts'
import { type Clause, isExact, type Rule, togetherIn } from './filter-rules.ts'

/**
 * @limit Passes over a body's values that one filter may cost. Past it: the policy is refused as too complex.
 */
export const PASSES_MAX = 10

/**
 * A value stands under one path, so only the path that most is asked of counts. There all clauses that ask for exact
 * values take one pass together, any other clause one for each kind of condition, and one for each wildcard. To this
 * come those that look for elements of arrays in which several clauses hold: one for each clause of each rule.
 */
export function passesOf(rules: readonly Rule[]): number {
  const byPath = Map.groupBy(new Set(rules.flat()), ({ path }) => path)
  const most = Math.max(0, ...[...byPath.values()].map(passesOver))
  const together = rules.reduce((sum, rule) => sum + togetherIn(rule).flat().length, 0)
  return most + together
}

function passesOver(clauses: Clause[]): number {
  const others = clauses.filter((clause) => !isExact(clause))
  const passes = others.reduce((sum, { list }) => sum + new ConditionSet(list.conditions).steps, 0)
  return passes + (others.length < clauses.length ? 1 : 0)
}
