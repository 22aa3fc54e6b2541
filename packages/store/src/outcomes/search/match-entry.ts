/** Finds the deliveries of an outcome log's entry that match a search. */
import type { SearchedSubscription } from '../../slices/former-subscriptions.ts'
import type { DispatchEntry } from '../dispatch-entry.ts'
import { bits, type Found, hasBit, type LaneEntry, statusCodeOf } from '../outcome-entries.ts'
import type { FoundEntry, SearchedState } from './found-messages.ts'

/** Absent members allow everything. */
export interface SearchFilter {
  topicArn?: string | undefined
  subscription?: SearchedSubscription | undefined
  states?: readonly SearchedState[] | undefined
  /** HTTP status that the entry has. */
  statusCode?: number | undefined
}

/** The entry's deliveries that fit. The topic of a lane's entry is unknown here, so the caller checks it. */
export function matchEntry(found: Found, filter: SearchFilter, at: number): FoundEntry[] {
  return [
    ...found.lanes.flatMap((entry) => matchEnd(entry, filter, at) ?? []),
    ...matchDispatch(found.dispatch, filter, at),
  ]
}

function matchEnd(entry: LaneEntry, filter: SearchFilter, at: number): FoundEntry | undefined {
  const { messageId, subscriptionId, outcome, statusCode } = entry
  if (filter.subscription && filter.subscription.id !== subscriptionId) return undefined
  if (filter.states && !filter.states.includes(outcome)) return undefined
  if (filter.statusCode !== undefined && filter.statusCode !== statusCode) return undefined
  const { generation, reason, attempts, error } = entry
  const end = { subscriptionId, generation, outcome, reason, attempts, statusCode, error, endedAt: at }
  return { messageId, topicArn: null, sizeBytes: null, at, counts: { [outcome]: 1 }, end }
}

/**
 * The matching deliveries of dispatch entries for one message. A long list of slices that rejected it counts as one
 * entry.
 */
function matchDispatch(entries: DispatchEntry[], filter: SearchFilter, at: number): FoundEntry[] {
  const [first] = entries
  if (!first || (filter.topicArn !== undefined && filter.topicArn !== first.topicArn)) return []
  const { messageId, topicArn, sizeBytes } = first
  const counts = { delivered: 0, parked: 0, filtered: 0 }
  for (const entry of entries) {
    for (const state of ['delivered', 'parked', 'filtered'] as const) {
      if (!filter.states || filter.states.includes(state)) counts[state] += countBits(entry, state, filter)
    }
  }
  const isFound = counts.delivered + counts.parked + counts.filtered > 0
  const asksForAll = !filter.states && filter.statusCode === undefined && !filter.subscription
  return isFound || asksForAll ? [{ messageId, topicArn, sizeBytes, at, counts }] : []
}

function countBits(
  entry: DispatchEntry,
  state: 'delivered' | 'parked' | 'filtered',
  { subscription, statusCode }: SearchFilter,
): number {
  if (!subscription) return bitsWith(entry, state, statusCode).length
  const { sliceId, bit, departures = 0, leftAs = Number.POSITIVE_INFINITY } = subscription
  if (entry.slice?.sliceId !== sliceId || !hasBit(entry[state], bit)) return 0
  // Another subscription had the bit before, or has it since.
  const moment = entry.slice.departures ?? 0
  if (moment < departures || moment >= leftAs) return 0
  return bitsWith(entry, state, statusCode).includes(bit) ? 1 : 0
}

function bitsWith(
  entry: DispatchEntry,
  state: 'delivered' | 'parked' | 'filtered',
  statusCode: number | undefined,
): number[] {
  if (statusCode === undefined) return bits(entry[state])
  if (state === 'filtered') return []
  if (state === 'parked') return entry.failures.flatMap(([bit, code]) => (code === statusCode ? [bit] : []))
  return bits(entry.delivered).filter((bit) => statusCodeOf(entry, bit) === statusCode)
}
