/**
 * Filters, filed under the values that one key can have. A look-up finds the filters that may match. Some of them may
 * not match after all, because the index ignores the end of a long prefix, the middle of a wildcard, and open bounds.
 * The filter itself then decides.
 */
import { addressIn, type Condition, foldedIn, type Scalar } from '../conditions/condition.ts'
import type { Leaf } from '../filter-subject.ts'
import { STEPS_AT_ONCE, type Steps } from '../match-work.ts'
import { RangeIndex } from './range-index.ts'

type Found = (n: number) => void
/** Most keys lead to one filter, so a single number needs no list. */
type Lists<K> = Map<K, number | number[]>

/**
 * Characters by which the index files a prefix or suffix. Past it: the rest is compared when asked. A longer prefix is
 * filed under its beginning of this length. A drawer makes one look-up for each length that it holds.
 */
const AFFIX_LENGTH_MAX = 32

export class FilterDrawer {
  readonly path: string
  readonly #exact: Lists<string | number | boolean | null> = new Map()
  #folded: Lists<string> | undefined
  #addresses: Lists<string> | undefined
  #prefixes: Affixes | undefined
  #suffixes: Affixes | undefined
  #ranges: RangeIndex | undefined
  /** Filters with address blocks. They are found if one of the values is an address. */
  readonly #blocks: number[] = []
  /** Filters that every value of the key may satisfy. */
  readonly #present: number[] = []
  /** Asked where there is none. */
  readonly absent: number[] = []
  #size = 0

  constructor(path: string) {
    this.path = path
  }

  get isEmpty(): boolean {
    return this.#size === 0
  }

  file(n: number, condition: Condition): void {
    this.#size++
    if (condition.op === 'numeric') {
      this.#ranges ??= new RangeIndex()
      this.#ranges.add(n, condition.low, condition.high)
      return
    }
    this.#change(condition, n, push, append)
  }

  /** Removes a filed filter. Filed ranges cannot be removed. */
  remove(n: number, condition: Condition): void {
    this.#size--
    this.#change(condition, n, pull, drop)
  }

  /** Approximate number of look-ups per value. */
  get steps(): number {
    const ends = (this.#prefixes?.lengths ?? 0) + (this.#suffixes?.lengths ?? 0)
    return 2 + 2 * ends + (this.#ranges ? RANGE_STEPS : 0) + (this.#addresses || this.#hasBlocks ? 1 : 0)
  }

  /** Calls `found` for each filter that the key's values may satisfy. It may call it several times for one filter. */
  find(leaves: readonly Leaf[], found: Found): void {
    if (leaves.length === 0) return
    for (const n of this.#present) found(n)
    for (const leaf of leaves) this.#find(leaf, found)
    if (this.#hasBlocks && leaves.some((leaf) => addressIn(leaf) !== undefined)) this.#blocks.forEach(found)
  }

  /** Like `find`, in steps. Found filters count as steps, and equal values are looked up once. */
  *findInSteps(leaves: readonly Leaf[], found: Found): Steps<void> {
    if (leaves.length === 0) return
    let steps = this.#present.length
    for (const n of this.#present) found(n)
    const counted = (n: number) => {
      steps++
      found(n)
    }
    const known = new Set<Scalar>()
    let isAddressed = false
    for (const leaf of leaves) {
      steps += this.steps
      if (!isKnown(leaf, known)) {
        this.#find(leaf, counted)
        if (this.#hasBlocks && !isAddressed && addressIn(leaf) !== undefined) {
          isAddressed = true
          this.#blocks.forEach(counted)
        }
      }
      if (steps < STEPS_AT_ONCE) continue
      yield steps
      steps = 0
    }
    yield steps
  }

  #find(leaf: Leaf, found: Found): void {
    const { value, text } = leaf
    each(this.#exact.get(value), found)
    // A policy may have the number as a text, so its spelling is looked up too.
    if (text !== undefined) each(this.#exact.get(text), found)
    if (typeof value === 'number') this.#ranges?.find(value, found)
    if (typeof value === 'string') this.#findText(value, leaf, found)
  }

  /** Approximate number of filters that are found by a value which satisfies the condition. */
  cost(condition: Condition): number {
    switch (condition.op) {
      case 'string':
      case 'number':
      case 'literal':
        return 1 + count(this.#exact.get(condition.value))
      case 'equals-ignore-case':
        return 1 + count(this.#folded?.get(condition.value))
      case 'numeric':
        // Few ranges with two ends hold a given number; about half of the ranges with one end do.
        return 4 + (this.#ranges?.size ?? 0) / (condition.low && condition.high ? 1_000 : 2)
      case 'exists':
        return condition.value ? EVERY + this.#present.length : 2 * EVERY + this.absent.length
      default: {
        const ends = endsOf(condition)
        if (ends) return 2 + ((ends.suffix ? this.#suffixes : this.#prefixes)?.count(ends.text) ?? 0)
        return EVERY + this.#present.length
      }
    }
  }

  #change(condition: Condition, n: number, inMap: ChangeMap, inList: ChangeList): void {
    switch (condition.op) {
      case 'string':
        inMap(this.#exact, condition.value, n)
        if (condition.address === undefined) break
        this.#addresses ??= new Map()
        inMap(this.#addresses, condition.address, n)
        break
      case 'number':
      case 'literal':
        inMap(this.#exact, condition.value, n)
        break
      case 'equals-ignore-case':
        this.#folded ??= new Map()
        inMap(this.#folded, condition.value, n)
        break
      case 'cidr':
        inList(this.#blocks, n)
        break
      case 'exists':
        inList(condition.value ? this.#present : this.absent, n)
        break
      default: {
        const ends = endsOf(condition)
        if (ends) this.#affixes(ends).change(ends.text, n, inMap)
        else inList(this.#present, n)
      }
    }
  }

  #affixes({ suffix }: { suffix: boolean }): Affixes {
    if (suffix) {
      this.#suffixes ??= new Affixes(lastOf)
      return this.#suffixes
    }
    this.#prefixes ??= new Affixes(firstOf)
    return this.#prefixes
  }

  #findText(value: string, leaf: Leaf, found: Found): void {
    this.#prefixes?.find(value, found)
    this.#suffixes?.find(value, found)
    if (this.#folded) each(this.#folded.get(foldedIn(leaf, value)), found)
    if (!this.#addresses) return
    const address = addressIn(leaf)
    if (address !== undefined) each(this.#addresses.get(address), found)
  }

  get #hasBlocks(): boolean {
    return this.#blocks.length > 0
  }
}

/** Steps to look into the tree of ranges. */
const RANGE_STEPS = 10

/** Relative cost of a filter that every value of the key finds, compared with one that a single value finds. */
const EVERY = 64

/** The text that a value must begin or end with, if case matters. */
function endsOf(condition: Condition): { text: string; suffix: boolean } | undefined {
  if (condition.op === 'wildcard') {
    const { pieces } = condition.pattern
    const first = pieces[0] ?? ''
    const last = pieces.at(-1) ?? ''
    if (first !== '') return { text: first, suffix: false }
    return last === '' ? undefined : { text: last, suffix: true }
  }
  if (condition.op !== 'prefix' && condition.op !== 'suffix') return undefined
  if (condition.ignoreCase || condition.value === '') return undefined
  return { text: condition.value, suffix: condition.op === 'suffix' }
}

const firstOf = (text: string, length: number) => text.slice(0, length)
const lastOf = (text: string, length: number) => text.slice(text.length - length)

class Affixes {
  readonly #byLength = new Map<number, Lists<string>>()
  readonly #end: (text: string, length: number) => string

  constructor(end: (text: string, length: number) => string) {
    this.#end = end
  }

  /** How many there are. */
  get lengths(): number {
    return this.#byLength.size
  }

  change(text: string, n: number, change: ChangeMap): void {
    const filed = this.#end(text, Math.min(text.length, AFFIX_LENGTH_MAX))
    const lists = this.#byLength.get(filed.length) ?? new Map<string, number | number[]>()
    change(lists, filed, n)
    if (lists.size > 0) this.#byLength.set(filed.length, lists)
    else this.#byLength.delete(filed.length)
  }

  count(text: string): number {
    const filed = this.#end(text, Math.min(text.length, AFFIX_LENGTH_MAX))
    return count(this.#byLength.get(filed.length)?.get(filed))
  }

  find(text: string, found: Found): void {
    for (const [length, lists] of this.#byLength) {
      if (length <= text.length) each(lists.get(this.#end(text, length)), found)
    }
  }
}

type ChangeMap = <K>(lists: Lists<K>, key: K, n: number) => void
type ChangeList = (list: number[], n: number) => void

function push<K>(lists: Lists<K>, key: K, n: number): void {
  const known = lists.get(key)
  if (known === undefined) lists.set(key, n)
  else if (typeof known === 'number') lists.set(key, [known, n])
  else known.push(n)
}

function pull<K>(lists: Lists<K>, key: K, n: number): void {
  const known = lists.get(key)
  if (typeof known !== 'object') {
    if (known === n) lists.delete(key)
    return
  }
  drop(known, n)
  if (known.length === 1) lists.set(key, known[0] as number)
}

function append(list: number[], n: number): void {
  list.push(n)
}

/** Removes `n` once if it is there. The order of the list does not matter. */
function drop(list: number[], n: number): void {
  const place = list.indexOf(n)
  if (place < 0) return
  const last = list.pop() as number
  if (place < list.length) list[place] = last
}

/** Whether the value was seen before. A number with a different spelling counts as new. */
function isKnown({ value, text }: Leaf, known: Set<Scalar>): boolean {
  if (text !== undefined) return false
  if (known.has(value)) return true
  known.add(value)
  return false
}

function each(known: number | number[] | undefined, found: Found): void {
  if (typeof known === 'number') found(known)
  else if (known !== undefined) for (const n of known) found(n)
}

function count(known: number | number[] | undefined): number {
  return typeof known === 'object' ? known.length : known === undefined ? 0 : 1
}
