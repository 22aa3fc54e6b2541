/**
 * Array consistency (checklist 90). Each clause of a rule has leaves that satisfy it. Can one leaf of each clause be
 * chosen so that any two leaves below the same array lie in the same element?
 *
 * Elements form a tree: an array lies in an element of the array around it. Each element gets the sets of clauses that
 * can hold within it, as bit masks. These are computed from the bottom up. An element's own clauses are joined with a
 * set of one element of each array in it.
 *
 * The work grows linearly with the number of leaves. Trying combinations of leaves would be quadratic: a 256 KB array
 * would keep a worker busy for seconds.
 */
import type { Leaf, Place } from './body-leaves.ts'
import type { Steps } from './match-work.ts'

const ROOT = 0
const BITS = 32
/** How many leaves or elements are handled between two yields. */
const AT_ONCE = 1_024
/** Steps to add an element to the tree, which takes about 100 ns. */
const ADDING_STEPS = 4

/** The elements of a body in which satisfying leaves lie. All filters of a message use the same tree. */
export class PlaceTree {
  readonly #elements = new Map<object, number>()
  readonly #arrays = new Map<object, number>()
  /** For each element, the array that it lies in. An element comes after the elements around it. */
  readonly arrayOf: number[] = [-1]
  /** For each element, the arrays in it. */
  readonly arraysIn: (number[] | undefined)[] = [undefined]

  get arrays(): number {
    return this.#arrays.size
  }

  elementOf(place: Place | undefined): number {
    if (!place) return ROOT
    place.number ??= this.#elements.get(place.element) ?? this.#add(place)
    return place.number
  }

  #add({ element, array, up }: Place): number {
    const parent = this.elementOf(up)
    let within = this.#arrays.get(array)
    if (within === undefined) {
      within = this.#arrays.size
      this.#arrays.set(array, within)
      const others = this.arraysIn[parent]
      if (others) others.push(within)
      else this.arraysIn[parent] = [within]
    }
    const number = this.arrayOf.push(within) - 1
    this.arraysIn.push(undefined)
    this.#elements.set(element, number)
    return number
  }
}

/**
 * `clauses`: for each clause, the leaves that satisfy it. All these leaves are inside arrays. The number of clauses is
 * so small that each has one bit of a number.
 */
export function* areConsistent(clauses: readonly (readonly Leaf[])[], tree: PlaceTree): Steps<boolean> {
  const all = 2 ** clauses.length - 1
  // All elements must be in the tree before the list below is made, because it has one item per element.
  for (const leaves of clauses) yield* place(leaves, tree)
  const own = new Uint16Array(tree.arrayOf.length)
  for (const [n, leaves] of clauses.entries()) {
    for (let i = 0; i < leaves.length; i++) {
      const element = tree.elementOf(leaves[i]?.place)
      own[element] = (own[element] as number) | (1 << n)
      if (own[element] === all) return true
      if (i % AT_ONCE === 0) yield AT_ONCE
    }
  }
  const inside = new MaskSets(tree.arrays, clauses.length)
  for (let element = own.length - 1; element > ROOT; element--) {
    if (element % AT_ONCE === 0) yield AT_ONCE
    const array = tree.arrayOf[element] as number
    const arrays = tree.arraysIn[element]
    if (!arrays) inside.add(array, own[element] as number)
    else if (arrays.length === 1 && own[element] === 0) inside.addAll(array, arrays[0] as number)
    else for (const mask of masksOf(own[element] as number, arrays, inside)) inside.add(array, mask)
  }
  const arrays = tree.arraysIn[ROOT] ?? []
  return masksOf(own[ROOT] as number, arrays, inside).has(all)
}

/** Adds the elements that the leaves lie in. One leaf may lie in many elements that are new. */
function* place(leaves: readonly Leaf[], tree: PlaceTree): Steps<void> {
  let known = tree.arrayOf.length
  for (let i = 0; i < leaves.length; i++) {
    tree.elementOf(leaves[i]?.place)
    const added = tree.arrayOf.length - known
    if (i % AT_ONCE !== 0 && added < AT_ONCE) continue
    yield AT_ONCE + added * ADDING_STEPS
    known += added
  }
}

/** All sets of clauses that can hold in one element at the same time. */
function masksOf(own: number, arrays: readonly number[], inside: MaskSets): Set<number> {
  let masks = new Set([own])
  for (const array of arrays) {
    const joined = new Set(masks)
    for (const other of inside.of(array)) for (const mask of masks) joined.add(mask | other)
    masks = joined
  }
  return masks
}

/** For each array, the sets of clauses that can hold in one of its elements: one bit for each set. */
class MaskSets {
  readonly #words: number
  readonly #bits: Uint32Array

  constructor(arrays: number, clauses: number) {
    this.#words = Math.max(1, 2 ** clauses / BITS)
    this.#bits = new Uint32Array(arrays * this.#words)
  }

  /** The empty set says nothing. */
  add(array: number, mask: number): void {
    if (mask === 0) return
    const word = array * this.#words + (mask >> 5)
    this.#bits[word] = (this.#bits[word] as number) | (1 << (mask & 31))
  }

  /** Adds all sets of the array `other`, which lies in one element of this array. */
  addAll(array: number, other: number): void {
    for (let n = 0; n < this.#words; n++) {
      const word = array * this.#words + n
      this.#bits[word] = (this.#bits[word] as number) | (this.#bits[other * this.#words + n] as number)
    }
  }

  *of(array: number): Generator<number> {
    for (let n = 0; n < this.#words; n++) {
      let word = this.#bits[array * this.#words + n] as number
      while (word !== 0) {
        const bit = BITS - 1 - Math.clz32(word & -word)
        yield n * BITS + bit
        word &= word - 1
      }
    }
  }
}
