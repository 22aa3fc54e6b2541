/**
 * Array consistency (sns-semantics §3.7): whether one leaf of each clause can be chosen so that where two of them lie under
 * the same array, they lie in the same element of it.
 *
 * Elements form a tree: an array lies in an element of the one around it. From the bottom up each element is told which
 * sets of clauses can hold within it, as bit masks: what it holds itself, with one element's set of each array in it. The
 * work grows with the number of leaves, whatever the body; trying combinations of leaves would take its square, and a
 * 256 KB array would keep a worker busy for seconds.
 */
import type { Leaf, Place } from './body-leaves.ts'

interface Node {
  /** Clauses that have a leaf right here. */
  own: number
  /** Of each array in this element: its elements that have leaves. */
  arrays: Map<object, Node[]>
}

/** `clauses`: of each the leaves that satisfy it, all of them inside arrays; few enough for a bit each. */
export function areConsistent(clauses: readonly (readonly Leaf[])[]): boolean {
  const all = 2 ** clauses.length - 1
  const root: Node = { own: 0, arrays: new Map() }
  const nodes = new Map<object, Node>()
  const nodeOf = (place: Place | undefined): Node => {
    if (!place) return root
    const known = nodes.get(place.element)
    if (known) return known
    const node: Node = { own: 0, arrays: new Map() }
    nodes.set(place.element, node)
    const { arrays } = nodeOf(place.up)
    const elements = arrays.get(place.array)
    if (elements) elements.push(node)
    else arrays.set(place.array, [node])
    return node
  }
  for (const [n, leaves] of clauses.entries()) {
    for (const { place } of leaves) {
      const node = nodeOf(place)
      node.own |= 1 << n
      if (node.own === all) return true
    }
  }
  return masksOf(root).has(all)
}

/** Every set of clauses that can hold in the element at once. Elements are nested as deep as arrays are. */
function masksOf({ own, arrays }: Node): Set<number> {
  let masks = new Set([own])
  for (const elements of arrays.values()) {
    const inside = new Set<number>()
    for (const element of elements) for (const mask of masksOf(element)) inside.add(mask)
    const joined = new Set(masks)
    for (const mask of masks) for (const other of inside) joined.add(mask | other)
    masks = joined
  }
  return masks
}
