/**
 * Finds the subscriptions of a slice that a message matches. It checks only filters that the message's attributes or
 * text may satisfy (FilterIndex). Subscriptions are identified by their bits here. Filters can therefore be cached
 * without the compiled slice (filter-cache.ts).
 */
import type { Protocol, SubscriptionRecord } from '@fantail/contracts'
import {
  type CompiledFilter,
  FilterCompiler,
  FilterIndex,
  type FilterReason,
  type FilterSubject,
  inOneGo,
  isFiltered,
  type MatchWork,
  reasonOf,
  type Steps,
} from '@fantail/policy'
import { type BitsText, bitsText } from '@fantail/store'
import type { MessageContext } from '../messages/message-context.ts'

export type FilterReasons = Map<FilterReason, number>

interface Slice {
  sliceId: string
  revision: string
  departures?: number
}

interface Filtered {
  bit: number
  protocol: Protocol
  filter: CompiledFilter
}

interface Sum {
  unfiltered: number
  /** Bytes of the filters. */
  bytes: number
}

/** Bytes of a bit. They are added to the bytes of its filter. */
const BIT_BYTES = 32

export class SliceFilters {
  readonly sliceId: string
  readonly revision: string
  /** How many subscriptions the slice had lost. */
  readonly departures: number
  /** Bits of subscriptions with a filter. */
  readonly bits: Buffer
  /** The same bits in the form of the outcome log. */
  readonly bitsText: BitsText
  /** Whether every subscription has a filter. If no filter matches, the slice then has no recipient. */
  readonly isWhole: boolean
  /** Number of subscriptions without a filter. */
  readonly unfiltered: number
  /** The bytes that the filters take in memory, estimated. */
  readonly weight: number
  /** One group for each part of messages that filters check. */
  readonly groups: readonly FilterGroup[]

  private constructor(
    { sliceId, revision, departures = 0 }: Slice,
    filtered: Filtered[],
    groups: FilterGroup[],
    { unfiltered, bytes }: Sum,
  ) {
    this.sliceId = sliceId
    this.revision = revision
    this.departures = departures
    this.bits = Buffer.alloc((Math.max(...filtered.map(({ bit }) => bit)) >> 3) + 1)
    for (const { bit } of filtered) setBit(this.bits, bit)
    this.bitsText = bitsText(this.bits)
    this.unfiltered = unfiltered
    this.isWhole = unfiltered === 0
    this.weight = 1_000 + bytes + filtered.length * BIT_BYTES
    this.groups = groups
  }

  /**
   * null: no subscription has a filter, so every message is for all of them. A filter that cannot be read is reported.
   */
  static of(...given: Parameters<typeof SliceFilters.inSteps>): SliceFilters | null {
    return inOneGo(SliceFilters.inSteps(...given)).value
  }

  /** The same in steps. */
  static *inSteps(
    slice: Slice,
    records: SubscriptionRecord[],
    onUnusable: (subscriptionId: string, error: unknown) => void,
  ): Steps<SliceFilters | null> {
    const filtered: Filtered[] = []
    const compiler = new FilterCompiler()
    for (const record of records) {
      if (!isFiltered(record)) continue
      const { id, bit, protocol } = record
      try {
        const filter = yield* compiler.compile(record)
        filtered.push({ bit, protocol, filter })
      } catch (error) {
        onUnusable(id, error)
      }
    }
    if (filtered.length === 0) return null
    const unfiltered = records.filter((record) => !isFiltered(record)).length
    const groups = yield* groupsOf(filtered)
    return new SliceFilters(slice, filtered, groups, { unfiltered, bytes: compiler.bytes })
  }

  /** Number of clauses of all filters on attributes. `countReasons` may check each of them. */
  get clauses(): number {
    return this.groups.reduce((sum, group) => sum + group.clauses, 0)
  }

  has(bit: number): boolean {
    return ((this.bits[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0
  }

  /** Bits whose filters match. Throws TooMuchWork. */
  match(context: MessageContext, work?: MatchWork): readonly number[] {
    const bits: number[] = []
    for (const group of this.groups) group.match(context, bits, work)
    return bits
  }

  /** The same in steps. */
  *matchInSteps(context: MessageContext): Steps<readonly number[]> {
    const bits: number[] = []
    for (const group of this.groups) yield* group.matchInSteps(context, bits)
    return bits
  }

  /** All bits that did not match, as a bitmap. Callers must not change it. */
  filtered(matched: readonly number[]): Buffer {
    if (matched.length === 0) return this.bits
    const filtered = Buffer.from(this.bits)
    for (const bit of matched) clearBit(filtered, bit)
    return filtered
  }

  /** Adds the reasons for which filters reject the message, with the number of subscriptions for each. */
  countReasons(context: MessageContext, matched: readonly number[], reasons: FilterReasons): void {
    for (const group of this.groups) group.countReasons(context, matched, reasons)
  }
}

function* groupsOf(filtered: Filtered[]): Steps<FilterGroup[]> {
  const subject = ({ filter, protocol }: Filtered) => (filter.scope === 'MessageBody' ? protocol : undefined)
  const groups: FilterGroup[] = []
  for (const [protocol, members] of Map.groupBy(filtered, subject))
    groups.push(yield* FilterGroup.inSteps(members, protocol))
  return groups
}

/** Subscriptions whose filters check the same part of a message: the attributes, or the text for one protocol. */
class FilterGroup {
  /** undefined: attributes. */
  readonly protocol: Protocol | undefined
  readonly index: FilterIndex
  /** Number of subscriptions. */
  readonly size: number
  /** 0 if the filters check the text, because all of them then have the same reason. */
  readonly clauses: number
  /** The distinct filters, each with its bits. */
  readonly #filters: [CompiledFilter, bits: number[]][]

  private constructor(
    protocol: Protocol | undefined,
    index: FilterIndex,
    filters: [CompiledFilter, bits: number[]][],
  ) {
    this.protocol = protocol
    this.index = index
    this.#filters = filters
    this.size = filters.reduce((sum, [, bits]) => sum + bits.length, 0)
    const rules = protocol === undefined ? filters.flatMap(([filter]) => filter.rules) : []
    this.clauses = rules.reduce((sum, { length }) => sum + length, 0)
  }

  static *inSteps(members: Filtered[], protocol: Protocol | undefined): Steps<FilterGroup> {
    const byFilter = Map.groupBy(members, ({ filter }) => filter)
    const index = yield* FilterIndex.inSteps([...byFilter.keys()])
    const filters = [...byFilter].map(([filter, same]): [CompiledFilter, number[]] => [
      filter,
      same.map(({ bit }) => bit),
    ])
    return new FilterGroup(protocol, index, filters)
  }

  match(context: MessageContext, matched: number[], work?: MatchWork): void {
    const add = (n: number) => this.#add(n, matched)
    this.index.match(context.subject(this.protocol), add, work)
  }

  *matchInSteps(context: MessageContext, matched: number[]): Steps<void> {
    yield* this.index.matchInSteps(context.subject(this.protocol), (n) => this.#add(n, matched))
  }

  #add(n: number, matched: number[]): void {
    for (const bit of this.#filters[n]?.[1] ?? []) matched.push(bit)
  }

  countReasons(context: MessageContext, matched: readonly number[], reasons: FilterReasons): void {
    const subject = context.subject(this.protocol)
    if (matched.length === 0 && subject.invalid.size === 0) {
      count(reasons, commonReason(this.protocol, subject), this.size)
      return
    }
    const passed = new Set(matched)
    for (const [filter, bits] of this.#filters)
      count(reasons, reasonOf(filter, subject), bits.filter((bit) => !passed.has(bit)).length)
  }
}

/**
 * The reason for which all filters of a group reject a subject. Not to be used if an attribute cannot be read. The
 * reason then depends on whether a filter names that attribute.
 */
export function commonReason(protocol: Protocol | undefined, subject: FilterSubject): FilterReason {
  return reasonOf({ scope: protocol === undefined ? 'MessageAttributes' : 'MessageBody', rules: [] }, subject)
}

export function count(reasons: FilterReasons, reason: FilterReason, times: number): void {
  if (times > 0) reasons.set(reason, (reasons.get(reason) ?? 0) + times)
}

function setBit(bytes: Buffer, bit: number): void {
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7))
}

function clearBit(bytes: Buffer, bit: number): void {
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) & ~(1 << (bit & 7))
}
