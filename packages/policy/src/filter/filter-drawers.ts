/** All drawers of an index, by the paths of their keys. */
import { FilterDrawer } from './filter-drawer.ts'
import type { FilterSubject } from './filter-subject.ts'
import type { Clause } from './read-filter.ts'

export class FilterDrawers {
  readonly #byPath = new Map<string, FilterDrawer>()
  /** By the first name of their paths: a key at the top of a message, up to its first dot, leads to them. */
  readonly #byHead = new Map<string, FilterDrawer[]>()
  /** Those with something that wants their key to be missing. */
  readonly #absences = new Set<FilterDrawer>()

  file(n: number, { path, conditions }: Clause): void {
    const drawer = this.#byPath.get(path) ?? this.#open(path)
    for (const condition of conditions) drawer.file(n, condition)
    if (drawer.absent.length > 0) this.#absences.add(drawer)
  }

  /** Takes back what was filed; ranges cannot be. */
  remove(n: number, { path, conditions }: Clause): void {
    const drawer = this.#byPath.get(path)
    if (!drawer) return
    for (const condition of conditions) drawer.remove(n, condition)
    if (drawer.absent.length === 0) this.#absences.delete(drawer)
    if (drawer.isEmpty) this.#close(drawer)
  }

  /** About how many the values that satisfy the clause bring up. */
  cost({ path, conditions }: Clause): number {
    const drawer = this.#byPath.get(path)
    return conditions.reduce((sum, condition) => sum + (drawer?.cost(condition) ?? 0), 0)
  }

  /** Calls `found` for whatever the subject may satisfy; for some more than once. */
  find(subject: FilterSubject, found: (n: number) => void): void {
    if (this.#byHead.size <= subject.names.length) {
      for (const drawer of this.#byPath.values()) look(drawer, subject, found)
    } else {
      for (const name of subject.names)
        for (const drawer of this.#byHead.get(headOf(name)) ?? []) look(drawer, subject, found)
    }
    for (const { path, absent } of this.#absences)
      if (subject.leavesAt(path).length === 0) absent.forEach(found)
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

function look(drawer: FilterDrawer, subject: FilterSubject, found: (n: number) => void): void {
  for (const leaf of subject.leavesAt(drawer.path)) drawer.find(leaf, found)
}

/** A key of a body may hold dots of its own, and stand for the first names of a path. */
function headOf(path: string): string {
  const dot = path.indexOf('.')
  return dot < 0 ? path : path.slice(0, dot)
}
