/**
 * Which subscriptions of a slice a message is for. Only the filters that its attributes or its text can satisfy are asked
 * (FilterIndex). Subscriptions are known by their slots here, so that these can be kept where there is no room for
 * the compiled slice (filter-cache.ts).
 */
import type { Protocol, SubscriptionRecord } from '@fantail/contracts'
import {
  type CompiledFilter,
  compileFilter,
  FilterIndex,
  type FilterReason,
  type FilterSubject,
  reasonOf,
} from '@fantail/policy'
import { type SlotsText, slotsText } from '@fantail/store'
import type { MessageContext } from './message-context.ts'

export type FilterReasons = Map<FilterReason, number>

interface Filtered {
  slot: number
  filter: CompiledFilter
}

/** What a compiled filter takes in memory beside its texts, with its place in an index; measured, rounded up. */
const FILTER_BYTES = 300

export class SliceFilters {
  readonly sliceId: string
  readonly revision: string
  /** Of those that have a filter. */
  readonly slots: Buffer
  /** The same, as the outcome log has it. */
  readonly slotsText: SlotsText
  /** No subscription is without a filter: where none matches, the message is for nobody here. */
  readonly isWhole: boolean
  /** About how many bytes they take. */
  readonly weight: number
  readonly #groups: Group[]

  private constructor(data: Compiled, records: SubscriptionRecord[]) {
    this.sliceId = data.sliceId
    this.revision = data.revision
    this.slots = Buffer.alloc((Math.max(...data.filtered.map(({ slot }) => slot)) >> 3) + 1)
    for (const { slot } of data.filtered) setBit(this.slots, slot)
    this.slotsText = slotsText(this.slots)
    this.isWhole = records.every(({ filterPolicy }) => filterPolicy)
    this.weight = 1_000 + data.filtered.length * FILTER_BYTES + 2 * data.chars
    const byBody = ({ filter, slot }: Filtered) =>
      filter.scope === 'MessageBody' ? data.protocols.get(slot) : undefined
    this.#groups = [...Map.groupBy(data.filtered, byBody)].map(
      ([protocol, members]) => new Group(members, protocol),
    )
  }

  /** null where no subscription has a filter: every message is for all of them. One whose filter cannot be read is told. */
  static of(
    slice: { sliceId: string; revision: string },
    records: SubscriptionRecord[],
    onUnusable: (subscriptionId: string, error: unknown) => void,
  ): SliceFilters | null {
    const data: Compiled = { ...slice, filtered: [], protocols: new Map(), chars: 0 }
    for (const { id, slot, protocol, filterPolicy, filterPolicyScope } of records) {
      if (!filterPolicy) continue
      try {
        data.filtered.push({
          slot,
          filter: compileFilter(filterPolicy, filterPolicyScope ?? 'MessageAttributes'),
        })
        data.protocols.set(slot, protocol)
        data.chars += JSON.stringify(filterPolicy).length
      } catch (error) {
        onUnusable(id, error)
      }
    }
    return data.filtered.length > 0 ? new SliceFilters(data, records) : null
  }

  has(slot: number): boolean {
    return ((this.slots[slot >> 3] ?? 0) & (1 << (slot & 7))) !== 0
  }

  /** Slots whose filters match. */
  match(context: MessageContext): readonly number[] {
    const slots: number[] = []
    for (const group of this.#groups) group.match(context, slots)
    return slots
  }

  /** The slots of the others, by bit; not to be changed. */
  keptBack(matched: readonly number[]): Buffer {
    if (matched.length === 0) return this.slots
    const kept = Buffer.from(this.slots)
    for (const slot of matched) clearBit(kept, slot)
    return kept
  }

  /** Adds why the message is kept back from so many. */
  countReasons(context: MessageContext, matched: readonly number[], reasons: FilterReasons): void {
    for (const group of this.#groups) group.countReasons(context, matched, reasons)
  }
}

interface Compiled {
  sliceId: string
  revision: string
  filtered: Filtered[]
  /** By slot. */
  protocols: Map<number, Protocol>
  /** Of the policies' texts. */
  chars: number
}

/** Subscriptions whose filters look at the same thing: the attributes, or the text for one protocol. */
class Group {
  readonly #members: Filtered[]
  readonly #protocol: Protocol | undefined
  readonly #index: FilterIndex

  /** `protocol` undefined: attributes. */
  constructor(members: Filtered[], protocol: Protocol | undefined) {
    this.#members = members
    this.#protocol = protocol
    this.#index = new FilterIndex(members.map(({ filter }) => filter))
  }

  match(context: MessageContext, slots: number[]): void {
    this.#index.match(this.#subject(context), (n) => {
      const member = this.#members[n]
      if (member) slots.push(member.slot)
    })
  }

  /** The same for all, unless an attribute cannot be read: then it depends on who asks for that one. */
  countReasons(context: MessageContext, matched: readonly number[], reasons: FilterReasons): void {
    const subject = this.#subject(context)
    const add = (reason: FilterReason, count: number) =>
      reasons.set(reason, (reasons.get(reason) ?? 0) + count)
    if (matched.length === 0 && subject.invalid.size === 0) {
      const [first] = this.#members
      if (first) add(reasonOf(first.filter, subject), this.#members.length)
      return
    }
    const passed = new Set(matched)
    for (const { slot, filter } of this.#members) if (!passed.has(slot)) add(reasonOf(filter, subject), 1)
  }

  #subject(context: MessageContext): FilterSubject {
    return this.#protocol === undefined ? context.attributesSubject : context.bodySubject(this.#protocol)
  }
}

function setBit(bytes: Buffer, bit: number): void {
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7))
}

function clearBit(bytes: Buffer, bit: number): void {
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) & ~(1 << (bit & 7))
}
