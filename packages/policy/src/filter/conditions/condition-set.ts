/**
 * Checks many conditions at once, one of which must hold. Exact values are looked up. Prefixes and suffixes form a
 * tree. Ranges and address blocks are found by binary search. Only wildcards and lists of excluded patterns are checked
 * one by one.
 */
import { Affixes } from './affixes.ts'
import {
  addressIn,
  type Bound,
  type Candidate,
  type Condition,
  type Conditions,
  foldedIn,
  isSomething,
  type Scalar,
} from './condition.ts'
import { matchesWildcard, type Wildcard } from './wildcard.ts'

interface Span<K> {
  low: K
  lowInclusive: boolean
  high: K
  highInclusive: boolean
}

/**
 * Many ranges in one structure. Overlapping ranges are merged, and binary search finds the one that may contain a
 * value.
 */
class Spans<K extends number | string> {
  readonly #spans: Span<K>[] = []

  constructor(given: readonly Span<K>[]) {
    const sorted = [...given].sort((a, b) => {
      if (a.low !== b.low) return a.low < b.low ? -1 : 1
      return Number(b.lowInclusive) - Number(a.lowInclusive)
    })
    for (const span of sorted) this.#add(span)
  }

  holds(value: K): boolean {
    let from = 0
    let to = this.#spans.length
    while (from < to) {
      const middle = (from + to) >> 1
      const { low, lowInclusive } = this.#spans[middle] as Span<K>
      if (value > low || (value === low && lowInclusive)) from = middle + 1
      else to = middle
    }
    const span = this.#spans[from - 1]
    return span !== undefined && (value < span.high || (value === span.high && span.highInclusive))
  }

  /** Spans must be added in the order of their beginnings. */
  #add(span: Span<K>): void {
    const last = this.#spans.at(-1)
    const meet =
      last && (span.low < last.high || (span.low === last.high && (span.lowInclusive || last.highInclusive)))
    if (!meet) this.#spans.push({ ...span })
    else if (span.high > last.high) {
      last.high = span.high
      last.highInclusive = span.highInclusive
    } else if (span.high === last.high) last.highInclusive ||= span.highInclusive
  }
}

type Of<Op extends Condition['op']> = Extract<Condition, { op: Op }>

export class ConditionSet {
  /** Approximate number of look-ups per value. */
  readonly steps: number
  readonly #present: boolean
  readonly #values: ReadonlySet<Scalar> | undefined
  readonly #addresses: ReadonlySet<string> | undefined
  readonly #folded: ReadonlySet<string> | undefined
  readonly #prefixes: Affixes | undefined
  readonly #suffixes: Affixes | undefined
  readonly #foldedPrefixes: Affixes | undefined
  readonly #foldedSuffixes: Affixes | undefined
  /** Patterns without a star. */
  readonly #texts: ReadonlySet<string> | undefined
  /** Wildcards that are more than a prefix or a suffix. */
  readonly #wildcards: readonly Wildcard[]
  readonly #ranges: Spans<number> | undefined
  /** Address blocks by the length of their addresses. */
  readonly #blocks: ReadonlyMap<number, Spans<string>>
  /** Values that every exclusion excludes. A value that one exclusion lets through satisfies the set. */
  readonly #excludedTexts: ReadonlySet<Scalar> | undefined
  readonly #excludedNumbers: ReadonlySet<Scalar> | undefined
  readonly #excludedPatterns: readonly Conditions[]

  constructor(conditions: readonly Condition[]) {
    const of = <Op extends Condition['op']>(...ops: Op[]) =>
      conditions.filter((condition): condition is Of<Op> => (ops as string[]).includes(condition.op))
    this.#present = of('exists').some(({ value }) => value)
    this.#values = setOf<Scalar>(of('string', 'number', 'literal').map(({ value }) => value))
    this.#addresses = setOf(of('string').flatMap(({ address }) => address ?? []))
    this.#folded = setOf(of('equals-ignore-case').map(({ value }) => value))
    const patterns = Map.groupBy(
      of('wildcard').map(({ pattern }) => pattern),
      kindOf,
    )
    const [texts, starting, ending] = [patterns.get('text'), patterns.get('prefix'), patterns.get('suffix')]
    const affixes = (op: 'prefix' | 'suffix', ignoreCase: boolean) =>
      of(op).flatMap((each) => (each.ignoreCase === ignoreCase ? [each.value] : []))
    this.#texts = setOf((texts ?? []).map(({ pieces }) => pieces[0] ?? ''))
    this.#wildcards = patterns.get('wildcard') ?? []
    const prefixes = (starting ?? []).map(({ pieces }) => pieces[0] ?? '')
    const suffixes = (ending ?? []).map(({ pieces }) => pieces[1] ?? '')
    this.#prefixes = affixesOf([...affixes('prefix', false), ...prefixes], { fromEnd: false })
    this.#suffixes = affixesOf([...affixes('suffix', false), ...suffixes], { fromEnd: true })
    this.#foldedPrefixes = affixesOf(affixes('prefix', true), { fromEnd: false })
    this.#foldedSuffixes = affixesOf(affixes('suffix', true), { fromEnd: true })
    const ranges = of('numeric')
    this.#ranges = ranges.length > 0 ? new Spans(ranges.map(spanOf)) : undefined
    this.#blocks = blocksOf(of('cidr'))
    const excluded = of('anything-but').map(({ values }) => values)
    this.#excludedTexts = inAll(excluded.filter((values) => typeof firstOf(values) === 'string'))
    this.#excludedNumbers = inAll(excluded.filter((values) => typeof firstOf(values) === 'number'))
    this.#excludedPatterns = of('anything-but-any').map(({ patterns }) => patterns)
    this.steps = this.#countSteps()
  }

  holds(candidate: Candidate): boolean {
    const { value, text } = candidate
    if ((this.#present && isSomething(candidate)) || this.#values?.has(value)) return true
    if (text !== undefined && this.#values?.has(text)) return true
    if (typeof value === 'string' ? this.#holdsText(value, candidate) : this.#holdsNumber(value)) return true
    return this.#letsThrough(candidate)
  }

  #holdsNumber(value: Scalar): boolean {
    return typeof value === 'number' && this.#ranges !== undefined && this.#ranges.holds(value)
  }

  #holdsText(text: string, candidate: Candidate): boolean {
    if (this.#texts?.has(text) || this.#prefixes?.holds(text) || this.#suffixes?.holds(text)) return true
    if (this.#folded?.has(foldedIn(candidate, text))) return true
    if (this.#foldedPrefixes?.holds(foldedIn(candidate, text))) return true
    if (this.#foldedSuffixes?.holds(foldedIn(candidate, text))) return true
    for (const pattern of this.#wildcards) if (matchesWildcard(pattern, text)) return true
    if (!this.#addresses && this.#blocks.size === 0) return false
    const address = addressIn(candidate)
    if (address === undefined) return false
    return this.#addresses?.has(address) === true || this.#blocks.get(address.length)?.holds(address) === true
  }

  #letsThrough(candidate: Candidate): boolean {
    const { value, text } = candidate
    if (this.#excludedNumbers && !this.#excludedNumbers.has(value)) return true
    const texts = this.#excludedTexts
    if (texts && !texts.has(value) && !(text !== undefined && texts.has(text))) return true
    for (const patterns of this.#excludedPatterns) if (!patterns.holds(candidate)) return true
    return false
  }

  #countSteps(): number {
    const kinds = [this.#values, this.#addresses, this.#folded, this.#prefixes, this.#suffixes, this.#ranges]
    const more = [
      this.#texts,
      this.#foldedPrefixes,
      this.#foldedSuffixes,
      this.#excludedTexts,
      this.#excludedNumbers,
    ]
    const asked = [...kinds, ...more].filter((each) => each !== undefined).length
    const patterns = this.#excludedPatterns.reduce((sum, { steps }) => sum + steps, 0)
    return asked + this.#blocks.size + this.#wildcards.length + patterns
  }
}

function setOf<T>(values: T[]): ReadonlySet<T> | undefined {
  return values.length > 0 ? new Set(values) : undefined
}

function affixesOf(texts: readonly string[], reading: { fromEnd: boolean }): Affixes | undefined {
  return texts.length > 0 ? new Affixes(texts, reading) : undefined
}

function kindOf({ pieces }: Wildcard): 'text' | 'prefix' | 'suffix' | 'wildcard' {
  if (pieces.length === 1) return 'text'
  if (pieces.length > 2) return 'wildcard'
  if (pieces[1] === '') return 'prefix'
  return pieces[0] === '' ? 'suffix' : 'wildcard'
}

function spanOf({ low, high }: { low: Bound | undefined; high: Bound | undefined }): Span<number> {
  return {
    low: low?.value ?? -Infinity,
    lowInclusive: low?.inclusive ?? true,
    high: high?.value ?? Infinity,
    highInclusive: high?.inclusive ?? true,
  }
}

function blocksOf(blocks: readonly { low: string; high: string }[]): ReadonlyMap<number, Spans<string>> {
  const byLength = Map.groupBy(blocks, ({ low }) => low.length)
  const span = ({ low, high }: { low: string; high: string }) => ({
    low,
    high,
    lowInclusive: true,
    highInclusive: true,
  })
  return new Map([...byLength].map(([length, same]) => [length, new Spans(same.map(span))]))
}

function firstOf(values: ReadonlySet<Scalar>): Scalar | undefined {
  return values.values().next().value
}

/** The values that are in every set. undefined: there are no sets. */
function inAll(sets: ReadonlySet<Scalar>[]): ReadonlySet<Scalar> | undefined {
  const [first, ...others] = sets
  if (!first) return undefined
  return new Set([...first].filter((value) => others.every((other) => other.has(value))))
}
