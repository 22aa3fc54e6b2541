/**
 * Matches one message in steps, if it cannot be matched at once. A clause that several rules or filters share is
 * checked once. Clauses of one key that compare exact values are checked together, in one pass over the key's values.
 */
import { areConsistent } from './array-consistency.ts'
import { type CompiledFilter, isAbsent, isInside, stepsOf } from './compiled-filter.ts'
import type { Scalar } from './conditions/condition.ts'
import { type Clause, isExact, type Rule, togetherIn } from './filter-rules.ts'
import { type FilterSubject, type Leaf, leavesInSteps } from './filter-subject.ts'
import { STEPS_AT_ONCE, type Steps } from './match-work.ts'

/** Clauses of a key that are judged one by one. Past it: they are judged together. */
const APART_MAX = 2

export class MatchInSteps {
  readonly #subject: FilterSubject
  /** For each checked clause, the first value that satisfies it. null: no value does. */
  readonly #first = new Map<Clause, Leaf | null>()

  constructor(subject: FilterSubject) {
    this.#subject = subject
  }

  *matches({ rules }: CompiledFilter): Steps<boolean> {
    if (this.#subject.lacks === 'body') return false
    if (rules.length > APART_MAX)
      for (const clauses of exactClausesOf(rules)) yield* this.#judgeTogether(clauses)
    for (const rule of rules) if (yield* this.#ruleMatches(rule)) return true
    return false
  }

  /** The first value that satisfies the clause. */
  *firstOf(clause: Clause): Steps<Leaf | null> {
    const known = this.#first.get(clause)
    if (known !== undefined) return known
    let first: Leaf | null = null
    yield* this.#pass(clause, (leaf) => {
      first = leaf
      return true
    })
    this.#first.set(clause, first)
    return first
  }

  *#ruleMatches(rule: Rule): Steps<boolean> {
    let insideArrays = 0
    for (const clause of rule) {
      const { length } = yield* leavesInSteps(this.#subject, clause.path)
      if (length === 0) {
        if (!isAbsent(clause, this.#subject)) return false
        continue
      }
      const first = yield* this.firstOf(clause)
      if (!first) return false
      if (first.place) insideArrays++
    }
    if (insideArrays < 2) return true
    for (const clauses of togetherIn(rule)) if (!(yield* this.#holdTogether(clauses))) return false
    return true
  }

  /** Calls `satisfying` for each value that satisfies the clause, until it returns false. */
  *#pass(clause: Clause, satisfying: (leaf: Leaf) => boolean): Steps<void> {
    const leaves = this.#subject.leavesAt(clause.path)
    const stepsEach = stepsOf(clause, leaves, this.#subject) / leaves.length
    let steps = 0
    for (const leaf of leaves) {
      steps += stepsEach
      if (clause.list.holds(leaf) && satisfying(leaf)) break
      if (steps < STEPS_AT_ONCE) continue
      yield steps
      steps = 0
    }
    yield steps
  }

  *#holdTogether(clauses: Clause[]): Steps<boolean> {
    const inside: Leaf[][] = []
    for (const clause of clauses) {
      const leaves: Leaf[] = []
      yield* this.#pass(clause, (leaf) => {
        leaves.push(leaf)
        return false
      })
      if (isInside(leaves)) inside.push(leaves)
    }
    if (inside.length < 2) return true
    return yield* areConsistent(inside, this.#subject.places)
  }

  *#judgeTogether({ path, byValue }: ExactClauses): Steps<void> {
    const clauses = new Set([...byValue.values()].flat().filter((clause) => !this.#first.has(clause)))
    if (clauses.size === 0) return
    const wanted = new Map(byValue)
    const look = (value: Scalar, leaf: Leaf) => {
      const satisfied = wanted.get(value)
      if (!satisfied) return
      wanted.delete(value)
      for (const clause of satisfied) if (!this.#first.has(clause)) this.#first.set(clause, leaf)
    }
    const leaves = yield* leavesInSteps(this.#subject, path)
    for (let i = 0; i < leaves.length; i += STEPS_AT_ONCE) {
      const some = leaves.slice(i, i + STEPS_AT_ONCE)
      for (const leaf of some) {
        look(leaf.value, leaf)
        if (leaf.text !== undefined) look(leaf.text, leaf)
      }
      yield some.length
    }
    for (const clause of clauses) if (!this.#first.has(clause)) this.#first.set(clause, null)
  }
}

/** Clauses of one key that compare exact values, under those values. */
interface ExactClauses {
  path: string
  byValue: Map<Scalar, Clause[]>
}

function exactClausesOf(rules: readonly Rule[]): ExactClauses[] {
  const exact = new Set(rules.flat().filter(isExact))
  return [...Map.groupBy(exact, ({ path }) => path)].flatMap(([path, clauses]) => {
    if (clauses.length <= APART_MAX) return []
    const values = clauses.flatMap((clause) => [...valuesOf(clause)].map((value) => ({ value, clause })))
    const byValue = Map.groupBy(values, ({ value }) => value)
    return [{ path, byValue: new Map([...byValue].map(([value, same]) => [value, same.map(clauseIn)])) }]
  })
}

const clauseIn = ({ clause }: { clause: Clause }): Clause => clause

function* valuesOf({ list }: Clause): Generator<Scalar> {
  for (const condition of list.conditions) if ('value' in condition) yield condition.value as Scalar
}
