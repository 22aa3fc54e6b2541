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
import { type FilterMessage, filterSubject, type Leaf } from './filter-subject.ts'
import { readConditions } from './read-conditions.ts'
import { isOr } from './read-filter.ts'

export interface ClauseVerdict {
  /** Dotted path of the key. */
  path: string
  /** The alternatives, as the policy has them. */
  condition: unknown[]
  matched: boolean
  /** What satisfies it, else what the message has there, several as a list; absent where there is nothing. */
  value?: Scalar | Scalar[]
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
    const [first, ...others] = (leaves.length > 0 ? leaves.slice(0, 1) : subject.leavesAt(path)).map(scalarOf)
    const value = first !== undefined && { value: others.length > 0 ? [first, ...others] : first }
    return { path, condition, matched: absent || leaves.length > 0, ...value }
  })
  return { matched, reason: matched ? null : reasonOf(filter, subject), clauses }
}

const scalarOf = ({ value }: Leaf): Scalar => value

/** Every list of the policy with its path; the branches of `$or` too. */
function listsOf(policy: Record<string, unknown>, before: string): [string, unknown[]][] {
  return Object.entries(policy).flatMap(([key, value]): [string, unknown[]][] => {
    if (Array.isArray(value)) {
      if (key === '$or' && isOr(value)) return value.flatMap((branch) => listsOf(branch, before))
      return [[before + key, value]]
    }
    return listsOf(value as Record<string, unknown>, `${before}${key}.`)
  })
}
