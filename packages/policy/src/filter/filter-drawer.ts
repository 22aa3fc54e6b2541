/**
 * Filters filed under what the values of one key can say. What is found by looking is a filter that may match; whatever a
 * drawer cannot tell apart (the end of a long prefix, the middle of a wildcard, an open bound) the filter itself decides.
 */
import { addressIn, type Condition, foldCase } from './conditions.ts'
import type { Leaf } from './filter-subject.ts'
import { RangeIndex } from './range-index.ts'

type Found = (n: number) => void
type Lists<K> = Map<K, number[]>

/** Longer prefixes are filed by so many characters: a drawer looks once for each length that it has. */
const AFFIX_LENGTH_MAX = 32

export class FilterDrawer {
  readonly path: string
  readonly #exact: Lists<string | number | boolean | null> = new Map()
  #folded: Lists<string> | undefined
  #addresses: Lists<string> | undefined
  #prefixes: Affixes | undefined
  #suffixes: Affixes | undefined
  #ranges: RangeIndex | undefined
  /** Blocks of addresses, asked where the value is an address. */
  readonly #blocks: number[] = []
  /** Asked of every value. */
  readonly #present: number[] = []
  /** Asked where there is none. */
  readonly absent: number[] = []

  constructor(path: string) {
    this.path = path
  }

  file(n: number, condition: Condition): void {
    switch (condition.op) {
      case 'string':
      case 'number':
      case 'literal':
        push(this.#exact, condition.value, n)
        break
      case 'equals-ignore-case':
        this.#folded ??= new Map()
        push(this.#folded, condition.value, n)
        break
      case 'numeric':
        this.#ranges ??= new RangeIndex()
        this.#ranges.add(n, condition.low, condition.high)
        break
      case 'cidr':
        this.#blocks.push(n)
        break
      case 'exists':
        if (condition.value) this.#present.push(n)
        else this.absent.push(n)
        break
      default:
        this.#fileByEnds(n, condition)
    }
    if (condition.op !== 'string' || condition.address === undefined) return
    this.#addresses ??= new Map()
    push(this.#addresses, condition.address, n)
  }

  find(leaf: Leaf, found: Found): void {
    const { value, text } = leaf
    for (const n of this.#present) found(n)
    this.#exact.get(value)?.forEach(found)
    // A number's spelling counts where a policy has it as a text.
    if (text !== undefined) this.#exact.get(text)?.forEach(found)
    if (typeof value === 'number') this.#ranges?.find(value, found)
    if (typeof value === 'string') this.#findText(value, leaf, found)
  }

  /** About how many filters a value that satisfies the condition brings up here. */
  cost(condition: Condition): number {
    switch (condition.op) {
      case 'string':
      case 'number':
      case 'literal':
        return 1 + (this.#exact.get(condition.value)?.length ?? 0)
      case 'equals-ignore-case':
        return 1 + (this.#folded?.get(condition.value)?.length ?? 0)
      case 'numeric':
        // Of ranges with two ends few hold a number, of those with one about half.
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

  #fileByEnds(n: number, condition: Condition): void {
    const ends = endsOf(condition)
    if (!ends) {
      this.#present.push(n)
    } else if (ends.suffix) {
      this.#suffixes ??= new Affixes(lastOf)
      this.#suffixes.add(ends.text, n)
    } else {
      this.#prefixes ??= new Affixes(firstOf)
      this.#prefixes.add(ends.text, n)
    }
  }

  #findText(value: string, leaf: Leaf, found: Found): void {
    this.#prefixes?.find(value, found)
    this.#suffixes?.find(value, found)
    if (this.#folded) this.#folded.get(foldCase(value))?.forEach(found)
    if (!this.#addresses && this.#blocks.length === 0) return
    const address = addressIn(leaf)
    if (address === undefined) return
    this.#addresses?.get(address.spelling)?.forEach(found)
    for (const n of this.#blocks) found(n)
  }
}

/** What every value of the key brings up costs so much more than what only one value does. */
const EVERY = 64

/** The text that a value must begin or end with, where case counts. */
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

  add(text: string, n: number): void {
    const filed = this.#end(text, Math.min(text.length, AFFIX_LENGTH_MAX))
    const lists = this.#byLength.get(filed.length) ?? new Map<string, number[]>()
    this.#byLength.set(filed.length, lists)
    push(lists, filed, n)
  }

  count(text: string): number {
    const filed = this.#end(text, Math.min(text.length, AFFIX_LENGTH_MAX))
    return this.#byLength.get(filed.length)?.get(filed)?.length ?? 0
  }

  find(text: string, found: Found): void {
    for (const [length, lists] of this.#byLength) {
      if (length <= text.length) lists.get(this.#end(text, length))?.forEach(found)
    }
  }
}

function push<K>(lists: Lists<K>, key: K, n: number): void {
  const list = lists.get(key)
  if (list) list.push(n)
  else lists.set(key, [n])
}
