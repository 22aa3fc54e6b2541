/**
 * Which of many indexes a message may match something in. It holds what their filters are filed under, each index under its
 * number, so that indexes come and go one by one: a topic of 100,000 filters would take most of a second to index anew
 * for every subscription that changes. Ranges of numbers are not told apart here.
 */
import type { Condition } from './conditions.ts'
import { FilterDrawers } from './filter-drawers.ts'
import type { FilterIndex } from './filter-index.ts'
import type { FilterSubject } from './filter-subject.ts'
import { Marks } from './marks.ts'
import type { Clause } from './read-filter.ts'

const ANY_VALUE: Condition = { op: 'exists', value: true }

export class FilterRouter {
  readonly #drawers = new FilterDrawers()
  readonly #always = new Set<number>()
  readonly #marks = new Marks(0)

  /** Under a number that is free. */
  add(n: number, index: FilterIndex): void {
    this.#marks.grow(n + 1)
    if (index.matchesAlways) this.#always.add(n)
    for (const clause of routes(index)) this.#drawers.file(n, clause)
  }

  /** The index that was added under this number. */
  remove(n: number, index: FilterIndex): void {
    this.#always.delete(n)
    for (const clause of routes(index)) this.#drawers.remove(n, clause)
  }

  /** Calls `found` once for each index that the subject may match something in. */
  find(subject: FilterSubject, found: (n: number) => void): void {
    if (subject.lacks === 'body') return
    this.#marks.next()
    const once = (n: number) => {
      if (this.#marks.isNew(n)) found(n)
    }
    this.#always.forEach(once)
    this.#drawers.find(subject, once)
  }
}

/** What an index is found by, each once. */
function routes({ clauses }: FilterIndex): Iterable<Clause> {
  const byPath = new Map<string, Map<string, Condition>>()
  for (const { path, conditions } of clauses) {
    const known = byPath.get(path) ?? new Map<string, Condition>()
    byPath.set(path, known)
    for (const condition of conditions) {
      const route = condition.op === 'numeric' ? ANY_VALUE : condition
      known.set(keyOf(route), route)
    }
  }
  return [...byPath].map(([path, known]) => ({ path, conditions: [...known.values()] }))
}

/** The same text for what is found by the same values. JSON has no text for numbers beyond its range. */
function keyOf(condition: Condition): string {
  return condition.op === 'number' ? `number ${condition.value}` : JSON.stringify(condition)
}
