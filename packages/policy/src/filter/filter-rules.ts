/** A filter policy as a list of rules. A rule matches if each of its clauses is satisfied. */
import type { ConditionList } from './conditions/condition-list.ts'

export interface Clause {
  path: string
  list: ConditionList
}

export type Rule = Clause[]

/**
 * Groups of clauses that must hold in the same element if they hold inside of arrays. Only clauses whose paths begin
 * with the same name can lie under one array.
 */
export function togetherIn(rule: Rule): Clause[][] {
  return [...Map.groupBy(new Set(rule), ({ path }) => headOf(path)).values()].filter(
    ({ length }) => length > 1,
  )
}

/** The first name of a path. A key of a body may contain dots, and then stands for several names. */
export function headOf(path: string): string {
  const dot = path.indexOf('.')
  return dot < 0 ? path : path.slice(0, dot)
}

/** Whether the clause compares exact values only. */
export function isExact({ list }: Clause): boolean {
  return list.conditions.every((condition) => {
    if (condition.op === 'string') return condition.address === undefined
    return condition.op === 'number' || condition.op === 'literal'
  })
}
