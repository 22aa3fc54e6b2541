/** All drawers of an index, by the paths of their keys. */
import type { Condition } from '../conditions/condition.ts'
import { headOf } from '../filter-rules.ts'
import { type FilterSubject, leavesInSteps } from '../filter-subject.ts'
import type { MatchWork, Steps } from '../match-work.ts'
import { FilterDrawer } from './filter-drawer.ts'

/** The part of a clause under which a filter is filed: a path, and conditions for its values. */
export interface Label {
  path: string
  conditions: Iterable<Condition>
}

type Found = (n: number) => void

export class FilterDrawers {
  readonly #byPath = new Map<string, FilterDrawer>()
  /** Drawers by the first name of their paths. A key at the top of a message leads to them, up to its first dot. */
  readonly #byHead = new Map<string, FilterDrawer[]>()
  /** Drawers with filters that a missing key satisfies. */
  readonly #absences = new Set<FilterDrawer>()

  file(n: number, { path, conditions }: Label): void {
    const drawer = this.#byPath.get(path) ?? this.#open(path)
    for (const condition of conditions) drawer.file(n, condition)
    if (drawer.absent.length > 0) this.#absences.add(drawer)
  }

  /** Removes a filed filter. Filed ranges cannot be removed. */
  remove(n: number, { path, conditions }: Label): void {
    const drawer = this.#byPath.get(path)
    if (!drawer) return
    for (const condition of conditions) drawer.remove(n, condition)
    if (drawer.absent.length === 0) this.#absences.delete(drawer)
    if (drawer.isEmpty) this.#close(drawer)
  }

  /** Approximate number of filters that are found by values which satisfy the clause. */
  cost({ path, conditions }: Label): number {
    const drawer = this.#byPath.get(path)
    let sum = 0
    for (const condition of conditions) sum += drawer?.cost(condition) ?? 0
    return sum
  }

  /**
   * Calls `found` for each filter that the subject may match. It may call it several times for one filter. Throws
   * TooMuchWork.
   */
  find(subject: FilterSubject, found: Found, work: MatchWork): void {
    if (this.#byHead.size <= subject.heads.length) {
      for (const drawer of this.#byPath.values()) look(drawer, subject, found, work)
    } else {
      for (const name of subject.heads)
        for (const drawer of this.#byHead.get(headOf(name)) ?? []) look(drawer, subject, found, work)
    }
    for (const { path, absent } of this.#absences)
      if (subject.leavesAt(path, work).length === 0) absent.forEach(found)
  }

  /** Like `find`, in steps. A filter that is added or removed between two steps may be found or not. */
  *findInSteps(subject: FilterSubject, found: Found): Steps<void> {
    const heads = new Set(subject.heads.map(headOf))
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
