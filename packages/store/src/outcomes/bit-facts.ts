/**
 * Reads from entries how dispatch left each delivery of a message in a slice. A job that was started again leaves
 * several entries, and a bit may have another subscription in each.
 */
import type { DispatchEntry } from './dispatch-entry.ts'
import { bits, statusCodeOf, wasPaused } from './outcome-entries.ts'
import type { Subscriber } from './outcome-subscribers.ts'

type BitState = 'delivered' | 'parked' | 'filtered'

export interface BitFacts {
  state: BitState
  /** undefined: it was deleted so long ago that nobody knows it any more. */
  subscriber: Subscriber | undefined
  /** The failure of the first attempt. undefined: it did not fail. */
  failure: { statusCode: number | null; error: string | null } | undefined
  wasPaused: boolean
  /** The status code of a delivered one. null: unknown. */
  statusCode: number | null
  /** When the log stored it, epoch ms. null: unknown. */
  storedAt: number | null
}

/**
 * A delivery that was delivered in any entry is delivered. One that was parked in any is not filtered, because the
 * filter may have changed between two starts.
 */
const BY_PRIORITY: readonly BitState[] = ['delivered', 'parked', 'filtered']

type FindSubscriber = (bit: number, entry: DispatchEntry) => Subscriber | undefined

export function bitFacts(entries: readonly DispatchEntry[], subscriberAt: FindSubscriber): BitFacts[] {
  const facts = new Map<string | number, BitFacts>()
  for (const state of BY_PRIORITY) {
    for (const entry of entries) {
      for (const bit of bits(entry[state])) {
        const subscriber = subscriberAt(bit, entry)
        const key = subscriber?.id ?? bit
        const known = facts.get(key)
        if (!known) facts.set(key, factsOf(state, entry, bit, subscriber))
        else if (known.state === state) join(known, factsOf(state, entry, bit, subscriber))
      }
    }
  }
  return [...facts.values()]
}

function factsOf(
  state: BitState,
  entry: DispatchEntry,
  bit: number,
  subscriber: Subscriber | undefined,
): BitFacts {
  const failure = entry.failures.find(([failed]) => failed === bit)
  return {
    state,
    subscriber,
    failure: failure && { statusCode: failure[1], error: failure[2] },
    wasPaused: wasPaused(entry, bit),
    statusCode: state === 'delivered' ? statusCodeOf(entry, bit) : null,
    storedAt: entry.storedAt ?? null,
  }
}

function join(facts: BitFacts, later: BitFacts): void {
  facts.failure ??= later.failure
  facts.wasPaused ||= later.wasPaused
  facts.statusCode ??= later.statusCode
  facts.storedAt ??= later.storedAt
}
