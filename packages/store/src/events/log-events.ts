/** Events of deliveries, from bundles of the outcome log. */
import type { AttemptDecision, DeliveryCause } from '@fantail/contracts'
import type { EventType } from '@fantail/contracts/schemas/events/event-schemas'
import { shownWhy, whyItEnded } from '@fantail/policy'
import { redrivesOf } from '../lanes/records/generations.ts'
import type { DispatchEntry } from '../outcomes/dispatch-entry.ts'
import { beginningsIn } from '../outcomes/outcome-bundles.ts'
import { bits, type Found, type LaneEntry, readEntry, statusCodeOf } from '../outcomes/outcome-entries.ts'
import type { SliceMoment } from '../topics/snapshots.ts'
import type { LogBundle } from './outcome-reader.ts'

/** An event as processes pass it on. Times are epoch ms. */
export interface DeliveryEvent {
  type: EventType
  at: number
  topicArn: string | null
  messageId?: string
  subscriptionId?: string | null
  subscriptionName?: string | null
  endpoint?: string | null
  attempts?: number
  path?: 'first' | 'lane'
  statusCode?: number | null
  error?: string | null
  durationMs?: number
  decision?: AttemptDecision
  nextAttemptAt?: number | null
  cause?: DeliveryCause | null
  delayMs?: number | null
  redrives?: number
  editedFrom?: string
}

/** An event, and its place among the events of its bundle. */
export interface LoggedEvent {
  entry: number
  rank: number
  event: DeliveryEvent
}

/** The subscription of a delivery, as far as it is known. */
export interface KnownSubscription {
  topicArn: string | null
  subscriptionId: string | null
  subscriptionName: string | null
  endpoint: string | null
}

/** Finds subscriptions by their bits at a moment, or by id. */
export interface SubscriptionFinder {
  byBits(slice: SliceMoment, bits: number[]): Promise<KnownSubscription[]>
  byId(id: string): Promise<KnownSubscription>
}

/**
 * Ranks of parked deliveries begin with this number, so they come after the ranks of delivered ones. No slice has so
 * many bits.
 */
const PARKED_RANK = 65_536
const UNDELAYED = shownWhy(undefined)
/** No subscription: one that is not known, or an event of a whole message. */
export const NO_SUBSCRIPTION: KnownSubscription = {
  topicArn: null,
  subscriptionId: null,
  subscriptionName: null,
  endpoint: null,
}

export async function eventsOf(bundle: LogBundle, finder: SubscriptionFinder): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = []
  for (const [entry, { messageId, text }] of bundle.entries().entries()) {
    const found: Found = { dispatch: [], lanes: [] }
    readEntry({ messageId, text, storedAt: bundle.place.ms }, found)
    for (const dispatched of found.dispatch)
      for (const one of await dispatchEvents(dispatched, finder)) events.push({ entry, ...one })
    for (const ended of found.lanes) events.push({ entry, rank: 0, event: await endOf(ended, finder) })
  }
  return events
}

export interface EventCount extends Pick<DeliveryEvent, 'type' | 'topicArn'> {
  count: number
}

/**
 * The number of a bundle's events, without looking for their subscriptions. Undefined: the bundle has ends of lanes,
 * and only their subscriptions say of which topic they are.
 */
export function countEvents(bundle: LogBundle): EventCount[] | undefined {
  const quick = countQuickly(bundle.bytes)
  if (quick) return quick
  const found: Found = { dispatch: [], lanes: [] }
  for (const entry of bundle.entries()) readEntry(entry, found)
  if (found.lanes.length > 0) return undefined
  return found.dispatch.flatMap(({ slice, topicArn, delivered, parked }): EventCount[] =>
    slice ? countsOf(topicArn, bits(delivered).length, bits(parked).length) : [],
  )
}

const countsOf = (topicArn: string, delivered: number, parked: number): EventCount[] => [
  { type: 'delivered', topicArn, count: delivered },
  { type: 'parked', topicArn, count: parked },
]

/** The beginning of an entry about a slice (outcome-entries.ts): its topic, and the bitmaps. */
const OF_SLICE = /^\["[de]","([^"\\]+)",\d+,"[^"]+","([^"]*)","([^"]*)",/
/** A longer beginning is read as a whole. */
const BEGINNING_CHARS = 400

/** Full load has a thousand entries a second, and most are alike. Undefined: the bundle has other entries. */
function countQuickly(bytes: Buffer): EventCount[] | undefined {
  const topics = new Map<string, { delivered: number; parked: number }>()
  const known = new Map<string, number>()
  const count = (bitmap: string) => {
    const before = known.get(bitmap)
    if (before !== undefined) return before
    const counted = bits(Buffer.from(bitmap, 'base64')).length
    known.set(bitmap, counted)
    return counted
  }
  for (const text of beginningsIn(bytes, BEGINNING_CHARS)) {
    const [, topicArn, delivered = '', parked = ''] = OF_SLICE.exec(text) ?? []
    if (topicArn === undefined) return undefined
    const sums = topics.get(topicArn) ?? { delivered: 0, parked: 0 }
    sums.delivered += count(delivered)
    sums.parked += count(parked)
    topics.set(topicArn, sums)
  }
  return [...topics].flatMap(([topicArn, sums]) => countsOf(topicArn, sums.delivered, sums.parked))
}

type Ranked = Omit<LoggedEvent, 'entry'>

async function dispatchEvents(entry: DispatchEntry, finder: SubscriptionFinder): Promise<Ranked[]> {
  const { slice, messageId, storedAt: at = 0, topicArn } = entry
  const delivered = bits(entry.delivered)
  const parked = bits(entry.parked)
  if (!slice || delivered.length + parked.length === 0) return []
  const found = await finder.byBits(slice, [...delivered, ...parked])
  const ends = delivered.map((bit, n): Ranked => {
    const answer = { attempts: 1, statusCode: statusCodeOf(entry, bit), error: null, redrives: 0 }
    const known = { ...found[n], topicArn }
    return { rank: bit, event: { type: 'delivered', at, messageId, ...known, ...answer, ...UNDELAYED } }
  })
  const waiting = parked.map((bit, n): Ranked => {
    const known = { ...found[delivered.length + n], topicArn }
    const failure = entry.failures.find(([failed]) => failed === bit)
    const [, statusCode = null, error = null] = failure ?? []
    const state = { attempts: failure ? 1 : 0, statusCode, error }
    return { rank: PARKED_RANK + bit, event: { type: 'parked', at, messageId, ...known, ...state } }
  })
  return [...ends, ...waiting]
}

async function endOf(entry: LaneEntry, finder: SubscriptionFinder): Promise<DeliveryEvent> {
  const { messageId, subscriptionId, generation, outcome: type, reason } = entry
  const redrives = redrivesOf(generation)
  const { attempts, statusCode, error, why, storedAt: at = 0 } = entry
  const known = subscriptionId === null ? NO_SUBSCRIPTION : await finder.byId(subscriptionId)
  const cause = shownWhy(type === 'delivered' ? why : whyItEnded(reason))
  return { type, at, messageId, ...known, attempts, statusCode, error, redrives, ...cause }
}
