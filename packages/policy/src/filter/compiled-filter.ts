/** A filter policy ready for matching. */
import type { FilterPolicy, FilterPolicyScope } from '@fantail/contracts'
import { areConsistent } from './array-consistency.ts'
import { type Clause, type Rule, togetherIn } from './filter-rules.ts'
import type { FilterSubject, Leaf } from './filter-subject.ts'
import { ANY_WORK, inOneGo, type MatchWork, passSteps, type Steps } from './match-work.ts'
import { type KnownClauses, readRules } from './read-filter.ts'

export interface CompiledFilter {
  scope: FilterPolicyScope
  rules: Rule[]
}

/** Why a message was kept back: the reasons that SNS counts (checklist 198). */
export type FilterReason =
  | 'MessageAttributes'
  | 'MessageBody'
  | 'InvalidAttributes'
  | 'NoMessageAttributes'
  | 'InvalidMessageBody'

/** Throws FilterPolicyError. */
export function compileFilter(policy: FilterPolicy, scope: FilterPolicyScope): CompiledFilter {
  return { scope, rules: readRules(policy, scope) }
}

/** Compiles the filters of many subscriptions: what is the same in some of them is there once. */
export class FilterCompiler {
  readonly #filters = new Map<string, CompiledFilter>()
  readonly #clauses: KnownClauses = new Map()

  /** About how many bytes the filters take, with their places in an index. */
  get bytes(): number {
    let bytes = this.#filters.size * FILTER_BYTES
    for (const [text, { list }] of this.#clauses)
      bytes += CLAUSE_BYTES + list.conditions.length * CONDITION_BYTES + 2 * text.length
    return bytes
  }

  /** Equal policies give one and the same filter. Throws FilterPolicyError. */
  *compile(policy: FilterPolicy, scope: FilterPolicyScope): Steps<CompiledFilter> {
    const text = scope + JSON.stringify(policy)
    const known = this.#filters.get(text)
    const filter = known ?? { scope, rules: readRules(policy, scope, this.#clauses) }
    this.#filters.set(text, filter)
    yield known ? 1 + (text.length >> 3) : COMPILE_STEPS * text.length
    return filter
  }
}

/** To compile a policy, for each code unit of it: 25 to 70 ns were measured. */
const COMPILE_STEPS = 2
/** Measured, rounded up. */
const FILTER_BYTES = 350
const CLAUSE_BYTES = 170
const CONDITION_BYTES = 200

/** The subject is of the filter's scope. Throws TooMuchWork where it would take more than there is. */
export function matchesFilter(
  { rules }: CompiledFilter,
  subject: FilterSubject,
  work: MatchWork = ANY_WORK,
): boolean {
  if (subject.lacks === 'body') return false
  for (const rule of rules) if (ruleMatches(rule, subject, work)) return true
  return false
}

/** Why the filter does not match the message. */
export function reasonOf({ scope, rules }: CompiledFilter, subject: FilterSubject): FilterReason {
  if (scope === 'MessageBody') return subject.lacks === 'body' ? 'InvalidMessageBody' : 'MessageBody'
  if (subject.lacks === 'attributes') return 'NoMessageAttributes'
  const names = (rule: Rule) => rule.some(({ path }) => subject.invalid.has(path))
  return subject.invalid.size > 0 && rules.some(names) ? 'InvalidAttributes' : 'MessageAttributes'
}

/** Without a value the clause is satisfied. A value that cannot be read is neither there nor absent. */
export function isAbsent({ path, list }: Clause, subject: FilterSubject): boolean {
  return list.asksForAbsence && !subject.invalid.has(path)
}

/** Steps of one pass over the values of the clause's key. */
export function stepsOf({ list }: Clause, leaves: readonly Leaf[], { size }: FilterSubject): number {
  return passSteps(list, { values: leaves.length, size })
}

/** Only where clauses hold inside of arrays alone does it matter which of their leaves go together. */
function ruleMatches(rule: Rule, subject: FilterSubject, work: MatchWork): boolean {
  let insideArrays = 0
  for (const clause of rule) {
    const leaves = subject.leavesAt(clause.path, work)
    if (leaves.length === 0) {
      if (!isAbsent(clause, subject)) return false
      continue
    }
    work.spend(stepsOf(clause, leaves, subject))
    // Those that stand in no array come from one value, or from one list of values.
    const first = firstOf(clause, leaves)
    if (!first) return false
    if (first.place) insideArrays++
  }
  return insideArrays < 2 || togetherIn(rule).every((clauses) => holdTogether(clauses, subject, work))
}

function firstOf({ list }: Clause, leaves: readonly Leaf[]): Leaf | undefined {
  for (const leaf of leaves) if (list.holds(leaf)) return leaf
  return undefined
}

function holdTogether(clauses: Clause[], subject: FilterSubject, work: MatchWork): boolean {
  const inside = clauses.flatMap((clause) => {
    const leaves = subject.leavesAt(clause.path)
    work.spend(CONSISTENCY_STEPS * stepsOf(clause, leaves, subject))
    const satisfying = leaves.filter((leaf) => clause.list.holds(leaf))
    return isInside(satisfying) ? [satisfying] : []
  })
  return inside.length < 2 || inOneGo(areConsistent(inside, subject.places)).value
}

/** To place a leaf takes so much longer than to judge it. */
const CONSISTENCY_STEPS = 4

/** The clause holds inside of arrays alone. */
export function isInside(leaves: readonly Leaf[]): boolean {
  return leaves.length > 0 && leaves.every(({ place }) => place !== undefined)
}
