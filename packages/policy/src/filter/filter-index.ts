/**
 * Which of many filters a message matches, without asking each. A filter is filed under one clause of each of its rules, in
 * the drawer of that clause's key; only those that the message's values bring up are asked, and those that want a key
 * to be missing where it is. The clause is the one that will bring it up least: of the filters that share `type` and
 * differ in `tenant`, each is filed under its tenant.
 */
import { type CompiledFilter, matchesFilter } from './compiled-filter.ts'
import { FilterDrawers } from './filter-drawers.ts'
import type { FilterSubject } from './filter-subject.ts'
import { Marks } from './marks.ts'
import type { Clause, Rule } from './read-filter.ts'

export class FilterIndex {
  /** What filters are filed under: a message that satisfies none of these matches none of them, unless `matchesAlways`. */
  readonly clauses: readonly Clause[]
  readonly #filters: (CompiledFilter | null)[]
  readonly #drawers = new FilterDrawers()
  /** Of a policy without keys. */
  readonly #always: number[]
  readonly #marks: Marks

  /** All of one scope; null: nothing is kept back, and it is not among the answers. */
  constructor(filters: (CompiledFilter | null)[]) {
    this.#filters = filters
    this.#marks = new Marks(filters.length)
    const rules = [...filters.entries()].flatMap(([n, filter]) =>
      (filter?.rules ?? []).map((rule) => ({ n, rule })),
    )
    this.#always = rules.filter(({ rule }) => rule.length === 0).map(({ n }) => n)
    const best = bestClauses(rules)
    for (const { n, clause } of best) this.#drawers.file(n, clause)
    this.clauses = [...new Set(best.map(({ clause }) => clause))]
  }

  /** Some filter has a rule without keys. */
  get matchesAlways(): boolean {
    return this.#always.length > 0
  }

  /** Calls `matched` once for each filter that the subject matches, by its place in the list. */
  match(subject: FilterSubject, matched: (n: number) => void): void {
    if (subject.lacks === 'body') return
    this.#marks.next()
    const found = (n: number) => this.#check(n, subject, matched)
    this.#always.forEach(found)
    this.#drawers.find(subject, found)
  }

  #check(n: number, subject: FilterSubject, matched: (n: number) => void): void {
    if (!this.#marks.isNew(n)) return
    const filter = this.#filters[n]
    if (filter && matchesFilter(filter, subject)) matched(n)
  }
}

interface Filed {
  n: number
  rule: Rule
}

/** Of each rule the one that is least common: all of them are filed once to see how common each is. */
function bestClauses(rules: Filed[]): { n: number; clause: Clause }[] {
  const everything = new FilterDrawers()
  for (const { n, rule } of rules) for (const clause of rule) everything.file(n, clause)
  return rules.flatMap(({ n, rule }) => {
    const clause = leastCommon(rule, everything)
    return clause ? [{ n, clause }] : []
  })
}

function leastCommon([first, ...others]: Rule, everything: FilterDrawers): Clause | undefined {
  if (!first || others.length === 0) return first
  let best = first
  let least = everything.cost(first)
  for (const clause of others) {
    const cost = everything.cost(clause)
    if (cost < least) [best, least] = [clause, cost]
  }
  return best
}
