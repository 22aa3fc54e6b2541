/**
 * The conditions of a key, one of which must hold. A short list is checked one by one, a longer list by a ConditionSet.
 */
import { type Candidate, type Condition, type Conditions, holds } from './condition.ts'
import { ConditionSet } from './condition-set.ts'

/**
 * Conditions of a key that are asked one by one. Past it: a set is built. A few conditions are checked faster one by
 * one, and take less memory. Most filters have one or two.
 */
const CONDITIONS_ASKED_MAX = 4

export class ConditionList implements Conditions {
  readonly conditions: readonly Condition[]
  readonly steps: number
  readonly searches: boolean
  readonly #set: ConditionSet | undefined

  constructor(conditions: readonly Condition[]) {
    this.conditions = conditions
    this.#set = conditions.length > CONDITIONS_ASKED_MAX ? new ConditionSet(conditions) : undefined
    this.steps = this.#set?.steps ?? conditions.reduce((sum, condition) => sum + stepsOf(condition), 0)
    this.searches = conditions.some(searchesIn)
  }

  holds(candidate: Candidate): boolean {
    if (this.#set) return this.#set.holds(candidate)
    for (const condition of this.conditions) if (holds(condition, candidate)) return true
    return false
  }

  get patterns(): number {
    return this.conditions.reduce((sum, condition) => sum + patternsOf(condition), 0)
  }

  /** Whether a missing key satisfies the list. */
  get asksForAbsence(): boolean {
    return this.conditions.some((condition) => condition.op === 'exists' && !condition.value)
  }
}

function stepsOf(condition: Condition): number {
  return condition.op === 'anything-but-any' ? condition.patterns.steps : 1
}

function patternsOf(condition: Condition): number {
  if (condition.op === 'anything-but') return condition.values.size
  return condition.op === 'anything-but-any' ? condition.patterns.patterns : 1
}

function searchesIn(condition: Condition): boolean {
  if (condition.op === 'anything-but-any') return condition.patterns.searches
  return condition.op === 'wildcard' && condition.pattern.pieces.length > 2
}
