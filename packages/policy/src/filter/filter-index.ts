/**
 * Which of many filters a message matches, without asking each. A filter is filed under one clause of each of its rules, in
 * the drawer of that clause's key; only those that the message's values bring up are asked, and those that want a key
 * to be missing where it is. The clause is the one that will bring it up least: of the filters that share `type` and
 * differ in `tenant`, each is filed under its tenant.
 */
import { asksForAbsence, type CompiledFilter, matchesFilter } from './compiled-filter.ts'
import { FilterDrawer } from './filter-drawer.ts'
import type { FilterSubject } from './filter-subject.ts'
import type { Clause, Rule } from './read-filter.ts'

export class FilterIndex {
  readonly #filters: (CompiledFilter | null)[]
  readonly #drawers = new Map<string, FilterDrawer>()
  /** By the first name of their paths: a key at the top of a message, up to its first dot, leads to them. */
  readonly #byHead = new Map<string, FilterDrawer[]>()
  /** Those with filters that want their key to be missing. */
  readonly #absences: FilterDrawer[] = []
  /** Of a policy without keys. */
  readonly #always: number[] = []
  readonly #seen: Uint32Array
  #round = 0

  /** All of one scope; null: nothing is kept back, and it is not among the answers. */
  constructor(filters: (CompiledFilter | null)[]) {
    this.#filters = filters
    this.#seen = new Uint32Array(filters.length)
    for (const [n, filter] of filters.entries()) for (const rule of filter?.rules ?? []) this.#file(n, rule)
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

  #file(n: number, rule: Rule): void {
    const [first, ...others] = rule
    if (!first) {
      this.#always.push(n)
      return
    }
    let best = first
    let least = this.#cost(first)
    for (const clause of others) {
      const cost = this.#cost(clause)
      if (cost < least) [best, least] = [clause, cost]
    }
    const drawer = this.#drawerOf(best.path)
    if (best.conditions.some(asksForAbsence) && drawer.absent.length === 0) this.#absences.push(drawer)
    for (const condition of best.conditions) drawer.file(n, condition)
  }

  #cost({ path, conditions }: Clause): number {
    const drawer = this.#drawers.get(path) ?? NO_DRAWER
    return conditions.reduce((sum, condition) => sum + drawer.cost(condition), 0)
  }

  #drawerOf(path: string): FilterDrawer {
    const known = this.#drawers.get(path)
    if (known) return known
    const drawer = new FilterDrawer(path)
    this.#drawers.set(path, drawer)
    const head = headOf(path)
    const beside = this.#byHead.get(head)
    if (beside) beside.push(drawer)
    else this.#byHead.set(head, [drawer])
    return drawer
  }
}

const NO_DRAWER = new FilterDrawer('')

function look(drawer: FilterDrawer, subject: FilterSubject, found: (n: number) => void): void {
  for (const leaf of subject.leavesAt(drawer.path)) drawer.find(leaf, found)
}

/** A key of a body may hold dots of its own, and stand for the first names of a path. */
function headOf(path: string): string {
  const dot = path.indexOf('.')
  return dot < 0 ? path : path.slice(0, dot)
}
