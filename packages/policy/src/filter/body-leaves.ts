/**
 * The leaves of a JSON body under a dotted path: `a.b` means `{"a":{"b":…}}` and `{"a.b":…}` (checklist 89). A path
 * passes through arrays, also through nested ones. A leaf below an element of an array knows that element. If two
 * clauses look below one array of objects, both must hold in the same element (array-consistency.ts).
 *
 * Each value of the body is visited once, because different divisions of the path lead to different values. Names of
 * the path are looked up in an object only if the object has more names than the path.
 */
import type { Candidate, Scalar } from './conditions/condition.ts'

export type BodyValue = Scalar | BodyValue[] | { [key: string]: BodyValue }

/** An element of an array that is an object or an array, and the element around that array. */
export interface Place {
  element: object
  array: object
  up: Place | undefined
  /** Its number in the message's PlaceTree. Undefined until array-consistency.ts needs it. */
  number: number | undefined
}

export interface Leaf extends Candidate {
  /**
   * The element that the leaf lies in. undefined: it lies in no array. A scalar that is itself an item of an array has
   * the place of that array.
   */
  place?: Place | undefined
}

/**
 * Deeper arrays do not occur in practice.
 * @limit Arrays in arrays that a filter follows. Past it: values further down match nothing.
 */
const ARRAY_DEPTH_MAX = 200
/**
 * Length of an array whose values are looked at each. Past it: equal ones are looked at once. Equal values satisfy the
 * same filters. In a longer array each distinct value is therefore checked only once.
 */
const REPEATED_MAX = 16
/**
 * Different values of an array that are recognised as repeated. Past it: further ones are looked at each. Few bodies
 * are large enough for more distinct values.
 */
const KNOWN_MAX = 4_096
/**
 * Names of a path's next step that are looked up one by one. Past it: the object's own names are read instead. Looking
 * up a few names is faster than reading all names of the object.
 */
const NAMES_MAX = 4

/** `visited`: how many values of the body were visited. */
export function bodyLeaves(
  body: { [key: string]: BodyValue },
  path: string,
): { leaves: Leaf[]; visited: number } {
  const search = new Search(path)
  search.object(body, 0, undefined, 0)
  return search
}

/** The scalars of a list. In a long list each distinct value occurs once. */
export function distinct(values: readonly Scalar[]): Iterable<Scalar> {
  return values.length > REPEATED_MAX ? new Set(values) : values
}

/** The next step of a path: a key, and the position after it. */
interface Step {
  key: string
  next: number
}

class Search {
  readonly leaves: Leaf[] = []
  visited = 0
  readonly #path: string
  /** The steps from each position in the path. They are found once, and used for every element of an array. */
  readonly #steps: (readonly Step[] | undefined)[] = []

  constructor(path: string) {
    this.#path = path
  }

  object(object: { [key: string]: BodyValue }, from: number, place: Place | undefined, depth: number): void {
    const steps = this.#stepsFrom(from)
    this.visited++
    if (steps.length > NAMES_MAX && this.#byOwnNames(object, from, place, depth, steps.length)) return
    for (const { key, next } of steps) {
      if (Object.hasOwn(object, key)) this.#value(object[key] as BodyValue, next, place, depth)
    }
  }

  /** Returns false if the object has more names than `most`. Then no value was visited. */
  #byOwnNames(
    object: { [key: string]: BodyValue },
    from: number,
    place: Place | undefined,
    depth: number,
    most: number,
  ): boolean {
    const names = Object.keys(object)
    this.visited += names.length
    if (names.length > most) return false
    for (const name of names) {
      const end = from + name.length
      const ends = end === this.#path.length || this.#path[end] === '.'
      if (ends && this.#path.startsWith(name, from))
        this.#value(object[name] as BodyValue, end + 1, place, depth)
    }
    return true
  }

  /** If `from` is beyond the path's end, the value itself is wanted. */
  #value(value: BodyValue, from: number, place: Place | undefined, depth: number): void {
    if (typeof value !== 'object' || value === null) {
      if (from > this.#path.length) this.leaves.push({ value, place })
    } else if (Array.isArray(value)) {
      if (depth < ARRAY_DEPTH_MAX) this.#array(value, from, place, depth + 1)
    } else if (from <= this.#path.length) {
      this.object(value, from, place, depth)
    }
  }

  #array(array: BodyValue[], from: number, place: Place | undefined, depth: number): void {
    this.visited += array.length
    const wantsLeaves = from > this.#path.length
    const seen = wantsLeaves && array.length > REPEATED_MAX ? new Set<Scalar>() : undefined
    for (const element of array) {
      if (typeof element === 'object' && element !== null) {
        const isMissed = wantsLeaves && !Array.isArray(element)
        if (!isMissed) this.#value(element, from, { element, array, up: place, number: undefined }, depth)
      } else if (wantsLeaves && !isRepeated(element, seen)) {
        this.leaves.push({ value: element, place })
      }
    }
  }

  /** A key may itself contain dots, so every piece of the path up to a dot may be one key. */
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

function isRepeated(value: Scalar, seen: Set<Scalar> | undefined): boolean {
  if (!seen) return false
  if (seen.has(value)) return true
  if (seen.size < KNOWN_MAX) seen.add(value)
  return false
}
