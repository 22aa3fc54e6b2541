/**
 * Finds the subscriptions of a topic whose filters match a message. A topic may have thousands of slices. The router,
 * an index over the filters of all slices, names the few slices that may match. Only these are compared with the
 * message. If a subscription changes, only its slice is removed from the index and added again.
 *
 * One match uses the filters of one moment. A later change affects only later matches.
 */
import type { Protocol } from '@fantail/contracts'
import { ANY_WORK, FilterRouter, type MatchWork, type Steps } from '@fantail/policy'
import { type BitRun, bitRuns, type SliceRef } from '@fantail/store'
import type { MessageContext } from '../messages/message-context.ts'
import type { TopicSnapshot } from './compiled-slice.ts'
import { commonReason, count, type FilterReasons, type SliceFilters } from './slice-filters.ts'

/** The result of a slice's filters. */
export interface KnownMatch {
  filters: SliceFilters
  bits: readonly number[]
}

export interface TopicMatch {
  /**
   * Slices with possible recipients. The filters of such a slice match the message or are unknown, or the slice has a
   * subscription without a filter.
   */
  toOpen: readonly { ref: SliceRef; found?: KnownMatch }[]
  /** The slices without recipients, if any. */
  rejectedSlices: RejectedSlices | undefined
}

export interface RejectedSlices {
  runs: readonly BitRun[]
  /** Numbers of slices within these runs that are opened. */
  except: readonly number[]
  reasons: FilterReasons
}

export interface Known {
  ref: SliceRef
  filters: SliceFilters
  /** When the filters were last known to be up to date, by performance.now(). */
  checkedAt: number
}

/** The combined filters of all slices whose subscriptions all have filters. */
interface Whole {
  runs: BitRun[]
  slices: number
  /** Number of subscriptions by the part of messages that their filters check. */
  sizes: Map<Protocol | undefined, number>
}

/** A slice that is opened for every message, with its filters if they are known. */
interface Open {
  ref: SliceRef
  sliceNumber: number
  filters: SliceFilters | undefined
}

type Matched = ReadonlyMap<number, Known & KnownMatch>

/**
 * Slices of a topic whose filters are compared with a message one by one. Past it: a router over all slices is built.
 * Below this number a router would not be faster.
 */
const SLICES_ASKED_MAX = 2
const NO_BITS: readonly number[] = []

export class TopicFilters {
  readonly #known = new Map<number, Known>()
  /** Routers by the part of messages that filters check. undefined while there are few slices. */
  #routers: Map<Protocol | undefined, FilterRouter> | undefined
  #weight = 0
  #whole: Whole | undefined
  #open: { snapshot: TopicSnapshot; slices: Open[] } | undefined
  /** Rises with every change of the slices or their filters. */
  #version = 0

  get known(): Iterable<Known> {
    return this.#known.values()
  }

  get(sliceNumber: number): Known | undefined {
    return this.#known.get(sliceNumber)
  }

  /** The bytes that the filters take in memory, estimated. */
  get weight(): number {
    return this.#weight
  }

  set(sliceNumber: number, known: Known): void {
    const before = this.#known.get(sliceNumber)
    if (before?.filters === known.filters) {
      before.checkedAt = known.checkedAt
      return
    }
    this.delete(sliceNumber)
    this.#known.set(sliceNumber, known)
    this.#weight += known.filters.weight
    if (this.#routers) this.#route(sliceNumber, known.filters)
    // Add this slice to the router now. If all slices were added at once later, a message would have to wait for that.
    else if (this.#known.size > SLICES_ASKED_MAX) this.#routed()
    this.#changed()
  }

  delete(sliceNumber: number): void {
    const known = this.#known.get(sliceNumber)
    if (!known) return
    this.#known.delete(sliceNumber)
    this.#weight -= known.filters.weight
    for (const { protocol, index } of known.filters.groups)
      this.#routers?.get(protocol)?.remove(sliceNumber, index)
    this.#changed()
  }

  /** Throws TooMuchWork. */
  match(snapshot: TopicSnapshot, context: MessageContext, work?: MatchWork): TopicMatch {
    const matched = this.#matched(context, work)
    const rejectedSlices = rejectedSlicesBy(this.#known, this.#wholeOf(), context, matched)
    return {
      toOpen: toOpen(this.#openOf(snapshot), matched),
      rejectedSlices: spending(rejectedSlices, work),
    }
  }

  /** Like `match`, in steps. It uses the filters of this moment, even if they change meanwhile. */
  *matchInSteps(snapshot: TopicSnapshot, context: MessageContext): Steps<TopicMatch> {
    const known = new Map(this.#known)
    const open = this.#openOf(snapshot)
    const whole = this.#wholeOf()
    const matched = new Map<number, Known & KnownMatch>()
    for (const sliceNumber of yield* this.#toAskInSteps(known, context)) {
      const asked = known.get(sliceNumber)
      if (!asked) continue
      const bits = yield* asked.filters.matchInSteps(context)
      if (bits.length > 0) matched.set(sliceNumber, { ...asked, bits })
    }
    return {
      toOpen: toOpen(open, matched),
      rejectedSlices: yield* rejectedSlicesBy(known, whole, context, matched),
    }
  }

  #matched(context: MessageContext, work: MatchWork | undefined): Matched {
    const matched = new Map<number, Known & KnownMatch>()
    const ask = (sliceNumber: number) => {
      const known = this.#known.get(sliceNumber)
      if (!known || matched.has(sliceNumber)) return
      const bits = known.filters.match(context, work)
      if (bits.length > 0) matched.set(sliceNumber, { ...known, bits })
    }
    if (this.#known.size <= SLICES_ASKED_MAX) for (const sliceNumber of this.#known.keys()) ask(sliceNumber)
    else for (const [protocol, router] of this.#routed()) router.find(context.subject(protocol), ask, work)
    return matched
  }

  /** Slices in which a filter may match. If a slice changed during the search, the result is all known slices. */
  *#toAskInSteps(known: ReadonlyMap<number, Known>, context: MessageContext): Steps<Iterable<number>> {
    if (known.size <= SLICES_ASKED_MAX) return known.keys()
    const version = this.#version
    const found = new Set<number>()
    for (const [protocol, router] of this.#routed())
      for (const sliceNumber of yield* router.findInSteps(context.subject(protocol))) found.add(sliceNumber)
    return version === this.#version ? found : known.keys()
  }

  #routed(): Map<Protocol | undefined, FilterRouter> {
    if (this.#routers) return this.#routers
    this.#routers = new Map()
    for (const [sliceNumber, { filters }] of this.#known) this.#route(sliceNumber, filters)
    return this.#routers
  }

  #route(sliceNumber: number, { groups }: SliceFilters): void {
    for (const { protocol, index } of groups) {
      const router = this.#routers?.get(protocol) ?? new FilterRouter()
      this.#routers?.set(protocol, router)
      router.add(sliceNumber, index)
    }
  }

  #openOf(snapshot: TopicSnapshot): Open[] {
    if (this.#open?.snapshot === snapshot) return this.#open.slices
    const slices = snapshot.slices.flatMap((ref) => {
      const sliceNumber = sliceNumberOf(ref.sliceId)
      const filters = this.#known.get(sliceNumber)?.filters
      return filters?.isWhole ? [] : [{ ref, sliceNumber, filters }]
    })
    this.#open = { snapshot, slices }
    return slices
  }

  #wholeOf(): Whole {
    this.#whole ??= this.#sumOfWhole()
    return this.#whole
  }

  #sumOfWhole(): Whole {
    const whole = [...this.#known].filter(([, { filters }]) => filters.isWhole).sort(([a], [b]) => a - b)
    const sizes: Whole['sizes'] = new Map()
    for (const [, { filters }] of whole) addSizes(sizes, filters, 1)
    const runs = bitRuns(
      whole.map(
        ([
          number,
          {
            filters: { bitsText, departures },
          },
        ]) => ({ number, bits: bitsText, departures }),
      ),
    )
    return { runs, slices: whole.length, sizes }
  }

  #changed(): void {
    this.#version++
    this.#whole = undefined
    this.#open = undefined
  }
}

export function sliceNumberOf(sliceId: string): number {
  return Number(sliceId.slice(sliceId.lastIndexOf('.') + 1))
}

function toOpen(open: Open[], matched: Matched): TopicMatch['toOpen'] {
  const opened: { ref: SliceRef; found?: KnownMatch }[] = []
  for (const { ref, sliceNumber, filters } of open) {
    const bits = matched.get(sliceNumber)?.bits ?? NO_BITS
    opened.push(filters ? { ref, found: { filters, bits } } : { ref })
  }
  for (const found of matched.values()) if (found.filters.isWhole) opened.push({ ref: found.ref, found })
  return opened
}

function addSizes(sizes: Whole['sizes'], { groups }: SliceFilters, times: number): void {
  for (const { protocol, size } of groups) sizes.set(protocol, (sizes.get(protocol) ?? 0) + times * size)
}

/** Takes all steps at once. Throws TooMuchWork. */
function spending<T>(steps: Steps<T>, work: MatchWork = ANY_WORK): T {
  for (let next = steps.next(); ; next = steps.next()) {
    if (next.done) return next.value
    work.spend(next.value)
  }
}

function* rejectedSlicesBy(
  known: ReadonlyMap<number, Known>,
  { runs, slices, sizes }: Whole,
  context: MessageContext,
  matched: Matched,
): Steps<RejectedSlices | undefined> {
  const except = [...matched].filter(([, { filters }]) => filters.isWhole)
  if (slices === except.length) return undefined
  return {
    runs,
    except: except.map(([sliceNumber]) => sliceNumber).sort((a, b) => a - b),
    reasons: yield* reasonsOf(known, context, sizes, except),
  }
}

/** If every attribute can be read, all filters that check the same part of the message have the same reason. */
function* reasonsOf(
  known: ReadonlyMap<number, Known>,
  context: MessageContext,
  sizes: Whole['sizes'],
  except: [number, Known][],
): Steps<FilterReasons> {
  const reasons: FilterReasons = new Map()
  const opened = new Map(sizes)
  for (const [, { filters }] of except) addSizes(opened, filters, -1)
  for (const [protocol, size] of opened) {
    const subject = context.subject(protocol)
    if (subject.invalid.size > 0) return yield* eachReason(known, context, new Set(except.map(([n]) => n)))
    count(reasons, commonReason(protocol, subject), size)
  }
  return reasons
}

function* eachReason(
  known: ReadonlyMap<number, Known>,
  context: MessageContext,
  except: ReadonlySet<number>,
): Steps<FilterReasons> {
  const reasons: FilterReasons = new Map()
  for (const [sliceNumber, { filters }] of known) {
    if (!filters.isWhole || except.has(sliceNumber)) continue
    filters.countReasons(context, [], reasons)
    yield filters.clauses
  }
  return reasons
}
