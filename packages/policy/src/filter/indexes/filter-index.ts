/**
 * Which of many filters a message matches, without asking each. A filter is filed under one clause of each of its
 * rules, in the drawer of that clause's key; only those that the message's values bring up are asked, and those that
 * want a key to be missing where it is. The clause is the one that will bring it up least: of the filters that share
 * `type` and differ in `tenant`, each is filed under its tenant.
 */
import { type CompiledFilter, matchesFilter } from '../compiled-filter.ts'
import type { Clause, Rule } from '../filter-rules.ts'
import type { FilterSubject } from '../filter-subject.ts'
import { MatchInSteps } from '../match-in-steps.ts'
import { ANY_WORK, inOneGo, type MatchWork, type Steps } from '../match-work.ts'
import { FilterDrawers, type Label } from './filter-drawers.ts'
import { Marks } from './marks.ts'

export class FilterIndex {
  /**
   * The clauses that filters are filed under. A message that satisfies none of them matches no filter, unless
   * `matchesAlways`.
   */
  clauses: readonly Clause[] = []
  readonly #filters: (CompiledFilter | null)[]
  readonly #drawers = new FilterDrawers()
  /** Filters of policies without keys. */
  readonly #always: number[] = []
  readonly #marks: Marks

  private constructor(filters: (CompiledFilter | null)[]) {
    this.#filters = filters
    this.#marks = new Marks(filters.length)
  }

  /** All of one scope; null: nothing is kept back, and it is not among the answers. */
  static of(filters: (CompiledFilter | null)[]): FilterIndex {
    return inOneGo(FilterIndex.inSteps(filters)).value
  }

  /** The same in steps. */
  static *inSteps(filters: (CompiledFilter | null)[]): Steps<FilterIndex> {
    const index = new FilterIndex(filters)
    yield* index.#file()
    return index
  }

  /** Some filter has a rule without keys. */
  get matchesAlways(): boolean {
    return this.#always.length > 0
  }

  /**
   * Calls `matched` once for each filter that the subject matches, by its place in the list. Throws TooMuchWork where
   * that would take more than there is: what it has called for by then says nothing.
   */
  match(subject: FilterSubject, matched: (n: number) => void, work: MatchWork = ANY_WORK): void {
    if (subject.lacks === 'body') return
    this.#marks.next()
    const found = (n: number) => {
      work.spend(1)
      this.#check(n, subject, matched, work)
    }
    this.#always.forEach(found)
    this.#drawers.find(subject, found, work)
  }

  /** The same in steps, however many these are; between two of them the index may be asked for other messages. */
  *matchInSteps(subject: FilterSubject, matched: (n: number) => void): Steps<void> {
    if (subject.lacks === 'body') return
    const found = new Set(this.#always)
    yield* this.#drawers.findInSteps(subject, (n) => found.add(n))
    const steps = new MatchInSteps(subject)
    for (const n of found) {
      const filter = this.#filters[n]
      if (filter && (yield* steps.matches(filter))) matched(n)
    }
  }

  /** All clauses are filed once, to see how common each is. Then each rule is filed under its least common clause. */
  *#file(): Steps<void> {
    const everything = new FilterDrawers()
    for (const { n, rule } of this.#rules()) {
      for (const clause of rule) everything.file(n, labelOf(clause))
      yield filingSteps(rule)
    }
    const best = new Set<Clause>()
    for (const { n, rule } of this.#rules()) {
      const clause = leastCommon(rule, everything)
      if (!clause) this.#always.push(n)
      else {
        this.#drawers.file(n, labelOf(clause))
        best.add(clause)
      }
      yield filingSteps(rule)
    }
    this.clauses = [...best]
  }

  *#rules(): Generator<{ n: number; rule: Rule }> {
    for (const [n, filter] of this.#filters.entries())
      for (const rule of filter?.rules ?? []) yield { n, rule }
  }

  #check(n: number, subject: FilterSubject, matched: (n: number) => void, work: MatchWork): void {
    if (!this.#marks.isNew(n)) return
    const filter = this.#filters[n]
    if (filter && matchesFilter(filter, subject, work)) matched(n)
  }
}

function labelOf({ path, list }: Clause): Label {
  return { path, conditions: list.conditions }
}

/** To file a condition, or to look up how common it is: 100 to 250 ns were measured. */
const FILING_STEPS = 10

function filingSteps(rule: Rule): number {
  return FILING_STEPS * rule.reduce((sum, { list }) => sum + list.conditions.length, 1)
}

/** undefined: the rule has no clauses. */
function leastCommon([first, ...others]: Rule, everything: FilterDrawers): Clause | undefined {
  if (!first || others.length === 0) return first
  let best = first
  let least = everything.cost(labelOf(first))
  for (const clause of others) {
    const cost = everything.cost(labelOf(clause))
    if (cost < least) [best, least] = [clause, cost]
  }
  return best
}
