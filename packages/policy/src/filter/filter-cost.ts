/**
 * The cost limit of a filter, checked when the filter is set. The unit is one pass over the values of a body. A body of
 * 256 KB holds some 45,000 different values, and a pass over them takes about half a millisecond. Within the limit a
 * filter takes at most 10 ms. Filters that were accepted before this limit existed stay valid.
 */

import { ConditionSet } from './conditions/condition-set.ts'
import { type Clause, isExact, type Rule, togetherIn } from './filter-rules.ts'

/**
 * @limit Passes over a body's values that one filter may cost. Past it: the policy is refused as too complex.
 */
export const PASSES_MAX = 10

/**
 * A value stands under one path, so only the most expensive path counts. All clauses of a path that compare exact
 * values share one pass. Every other clause takes one pass for each kind of condition, and one for each wildcard.
 * Clauses that must hold in one element of an array take one more pass for each clause of each rule.
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
