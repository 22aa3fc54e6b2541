/**
 * Shows for each clause of a policy whether a message satisfies it. People use it to find out why a message was not
 * delivered.
 */
import { EVENT_TYPE_ATTRIBUTE } from '@fantail/contracts'
import { compileFilter, type FilterReason, isAbsent, reasonOf } from './compiled-filter.ts'
import type { Scalar } from './conditions/condition.ts'
import type { Clause } from './filter-rules.ts'
import { type FilterMessage, type FilterSubject, filterSubject, type Leaf } from './filter-subject.ts'
import { type Filtering, scopeOf, typeClause } from './filtering.ts'
import { MatchInSteps } from './match-in-steps.ts'
import { parseSteps, type Steps } from './match-work.ts'
import { clauseOf, isOr } from './read-filter.ts'

/**
 * Values of a message that an explanation shows under a key. Past it: the others are left out. A message may have
 * 40,000 values under a key, and a policy may name that key often.
 */
export const VALUES_SHOWN_MAX = 100

interface ClauseVerdict {
  /** Dotted path of the key. */
  path: string
  /** The alternatives as written in the policy. */
  condition: unknown[]
  matched: boolean
  /**
   * The value that satisfies the condition, or else the message's values there: a list of at most VALUES_SHOWN_MAX if
   * there are several. Absent if the message has none.
   */
  value?: Scalar | Scalar[]
}

export interface FilterExplanation {
  matched: boolean
  /** null if it matched. */
  reason: FilterReason | null
  clauses: ClauseVerdict[]
}

/** Throws FilterPolicyError. */
export function* explainFilter(filtering: Filtering, message: FilterMessage): Steps<FilterExplanation> {
  const filter = compileFilter(filtering)
  const subject = filterSubject(message, scopeOf(filtering))
  yield parseSteps(subject)
  const match = new MatchInSteps(subject)
  const matched = yield* match.matches(filter)
  const clauses: ClauseVerdict[] = []
  for (const { path, condition, clause } of clausesOf(filtering)) {
    const first = yield* match.firstOf(clause)
    const absent = subject.leavesAt(clause.path).length === 0 && isAbsent(clause, subject)
    clauses.push({
      path,
      condition,
      matched: absent || first !== null,
      ...shown(first, clause.path, subject),
    })
  }
  return { matched, reason: matched ? null : reasonOf(filter, subject), clauses }
}

interface Asked {
  path: string
  condition: unknown[]
  clause: Clause
}

function shown(satisfying: Leaf | null, path: string, subject: FilterSubject): Pick<ClauseVerdict, 'value'> {
  if (satisfying) return { value: satisfying.value }
  const [first, ...others] = subject.leavesAt(path).slice(0, VALUES_SHOWN_MAX).map(scalarOf)
  if (first === undefined) return {}
  return { value: others.length > 0 ? [first, ...others] : first }
}

const scalarOf = ({ value }: Leaf): Scalar => value

/** The types that the subscription has chosen come first, under the name of the attribute. */
function* clausesOf({ eventTypes, filterPolicy }: Filtering): Generator<Asked> {
  if (eventTypes)
    yield { path: EVENT_TYPE_ATTRIBUTE, condition: [...eventTypes], clause: typeClause(eventTypes) }
  for (const [path, condition] of listsOf(filterPolicy ?? {}, ''))
    yield { path, condition, clause: clauseOf(path, condition) }
}

/** Every list of the policy with its path, including those in branches of `$or`. */
function listsOf(policy: Record<string, unknown>, before: string): [string, unknown[]][] {
  return Object.entries(policy).flatMap(([key, value]): [string, unknown[]][] => {
    if (Array.isArray(value)) {
      if (key === '$or' && isOr(value)) return value.flatMap((branch) => listsOf(branch, before))
      return [[before + key, value]]
    }
    return listsOf(value as Record<string, unknown>, `${before}${key}.`)
  })
}
