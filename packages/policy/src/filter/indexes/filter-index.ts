/**
 * Finds which of many filters a message matches, without checking each. Every rule of a filter is filed under one of
 * its clauses, in the drawer of that clause's key. The values of the message lead to filters, and only these are
 * checked. A filter that requires a key to be missing is checked if the message lacks that key.
 *
 * The rule's rarest clause is used. If filters share `type` and differ in `tenant`, each is filed under its tenant.
 */
import { type CompiledFilter, matchesFilter } from '../compiled-filter.ts'
import type { Clause, Rule } from '../filter-rules.ts'
import type { FilterSubject } from '../filter-subject.ts'
import { MatchInSteps } from '../match-in-steps.ts'
import { ANY_WORK, inOneGo, type MatchWork, type Steps } from '../match-work.ts'
import { FilterDrawers, type Label } from './filter-drawers.ts'

const ROUNDS = 2 ** 32

/** A set of numbers from 0 for one round. Clearing it takes constant time. */
export class Visited {
  #rounds: Uint32Array
  #round: number

  /** `round`: number of the round before the first one. */
  constructor(size: number, round = 0) {
    this.#rounds = new Uint32Array(size)
    this.#round = round
  }

  next(): void {
    this.#round++
    if (this.#round < ROUNDS) return
    // The round number has overflowed, which takes two days at 30,000 rounds a second. Older entries are then
    // meaningless.
    this.#rounds.fill(0)
    this.#round = 1
  }

  /** Adds a number. True if it was not there before in this round. */
  isNew(n: number): boolean {
    if (this.#rounds[n] === this.#round) return false
    this.#rounds[n] = this.#round
    return true
  }

  /** Grows to hold numbers below `size`. */
  grow(size: number): void {
    if (size <= this.#rounds.length) return
    const before = this.#rounds
    this.#rounds = new Uint32Array(Math.max(size, 2 * before.length))
    this.#rounds.set(before)
  }
}

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
  readonly #visited: Visited

  private constructor(filters: (CompiledFilter | null)[]) {
    this.#filters = filters
    this.#visited = new Visited(filters.length)
  }

  /**
   * All filters must have the same scope. null stands for a subscription without a filter. It is not among the results.
   */
  static of(filters: (CompiledFilter | null)[]): FilterIndex {
    return inOneGo(FilterIndex.inSteps(filters)).value
  }

  /** The same in steps. */
  static *inSteps(filters: (CompiledFilter | null)[]): Steps<FilterIndex> {
    const index = new FilterIndex(filters)
    yield* index.#file()
    return index
  }

  /** Whether some filter has a rule without keys. */
  get matchesAlways(): boolean {
    return this.#always.length > 0
  }

  /**
   * Calls `matched` once for each filter that the subject matches, with its position in the list. Throws TooMuchWork if
   * this takes more steps than `work` allows. The calls made before are then not the whole result.
   */
  match(subject: FilterSubject, matched: (n: number) => void, work: MatchWork = ANY_WORK): void {
    if (subject.lacks === 'body') return
    this.#visited.next()
    const found = (n: number) => {
      work.spend(1)
      this.#check(n, subject, matched, work)
    }
    this.#always.forEach(found)
    this.#drawers.find(subject, found, work)
  }

  /**
   * Like `match`, in steps, without a bound on their number. Between two steps the index may be used for other
   * messages.
   */
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
    if (!this.#visited.isNew(n)) return
    const filter = this.#filters[n]
    if (filter && matchesFilter(filter, subject, work)) matched(n)
  }
}

function labelOf({ path, list }: Clause): Label {
  return { path, conditions: list.conditions }
}

/** Steps to file a condition, or to look up how common it is. 100 to 250 ns were measured. */
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
