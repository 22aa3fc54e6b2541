/** A filter policy ready for matching. */
import type { FilterPolicy, FilterPolicyScope } from '@fantail/contracts'
import { areConsistent } from './array-consistency.ts'
import { type Condition, holds } from './conditions.ts'
import type { FilterSubject, Leaf } from './filter-subject.ts'
import { type Clause, type KnownClauses, type Rule, readRules } from './read-filter.ts'

export interface CompiledFilter {
  scope: FilterPolicyScope
  rules: Rule[]
}

/** Why a message was kept back: the reasons that SNS counts (sns-semantics §3.8). */
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

  /** Equal policies give one and the same filter. Throws FilterPolicyError. */
  compile(policy: FilterPolicy, scope: FilterPolicyScope): CompiledFilter {
    const text = scope + JSON.stringify(policy)
    const filter = this.#filters.get(text) ?? { scope, rules: readRules(policy, scope, this.#clauses) }
    this.#filters.set(text, filter)
    return filter
  }

  /** About how many bytes the filters take, with their places in an index. */
  get bytes(): number {
    let bytes = this.#filters.size * FILTER_BYTES
    for (const [text, { conditions }] of this.#clauses)
      bytes += CLAUSE_BYTES + conditions.length * CONDITION_BYTES + 2 * text.length
    return bytes
  }
}

/** As measured, rounded up. */
const FILTER_BYTES = 350
const CLAUSE_BYTES = 100
const CONDITION_BYTES = 200

/** The subject is of the filter's scope. */
export function matchesFilter(filter: CompiledFilter, subject: FilterSubject): boolean {
  if (subject.lacks === 'body') return false
  return filter.rules.some((rule) => ruleMatches(rule, subject))
}

/** Of a message that the filter does not match. */
export function reasonOf({ scope, rules }: CompiledFilter, subject: FilterSubject): FilterReason {
  if (scope === 'MessageBody') return subject.lacks === 'body' ? 'InvalidMessageBody' : 'MessageBody'
  if (subject.lacks === 'attributes') return 'NoMessageAttributes'
  const names = (rule: Rule) => rule.some(({ path }) => subject.invalid.has(path))
  return subject.invalid.size > 0 && rules.some(names) ? 'InvalidAttributes' : 'MessageAttributes'
}

/** What satisfies a clause: values, or their absence (`absent`), which goes with everything else. */
export function clauseMatches(
  clause: Clause,
  subject: FilterSubject,
): { absent: boolean; leaves: readonly Leaf[] } {
  const leaves = subject.leavesAt(clause.path)
  if (leaves.length === 0) return { absent: isAbsent(clause, subject), leaves }
  return { absent: false, leaves: leaves.filter((leaf) => isSatisfied(clause, leaf)) }
}

/** A value that cannot be read is neither there nor absent. */
function isAbsent({ path, conditions }: Clause, subject: FilterSubject): boolean {
  return conditions.some(asksForAbsence) && !subject.invalid.has(path)
}

function asksForAbsence(condition: Condition): boolean {
  return condition.op === 'exists' && !condition.value
}

function isSatisfied({ conditions }: Clause, leaf: Leaf): boolean {
  for (const condition of conditions) if (holds(condition, leaf)) return true
  return false
}

/** Only where clauses hold inside of arrays alone does it matter which of their leaves go together. */
function ruleMatches(rule: Rule, subject: FilterSubject): boolean {
  let insideArrays = 0
  for (const clause of rule) {
    const leaves = subject.leavesAt(clause.path)
    if (leaves.length === 0) {
      if (!isAbsent(clause, subject)) return false
      continue
    }
    // Those that stand in no array come from one value, or from one list of values.
    const first = leaves.find((leaf) => isSatisfied(clause, leaf))
    if (!first) return false
    if (first.place) insideArrays++
  }
  if (insideArrays < 2) return true
  const inside = rule.flatMap((clause) => {
    const { leaves } = clauseMatches(clause, subject)
    return leaves.length > 0 && leaves.every(({ place }) => place !== undefined) ? [leaves] : []
  })
  return inside.length < 2 || areConsistent(inside)
}
