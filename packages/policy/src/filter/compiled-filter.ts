/** A filter policy ready for matching. */
import type { FilterPolicy, FilterPolicyScope } from '@fantail/contracts'
import { type Condition, holds } from './conditions.ts'
import type { FilterSubject, Leaf } from './filter-subject.ts'
import { type Clause, type Rule, readRules } from './read-filter.ts'

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
  { path, conditions }: Clause,
  subject: FilterSubject,
): { absent: boolean; leaves: Leaf[] } {
  const leaves = subject.leaves.get(path)
  // A value that cannot be read is neither there nor absent.
  if (leaves === undefined) {
    return { absent: !subject.invalid.has(path) && conditions.some(asksForAbsence), leaves: [] }
  }
  return {
    absent: false,
    leaves: leaves.filter((leaf) => conditions.some((condition) => holds(condition, leaf))),
  }
}

function asksForAbsence(condition: Condition): boolean {
  return condition.op === 'exists' && !condition.value
}

function ruleMatches(rule: Rule, subject: FilterSubject): boolean {
  const placed: Leaf[][] = []
  for (const clause of rule) {
    const { absent, leaves } = clauseMatches(clause, subject)
    if (!absent && leaves.length === 0) return false
    if (leaves.length > 0 && !leaves.some(({ places }) => places === undefined)) placed.push(leaves)
  }
  return placed.length < 2 || areConsistent(placed)
}

type Places = ReadonlyMap<number, number>

/**
 * Whether one value of each clause can be chosen so that all lie in the same elements of the arrays they share. Clause by
 * clause, keeping the choices that differ in arrays which later clauses have too: what is independent never multiplies.
 */
function areConsistent(clauses: Leaf[][]): boolean {
  let choices: Places[] = [new Map()]
  for (const [n, leaves] of clauses.entries()) {
    const later = new Set(clauses.slice(n + 1).flatMap((others) => others.flatMap(arraysOf)))
    const next = new Map<string, Places>()
    for (const choice of choices) {
      for (const { places } of leaves) {
        const joined = places && join(choice, places, later)
        if (joined) next.set([...joined].flat().join(), joined)
      }
    }
    if (next.size === 0) return false
    choices = [...next.values()]
  }
  return true
}

function arraysOf({ places }: Leaf): number[] {
  return places ? [...places.keys()] : []
}

/** Both together, as far as `kept` names arrays; undefined where they contradict each other. */
function join(choice: Places, places: Places, kept: ReadonlySet<number>): Places | undefined {
  const joined = new Map<number, number>()
  for (const [array, index] of choice) if (kept.has(array)) joined.set(array, index)
  for (const [array, index] of places) {
    const chosen = choice.get(array)
    if (chosen !== undefined && chosen !== index) return undefined
    if (kept.has(array)) joined.set(array, index)
  }
  return new Map([...joined].sort(([a], [b]) => a - b))
}
