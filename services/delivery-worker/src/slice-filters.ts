/**
 * Which subscriptions of a slice a message is for. Only the filters that its attributes or its text can satisfy are looked at
 * (FilterIndex), and what it is not for costs one bitmap of the slice.
 */
import type { Protocol } from '@fantail/contracts'
import {
  type CompiledFilter,
  FilterIndex,
  type FilterReason,
  type FilterSubject,
  reasonOf,
} from '@fantail/policy'
import type { CompiledSubscription } from './compiled-slice.ts'
import type { MessageContext } from './message-context.ts'

export interface FilterMatch {
  matched: CompiledSubscription[]
  /** By slot, for the outcome log. */
  filtered: Buffer
  reasons: Map<FilterReason, number>
}

interface Filtered {
  subscription: CompiledSubscription
  filter: CompiledFilter
}

/** Subscriptions whose filters look at the same thing: the attributes, or the text for one protocol. */
class Group {
  readonly #members: Filtered[]
  readonly #index: FilterIndex
  readonly #slots: Buffer

  constructor(members: Filtered[], slots: number) {
    this.#members = members
    this.#index = new FilterIndex(members.map(({ filter }) => filter))
    this.#slots = Buffer.alloc((slots + 7) >> 3)
    for (const { subscription } of members) setBit(this.#slots, subscription.record.slot)
  }

  match(subject: FilterSubject, result: FilterMatch): void {
    for (let i = 0; i < this.#slots.length; i++)
      result.filtered[i] = (result.filtered[i] ?? 0) | (this.#slots[i] ?? 0)
    let matches = 0
    this.#index.match(subject, (n) => {
      const member = this.#members[n]
      if (!member) return
      matches++
      result.matched.push(member.subscription)
      clearBit(result.filtered, member.subscription.record.slot)
    })
    if (matches < this.#members.length) this.#countReasons(subject, this.#members.length - matches, result)
  }

  /** The same for all, unless an attribute cannot be read: then it depends on who asks for that one. */
  #countReasons(subject: FilterSubject, kept: number, { filtered, reasons }: FilterMatch): void {
    const add = (reason: FilterReason, count: number) =>
      reasons.set(reason, (reasons.get(reason) ?? 0) + count)
    const [first] = this.#members
    if (subject.invalid.size === 0) {
      if (first) add(reasonOf(first.filter, subject), kept)
      return
    }
    for (const { subscription, filter } of this.#members)
      if (hasBit(filtered, subscription.record.slot)) add(reasonOf(filter, subject), 1)
  }
}

export class SliceFilters {
  readonly #slots: number
  readonly #unfiltered: CompiledSubscription[]
  readonly #byAttributes: Group | undefined
  readonly #byBody: [Protocol, Group][]

  private constructor(subscriptions: CompiledSubscription[], filtered: Filtered[], slots: number) {
    this.#slots = slots
    this.#unfiltered = subscriptions.filter(({ filter }) => filter === null)
    const byAttributes = filtered.filter(({ filter }) => filter.scope === 'MessageAttributes')
    const byBody = filtered.filter(({ filter }) => filter.scope === 'MessageBody')
    this.#byAttributes = byAttributes.length > 0 ? new Group(byAttributes, slots) : undefined
    const protocolOf = ({ subscription }: Filtered) => subscription.record.protocol
    this.#byBody = [...Map.groupBy(byBody, protocolOf)].map(([protocol, members]) => [
      protocol,
      new Group(members, slots),
    ])
  }

  /** null where no subscription has a filter: every message is for all of them. */
  static of(subscriptions: CompiledSubscription[], slots: number): SliceFilters | null {
    const filtered = subscriptions.flatMap((subscription) =>
      subscription.filter ? [{ subscription, filter: subscription.filter }] : [],
    )
    return filtered.length > 0 ? new SliceFilters(subscriptions, filtered, slots) : null
  }

  match(context: MessageContext): FilterMatch {
    const filtered = Buffer.alloc((this.#slots + 7) >> 3)
    const result: FilterMatch = { matched: [...this.#unfiltered], filtered, reasons: new Map() }
    this.#byAttributes?.match(context.attributesSubject, result)
    for (const [protocol, group] of this.#byBody) group.match(context.bodySubject(protocol), result)
    return result
  }
}

function setBit(bytes: Buffer, bit: number): void {
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7))
}

function clearBit(bytes: Buffer, bit: number): void {
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) & ~(1 << (bit & 7))
}

function hasBit(bytes: Buffer, bit: number): boolean {
  return ((bytes[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0
}
