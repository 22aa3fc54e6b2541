/**
 * The leaves of a JSON body under a dotted path: `a.b` is `{"a":{"b":…}}` and `{"a.b":…}` (sns-semantics §3.7). Arrays are
 * passed through, those within arrays too. A leaf below an element of an array knows that element: where two clauses
 * look under one array of objects, both must hold in the same element (array-consistency.ts).
 */
import type { Candidate, Scalar } from './conditions.ts'

export type BodyValue = Scalar | BodyValue[] | { [key: string]: BodyValue }

/** An element of an array that is itself an object or an array, and the element that the array lies in. */
export interface Place {
  element: object
  array: object
  up: Place | undefined
}

export interface Leaf extends Candidate {
  /** undefined outside of arrays. A value that stands in an array itself has the place of that array. */
  place?: Place | undefined
}

/** Arrays in arrays are followed down to here; whoever nests deeper means no filter. */
const DEPTH_MAX = 200

export function bodyLeaves(body: { [key: string]: BodyValue }, path: string): Leaf[] {
  const search = new Search(path)
  search.object(body, 0, TOP)
  return search.leaves
}

interface Within {
  place: Place | undefined
  /** Of arrays. */
  depth: number
}

/** What the path goes on with: a key, and where it goes on behind it. */
interface Step {
  key: string
  next: number
}

const TOP: Within = { place: undefined, depth: 0 }

class Search {
  readonly leaves: Leaf[] = []
  readonly #path: string
  /** By where in the path: found once, asked for every element of an array. */
  readonly #steps: (readonly Step[] | undefined)[] = []

  constructor(path: string) {
    this.#path = path
  }

  object(object: { [key: string]: BodyValue }, from: number, within: Within): void {
    for (const { key, next } of this.#stepsFrom(from)) {
      if (Object.hasOwn(object, key)) this.#value(object[key] as BodyValue, next, within)
    }
  }

  /** `from` beyond the path's end: a leaf is wanted. */
  #value(value: BodyValue, from: number, within: Within): void {
    if (typeof value !== 'object' || value === null) {
      if (from > this.#path.length) this.leaves.push({ value, place: within.place })
    } else if (Array.isArray(value)) {
      if (within.depth < DEPTH_MAX) this.#array(value, from, within)
    } else if (from <= this.#path.length) {
      this.object(value, from, within)
    }
  }

  #array(array: BodyValue[], from: number, { place, depth }: Within): void {
    const here = { place, depth: depth + 1 }
    for (const element of array) {
      const isScalar = typeof element !== 'object' || element === null
      const within = isScalar ? here : { place: { element, array, up: place }, depth: depth + 1 }
      this.#value(element, from, within)
    }
  }

  /** A key may hold dots of its own: every piece of the path up to a dot may be one. */
  #stepsFrom(from: number): readonly Step[] {
    const known = this.#steps[from]
    if (known) return known
    const steps: Step[] = []
    for (let end = from; end <= this.#path.length; end++) {
      const dot = this.#path.indexOf('.', end)
      end = dot < 0 ? this.#path.length : dot
      steps.push({ key: this.#path.slice(from, end), next: end + 1 })
    }
    this.#steps[from] = steps
    return steps
  }
}
