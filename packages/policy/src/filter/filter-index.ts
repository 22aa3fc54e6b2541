/**
 * Which of many filters a message matches, without asking each. A filter is filed under one clause of each of its rules, in
 * the drawer of that clause's key; only those that the message's values bring up are asked, and those that want a key
 * to be missing where it is. The clause is the one that will bring it up least: of the filters that share `type` and
 * differ in `tenant`, each is filed under its tenant.
 */
import { type CompiledFilter, matchesFilter } from './compiled-filter.ts'
import { FilterDrawer } from './filter-drawer.ts'
import type { FilterSubject } from './filter-subject.ts'
import type { Clause, Rule } from './read-filter.ts'

export class FilterIndex {
  readonly #filters: (CompiledFilter | null)[]
  readonly #drawers: Drawers
  /** By the first name of their paths: a key at the top of a message, up to its first dot, leads to them. */
  readonly #byHead: Map<string, FilterDrawer[]>
  /** Those with filters that want their key to be missing. */
  readonly #absences: FilterDrawer[]
  /** Of a policy without keys. */
  readonly #always: number[]
  readonly #seen: Uint32Array
  #round = 0

  /** All of one scope; null: nothing is kept back, and it is not among the answers. */
  constructor(filters: (CompiledFilter | null)[]) {
    this.#filters = filters
    this.#seen = new Uint32Array(filters.length)
    const rules = [...filters.entries()].flatMap(([n, filter]) =>
      (filter?.rules ?? []).map((rule) => ({ n, rule })),
    )
    this.#always = rules.filter(({ rule }) => rule.length === 0).map(({ n }) => n)
    this.#drawers = fileByBest(rules)
    const drawers = [...this.#drawers.values()]
    this.#byHead = Map.groupBy(drawers, ({ path }) => headOf(path))
    this.#absences = drawers.filter(({ absent }) => absent.length > 0)
  }

  /** Calls `matched` once for each filter that the subject matches, by its place in the list. */
  match(subject: FilterSubject, matched: (n: number) => void): void {
    if (subject.lacks === 'body') return
    this.#round++
    const found = (n: number) => this.#check(n, subject, matched)
    this.#always.forEach(found)
    if (this.#byHead.size <= subject.names.length) {
      for (const drawer of this.#drawers.values()) look(drawer, subject, found)
    } else {
      for (const name of subject.names)
        for (const drawer of this.#byHead.get(headOf(name)) ?? []) look(drawer, subject, found)
    }
    for (const { path, absent } of this.#absences)
      if (subject.leavesAt(path).length === 0) absent.forEach(found)
  }

  #check(n: number, subject: FilterSubject, matched: (n: number) => void): void {
    if (this.#seen[n] === this.#round) return
    this.#seen[n] = this.#round
    const filter = this.#filters[n]
    if (filter && matchesFilter(filter, subject)) matched(n)
  }
}

/** By path. */
type Drawers = Map<string, FilterDrawer>

interface Filed {
  n: number
  rule: Rule
}

/** First every clause is filed, which shows how common each is; then each rule under the one that is so least. */
function fileByBest(rules: Filed[]): Drawers {
  const everything: Drawers = new Map()
  for (const { n, rule } of rules) for (const clause of rule) file(everything, n, clause)
  const cost = ({ path, conditions }: Clause) =>
    conditions.reduce((sum, condition) => sum + (everything.get(path)?.cost(condition) ?? 0), 0)
  const drawers: Drawers = new Map()
  for (const { n, rule } of rules) {
    const [first, ...others] = rule
    if (!first) continue
    let best = first
    let least = others.length > 0 ? cost(first) : 0
    for (const clause of others) {
      const each = cost(clause)
      if (each < least) [best, least] = [clause, each]
    }
    file(drawers, n, best)
  }
  return drawers
}

function file(drawers: Drawers, n: number, { path, conditions }: Clause): void {
  const drawer = drawers.get(path) ?? new FilterDrawer(path)
  drawers.set(path, drawer)
  for (const condition of conditions) drawer.file(n, condition)
}

function look(drawer: FilterDrawer, subject: FilterSubject, found: (n: number) => void): void {
  for (const leaf of subject.leavesAt(drawer.path)) drawer.find(leaf, found)
}

/** A key of a body may hold dots of its own, and stand for the first names of a path. */
function headOf(path: string): string {
  const dot = path.indexOf('.')
  return dot < 0 ? path : path.slice(0, dot)
}
