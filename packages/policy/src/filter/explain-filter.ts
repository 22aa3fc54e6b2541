/** Says of each clause of a policy whether a message satisfies it: for people who wonder why a message did not come. */
import type { FilterPolicy, FilterPolicyScope } from '@fantail/contracts'
import {
  clauseMatches,
  compileFilter,
  type FilterReason,
  matchesFilter,
  reasonOf,
} from './compiled-filter.ts'
import type { Scalar } from './conditions.ts'
import { type FilterMessage, filterSubject } from './filter-subject.ts'
import { readConditions } from './read-conditions.ts'

export interface ClauseVerdict {
  /** Dotted path of the key. */
  path: string
  /** The alternatives, as the policy has them. */
  condition: unknown[]
  matched: boolean
  /** What the message has there. */
  values: Scalar[]
}

export interface FilterExplanation {
  matched: boolean
  /** null where it matched. */
  reason: FilterReason | null
  clauses: ClauseVerdict[]
}

/** Throws FilterPolicyError. */
export function explainFilter(
  policy: FilterPolicy,
  scope: FilterPolicyScope,
  message: FilterMessage,
): FilterExplanation {
  const filter = compileFilter(policy, scope)
  const subject = filterSubject(message, scope)
  const matched = matchesFilter(filter, subject)
  const clauses = listsOf(policy, '').map(([path, condition]) => {
    const { absent, leaves } = clauseMatches({ path, conditions: readConditions(condition) }, subject)
    const values = subject.leavesAt(path).map(({ value }) => value)
    return { path, condition, matched: absent || leaves.length > 0, values }
  })
  return { matched, reason: matched ? null : reasonOf(filter, subject), clauses }
}

/** Every list of the policy with its path; the branches of `$or` too. */
function listsOf(policy: Record<string, unknown>, before: string): [string, unknown[]][] {
  return Object.entries(policy).flatMap(([key, value]): [string, unknown[]][] => {
    if (Array.isArray(value)) {
      const branches = key === '$or' && value.every((branch) => typeof branch === 'object' && branch !== null)
      if (branches) return value.flatMap((branch) => listsOf(branch as Record<string, unknown>, before))
      return [[before + key, value]]
    }
    return listsOf(value as Record<string, unknown>, `${before}${key}.`)
  })
}
