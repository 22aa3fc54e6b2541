/**
 * Which of many filters a message matches, without asking each: a filter is filed under the values of one of its keys, the
 * one with the fewest alternatives, and only those filed under what the message says are looked at. Filters of whose rules
 * one has no key to be filed under (suffixes, wildcards, ranges, negations, absence) are looked at always.
 */

import { type CompiledFilter, matchesFilter } from './compiled-filter.ts'
import type { Condition } from './conditions.ts'
import type { FilterSubject, Leaf } from './filter-subject.ts'
import type { Clause, Rule } from './read-filter.ts'

/** Filters, by their place in the list, under what one key can say. */
interface Drawer {
  exact: Map<string | number | boolean | null, number[]>
  /** In lower case. */
  ignoringCase: Map<string, number[]>
  /** Length → prefix → filters. */
  prefixes: Map<number, Map<string, number[]>>
  present: number[]
}

export class FilterIndex {
  readonly #filters: (CompiledFilter | null)[]
  readonly #drawers = new Map<string, Drawer>()
  readonly #always: number[] = []
  readonly #seen: Uint32Array
  #round = 0

  /** All of one scope; null: nothing is kept back, and it is not among the answers. */
  constructor(filters: (CompiledFilter | null)[]) {
    this.#filters = filters
    this.#seen = new Uint32Array(filters.length)
    for (const [n, filter] of filters.entries()) if (filter) this.#file(n, filter)
  }

  /** Calls `matched` once for each filter that the subject matches, by its place in the list. */
  match(subject: FilterSubject, matched: (n: number) => void): void {
    if (subject.lacks === 'body') return
    this.#round++
    for (const n of this.#always) this.#check(n, subject, matched)
    const [fewer, other] =
      subject.leaves.size < this.#drawers.size
        ? [subject.leaves, this.#drawers]
        : [this.#drawers, subject.leaves]
    for (const path of fewer.keys()) {
      if (!other.has(path)) continue
      const drawer = this.#drawers.get(path)
      const leaves = subject.leaves.get(path)
      if (!drawer || !leaves) continue
      for (const n of drawer.present) this.#check(n, subject, matched)
      for (const leaf of leaves) this.#look(drawer, leaf, (n) => this.#check(n, subject, matched))
    }
  }

  #look(drawer: Drawer, { value, text }: Leaf, found: (n: number) => void): void {
    drawer.exact.get(value)?.forEach(found)
    if (text !== undefined) drawer.exact.get(text)?.forEach(found)
    if (typeof value !== 'string') return
    if (drawer.ignoringCase.size > 0) drawer.ignoringCase.get(value.toLowerCase())?.forEach(found)
    for (const [length, prefixes] of drawer.prefixes) {
      if (length <= value.length) prefixes.get(value.slice(0, length))?.forEach(found)
    }
  }

  #check(n: number, subject: FilterSubject, matched: (n: number) => void): void {
    if (this.#seen[n] === this.#round) return
    this.#seen[n] = this.#round
    const filter = this.#filters[n]
    if (filter && matchesFilter(filter, subject)) matched(n)
  }

  #file(n: number, filter: CompiledFilter): void {
    const clauses = filter.rules.map(bestClause)
    if (clauses.some((clause) => clause === undefined)) {
      this.#always.push(n)
      return
    }
    for (const clause of clauses) if (clause) this.#fileUnder(n, clause)
  }

  #fileUnder(n: number, { path, conditions }: Clause): void {
    let drawer = this.#drawers.get(path)
    if (!drawer) {
      drawer = { exact: new Map(), ignoringCase: new Map(), prefixes: new Map(), present: [] }
      this.#drawers.set(path, drawer)
    }
    for (const condition of conditions) fileCondition(drawer, condition, n)
  }
}

function fileCondition(drawer: Drawer, condition: Condition, n: number): void {
  switch (condition.op) {
    case 'string':
    case 'number':
    case 'literal':
      push(drawer.exact, condition.value, n)
      break
    case 'equals-ignore-case':
      push(drawer.ignoringCase, condition.value, n)
      break
    case 'prefix': {
      const { length } = condition.value
      const prefixes = drawer.prefixes.get(length) ?? new Map<string, number[]>()
      drawer.prefixes.set(length, prefixes)
      push(prefixes, condition.value, n)
      break
    }
    default:
      drawer.present.push(n)
  }
}

function push<K>(lists: Map<K, number[]>, key: K, n: number): void {
  const list = lists.get(key)
  if (list) list.push(n)
  else lists.set(key, [n])
}

/** The clause by which a rule is filed: the fewest alternatives, a mere presence last. */
function bestClause(rule: Rule): Clause | undefined {
  const fit = rule.filter(({ conditions }) => conditions.every(isFiled))
  const cost = ({ conditions }: Clause) =>
    conditions.length + (conditions.some(({ op }) => op === 'exists') ? 1_000 : 0)
  return fit.sort((a, b) => cost(a) - cost(b))[0]
}

/** Another spelling of an address is found by looking only. */
function isFiled(condition: Condition): boolean {
  switch (condition.op) {
    case 'string':
      return condition.address === undefined
    case 'prefix':
      return !condition.ignoreCase
    case 'exists':
      return condition.value
    default:
      return condition.op === 'number' || condition.op === 'literal' || condition.op === 'equals-ignore-case'
  }
}
