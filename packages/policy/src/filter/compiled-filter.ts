/** A filter policy ready for matching. */
import type { FilterPolicyScope } from '@fantail/contracts'
import { areConsistent } from './array-consistency.ts'
import { type Clause, type Rule, togetherIn } from './filter-rules.ts'
import type { FilterSubject, Leaf } from './filter-subject.ts'
import { type Filtering, scopeOf, typeClause, withClause } from './filtering.ts'
import { ANY_WORK, inOneGo, type MatchWork, passSteps, type Steps } from './match-work.ts'
import { type KnownClauses, readRules } from './read-filter.ts'

export interface CompiledFilter {
  scope: FilterPolicyScope
  rules: Rule[]
}

/** Why a message was filtered out, as SNS counts it (checklist 198). */
export type FilterReason =
  | 'MessageAttributes'
  | 'MessageBody'
  | 'InvalidAttributes'
  | 'NoMessageAttributes'
  | 'InvalidMessageBody'

/** Throws FilterPolicyError. */
export function compileFilter(filtering: Filtering, known: KnownClauses = new Map()): CompiledFilter {
  const scope = scopeOf(filtering)
  const rules = readRules(filtering.filterPolicy ?? {}, scope, known)
  const { eventTypes } = filtering
  return { scope, rules: eventTypes ? withClause(rules, sharedClause(eventTypes, known)) : rules }
}

function sharedClause(eventTypes: readonly string[], known: KnownClauses): Clause {
  const text = JSON.stringify(eventTypes)
  const clause = known.get(text) ?? typeClause(eventTypes)
  known.set(text, clause)
  return clause
}

/** Compiles the filters of many subscriptions. Clauses and filters that several of them share exist once. */
export class FilterCompiler {
  readonly #filters = new Map<string, CompiledFilter>()
  readonly #clauses: KnownClauses = new Map()

  /** Approximate bytes of the filters, with their entries in an index. */
  get bytes(): number {
    let bytes = this.#filters.size * FILTER_BYTES
    for (const [text, { list }] of this.#clauses)
      bytes += CLAUSE_BYTES + list.conditions.length * CONDITION_BYTES + 2 * text.length
    return bytes
  }

  /** Equal ones give the same object. Throws FilterPolicyError. */
  *compile(filtering: Filtering): Steps<CompiledFilter> {
    const { filterPolicy, eventTypes } = filtering
    const text = JSON.stringify([scopeOf(filtering), filterPolicy ?? {}, eventTypes ?? null])
    const known = this.#filters.get(text)
    const filter = known ?? compileFilter(filtering, this.#clauses)
    this.#filters.set(text, filter)
    yield known ? 1 + (text.length >> 3) : COMPILE_STEPS * text.length
    return filter
  }
}

/** Steps to compile one code unit of a policy. 25 to 70 ns were measured. */
const COMPILE_STEPS = 2
/** Measured, rounded up. */
const FILTER_BYTES = 350
const CLAUSE_BYTES = 170
const CONDITION_BYTES = 200

/**
 * Whether the filter matches the subject, which must have the filter's scope. Throws TooMuchWork if this takes more
 * steps than `work` allows.
 */
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

/**
 * Whether a clause without a value is satisfied, because it asks for a missing key. In SNS no key is missing in a
 * message without any attribute, and in an empty body. An attribute that cannot be read counts neither as present nor
 * as missing.
 */
export function isAbsent({ path, list }: Clause, { names, invalid }: FilterSubject): boolean {
  return list.asksForAbsence && names.length > 0 && !invalid.has(path)
}

/** Steps of one pass over the values of the clause's key. */
export function stepsOf({ list }: Clause, leaves: readonly Leaf[], { size }: FilterSubject): number {
  return passSteps(list, { values: leaves.length, size })
}

/**
 * A rule matches if each clause has a satisfying leaf. If several clauses hold only inside of arrays, their leaves must
 * also lie in common elements.
 */
function ruleMatches(rule: Rule, subject: FilterSubject, work: MatchWork): boolean {
  let insideArrays = 0
  for (const clause of rule) {
    const leaves = subject.leavesAt(clause.path, work)
    if (leaves.length === 0) {
      if (!isAbsent(clause, subject)) return false
      continue
    }
    work.spend(stepsOf(clause, leaves, subject))
    // A leaf without a place is outside of arrays, or in one list of scalars. It fits together with every other leaf.
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

/** How many times longer it takes to place a leaf than to check it. */
const CONSISTENCY_STEPS = 4

/** Whether all satisfying leaves of the clause lie inside of arrays. */
export function isInside(leaves: readonly Leaf[]): boolean {
  return leaves.length > 0 && leaves.every(({ place }) => place !== undefined)
}
