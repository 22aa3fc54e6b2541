/**
 * Finds which of many indexes may match a message. It files each index under that index's clauses. Indexes are added
 * and removed one by one: after a change of one subscription, indexing a topic of 100,000 filters again would take most
 * of a second. The router does not distinguish ranges of numbers.
 */
import type { Condition } from '../conditions/condition.ts'
import type { FilterSubject } from '../filter-subject.ts'
import { ANY_WORK, type MatchWork, type Steps } from '../match-work.ts'
import { FilterDrawers, type Label } from './filter-drawers.ts'
import { type FilterIndex, Visited } from './filter-index.ts'

const ANY_VALUE: Condition = { op: 'exists', value: true }
/** The router does not distinguish values for these operators. */
const BY_ANY_VALUE: ReadonlySet<Condition['op']> = new Set(['numeric', 'anything-but', 'anything-but-any'])

export class FilterRouter {
  readonly #drawers = new FilterDrawers()
  readonly #always = new Set<number>()
  readonly #visited = new Visited(0)

  /** Adds an index under a number that is not in use. */
  add(n: number, index: FilterIndex): void {
    this.#visited.grow(n + 1)
    if (index.matchesAlways) this.#always.add(n)
    for (const clause of routes(index)) this.#drawers.file(n, clause)
  }

  /** Removes the index that was added under this number. */
  remove(n: number, index: FilterIndex): void {
    this.#always.delete(n)
    for (const clause of routes(index)) this.#drawers.remove(n, clause)
  }

  /** Calls `found` once for each index in which the subject may match a filter. Throws TooMuchWork. */
  find(subject: FilterSubject, found: (n: number) => void, work: MatchWork = ANY_WORK): void {
    if (subject.lacks === 'body') return
    this.#visited.next()
    const once = (n: number) => {
      work.spend(1)
      if (this.#visited.isNew(n)) found(n)
    }
    this.#always.forEach(once)
    this.#drawers.find(subject, once, work)
  }

  /** Like `find`, in steps. An index that is added or removed between two steps may be found or not. */
  *findInSteps(subject: FilterSubject): Steps<Set<number>> {
    if (subject.lacks === 'body') return new Set()
    const found = new Set(this.#always)
    yield* this.#drawers.findInSteps(subject, (n) => found.add(n))
    return found
  }
}

/** The labels under which an index is found, each once. */
function routes({ clauses }: FilterIndex): Iterable<Label> {
  const byPath = new Map<string, Map<string, Condition>>()
  for (const { path, list } of clauses) {
    const known = byPath.get(path) ?? new Map<string, Condition>()
    byPath.set(path, known)
    for (const condition of list.conditions) {
      const route = BY_ANY_VALUE.has(condition.op) ? ANY_VALUE : condition
      known.set(keyOf(route), route)
    }
  }
  return [...byPath].map(([path, known]) => ({ path, conditions: [...known.values()] }))
}

/** Conditions that the same values satisfy have the same text. JSON has no text for numbers beyond its range. */
function keyOf(condition: Condition): string {
  return condition.op === 'number' ? `number ${condition.value}` : JSON.stringify(condition)
}
