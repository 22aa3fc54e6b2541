/** All drawers of an index, by the paths of their keys. */

import type { Condition } from '../conditions/condition.ts'
import { headOf } from '../filter-rules.ts'
import { type FilterSubject, leavesInSteps } from '../filter-subject.ts'
import type { MatchWork, Steps } from '../match-work.ts'
import { FilterDrawer } from './filter-drawer.ts'

/** The name that a clause is filed under: what it asks of the values of its key. */
export interface Label {
  path: string
  conditions: Iterable<Condition>
}

type Found = (n: number) => void

export class FilterDrawers {
  readonly #byPath = new Map<string, FilterDrawer>()
  /** By the first name of their paths: a key at the top of a message, up to its first dot, leads to them. */
  readonly #byHead = new Map<string, FilterDrawer[]>()
  /** Those with something that wants their key to be missing. */
  readonly #absences = new Set<FilterDrawer>()

  file(n: number, { path, conditions }: Label): void {
    const drawer = this.#byPath.get(path) ?? this.#open(path)
    for (const condition of conditions) drawer.file(n, condition)
    if (drawer.absent.length > 0) this.#absences.add(drawer)
  }

  /** Takes back what was filed; ranges cannot be. */
  remove(n: number, { path, conditions }: Label): void {
    const drawer = this.#byPath.get(path)
    if (!drawer) return
    for (const condition of conditions) drawer.remove(n, condition)
    if (drawer.absent.length === 0) this.#absences.delete(drawer)
    if (drawer.isEmpty) this.#close(drawer)
  }

  /** About how many the values that satisfy the clause bring up. */
  cost({ path, conditions }: Label): number {
    const drawer = this.#byPath.get(path)
    let sum = 0
    for (const condition of conditions) sum += drawer?.cost(condition) ?? 0
    return sum
  }

  /** Calls `found` for each filter that the subject may satisfy, for some more than once. Throws TooMuchWork. */
  find(subject: FilterSubject, found: Found, work: MatchWork): void {
    if (this.#byHead.size <= subject.names.length) {
      for (const drawer of this.#byPath.values()) look(drawer, subject, found, work)
    } else {
      for (const name of subject.names)
        for (const drawer of this.#byHead.get(headOf(name)) ?? []) look(drawer, subject, found, work)
    }
    for (const { path, absent } of this.#absences)
      if (subject.leavesAt(path, work).length === 0) absent.forEach(found)
  }

  /** The same in steps. A filter that is added or removed meanwhile may be found or not. */
  *findInSteps(subject: FilterSubject, found: Found): Steps<void> {
    const heads = new Set(subject.names.map(headOf))
    for (const [head, drawers] of this.#byHead) {
      if (heads.has(head)) for (const drawer of drawers) yield* lookInSteps(drawer, subject, found)
    }
    for (const { path, absent } of this.#absences) {
      if ((yield* leavesInSteps(subject, path)).length === 0) absent.forEach(found)
      yield absent.length
    }
  }

  #open(path: string): FilterDrawer {
    const drawer = new FilterDrawer(path)
    const head = headOf(path)
    this.#byPath.set(path, drawer)
    this.#byHead.set(head, [...(this.#byHead.get(head) ?? []), drawer])
    return drawer
  }

  #close(drawer: FilterDrawer): void {
    const head = headOf(drawer.path)
    const others = (this.#byHead.get(head) ?? []).filter((other) => other !== drawer)
    this.#byPath.delete(drawer.path)
    if (others.length > 0) this.#byHead.set(head, others)
    else this.#byHead.delete(head)
  }
}

function look(drawer: FilterDrawer, subject: FilterSubject, found: Found, work: MatchWork): void {
  const leaves = subject.leavesAt(drawer.path, work)
  if (leaves.length > 1) work.spend(leaves.length * drawer.steps)
  drawer.find(leaves, found)
}

function* lookInSteps(drawer: FilterDrawer, subject: FilterSubject, found: Found): Steps<void> {
  yield* drawer.findInSteps(yield* leavesInSteps(subject, drawer.path), found)
}
