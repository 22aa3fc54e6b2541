/**
 * The outcome log answers why a message has not been delivered.
 *
 * It is a bounded stream per dispatch queue (FANTAIL_LOG_MESSAGES entries in all), whose elements are bundles of
 * entries. Dispatch writes an entry per message and slice: bitmaps by subscription bit (delivered, parked, filtered),
 * and failures. A bit passes from one subscription to another, so the entry also says how many had left the slice. One
 * more entry covers all slices whose filters rejected the message. A lane writes one entry for each delivery that ended
 * there. Waiting deliveries are read from their lanes. Entries are written soon after the work has ended, not in its
 * script. After a crash between the two, the message is delivered and its entry missing.
 *
 * A look-up reads the message's stream from the message's own time (its id is a UUIDv7) to the end, then the lanes. If
 * a delivery is in no lane and has no entry, it has just ended, and its entry will come. The look-up then reads on for
 * a moment.
 */
import { FantailError, parseMessageId, publishedAtOf } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { outcomeLogKey } from '../keys/keys.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { deliveryId } from '../lanes/records/generations.ts'
import { placeOfSubscription } from '../records/subscriptions-id.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { BitHolders } from '../slices/former-subscriptions.ts'
import type { SliceRef, Snapshots } from '../topics/snapshots.ts'
import { passingTime } from '../travel/passing-clock.ts'
import { type BitFacts, bitFacts } from './bit-facts.ts'
import type { DispatchEntry } from './dispatch-entry.ts'
import { bundlesOf, existingStreams, pack, streamOf, textsIn, withRemovedLetters } from './outcome-bundles.ts'
import {
  dispatchText,
  type Found,
  type LaneEntry,
  laneText,
  type ResentEntry,
  readEntry,
  resentText,
} from './outcome-entries.ts'
import { type FilteredEntry, filteredTexts } from './outcome-filtered.ts'
import {
  backRow,
  type DeliveryOutcome,
  deliveredRow,
  directRow,
  filteredRow,
  generationOf,
  PURGED,
  parkedRow,
  redrivenRows,
  resentRow,
  UNTOLD,
  unknownRows,
  wholeRows,
} from './outcome-rows.ts'
import { CLOCK_SLACK_MS, formerSubscriber, type Subscriber, subscribersOf } from './outcome-subscribers.ts'
import { findUnsent, type Unsent, type UnsentSources } from './unsent-rows.ts'

export type { DeliveryOutcome, DeliveryState } from './outcome-rows.ts'

const APPEND = readScript('append-outcomes-1')

export interface MessageSummary {
  messageId: string
  topicArn: string
  /** The target of a direct message. Messages of topics have none. */
  target?: string
  publishedAt: number
  sizeBytes: number
  counts: {
    delivered: number
    waiting: number
    deadLettered: number
    discarded: number
    expired: number
    quarantined: number
    filtered: number
  }
}

interface OutcomeLogOptions {
  /** The number of dispatch queues. Each has a stream. */
  queues: number
  /** Entries kept in all streams together. 0: nothing is written. */
  entriesMax: number
  /** Finds messages that are in no lane. If absent, such messages are not shown. */
  unsent?: UnsentSources
}

/** Bundles of the stream that one read returns. They have about a megabyte at most. */
const BUNDLES_AT_ONCE = 250
/** Pauses of a look-up for missing entries, one before each further look. */
const LOOK_AGAIN_MS = [10, 20, 40, 80, 160, 320]
/**
 * Longest wait between two looks for the missing entry of a purged lane's delivery. Past it: the row says that it was
 * purged. Most missing deliveries of a purged lane have no entry.
 */
const PURGED_WAIT_MAX_MS = 40

/** The entries of a message that were read so far, and by stream number where to read on. */
interface Lookup extends Found {
  messageId: string
  id: Buffer
  from: Map<number, string>
}

/** Entries by subscription. A message to many subscriptions may have many. */
type LaneEntries = Map<string | null, LaneEntry[]>

type Bundles = [id: Buffer, fields: Buffer[]][]

type LaneStates = Pick<Lanes, 'deliveryStates'>
type Slices = Pick<Snapshots, 'slice' | 'former'>

export class OutcomeLog {
  readonly #redis: Redis
  readonly #snapshots: Slices
  readonly #lanes: LaneStates
  readonly #options: OutcomeLogOptions

  constructor(redis: Redis, snapshots: Slices, lanes: LaneStates, options: OutcomeLogOptions) {
    this.#redis = redis
    this.#snapshots = snapshots
    this.#lanes = lanes
    this.#options = options
  }

  /** Appends entries, with one script per stream. */
  async append(entries: {
    dispatch: (DispatchEntry | FilteredEntry)[]
    lanes: LaneEntry[]
    resent?: ResentEntry[]
  }): Promise<void> {
    const { entriesMax, queues } = this.#options
    if (entriesMax === 0) return
    const kept = Math.max(1, Math.floor(entriesMax / queues))
    const streams = Array.from({ length: queues }, (): Buffer[] => [])
    for (const entry of entries.dispatch) {
      const texts = 'runs' in entry ? filteredTexts(entry) : [dispatchText(entry)]
      for (const text of texts) pack(streams, text, entry.messageId, entry.id)
    }
    for (const entry of entries.lanes) pack(streams, laneText(entry), entry.messageId, entry.id)
    for (const entry of entries.resent ?? []) pack(streams, resentText(entry), entry.messageId)
    await Promise.all(
      streams.map(async (packed, number) => {
        if (packed.length === 0) return
        await runScript(this.#redis, APPEND, {
          stream: outcomeLogKey(number),
          keptMax: kept,
          movedMs: passingTime.offsetMs,
          bundles: bundlesOf(packed),
        })
      }),
    )
  }

  /** null: the message has left the log or never existed, and is not in the quarantine. */
  async message(messageId: string): Promise<MessageSummary | null> {
    const [found, unsent] = await Promise.all([this.#find(messageId), this.#unsent(messageId)])
    const first = found.dispatch[0] ?? unsent
    if (!first || first.topicArn === null) return null
    const none = { delivered: 0, waiting: 0, deadLettered: 0, discarded: 0, expired: 0 }
    const counts = { ...none, quarantined: 0, filtered: 0 }
    const rows = await this.#rows(found, unsent)
    for (const { state } of rows) counts[state === 'inFlight' ? 'waiting' : state]++
    const { topicArn, sizeBytes } = first
    const target = found.dispatch[0]?.target
    const published = { topicArn, ...(target !== undefined && { target }) }
    return { messageId, ...published, publishedAt: publishedAtOf(messageId), sizeBytes, counts }
  }

  /**
   * One row for each matching subscription, each redriven delivery, each entry of the quarantine, and an isolated
   * message. null: the message has left the log and is in neither.
   */
  async deliveries(messageId: string): Promise<DeliveryOutcome[] | null> {
    const [found, unsent] = await Promise.all([this.#find(messageId), this.#unsent(messageId)])
    if (!isKnown(found) && !unsent) return null
    const rows = await this.#rows(found, unsent)
    const target = found.dispatch[0]?.target
    return target === undefined ? rows : rows.map((row) => directRow(row, target))
  }

  /**
   * One row for each delivery. For a delivery in the quarantine it is the row of the quarantine, because the lane does
   * not know how the delivery ended.
   */
  async #rows(found: Lookup, unsent: Unsent | null): Promise<DeliveryOutcome[]> {
    const known = isKnown(found) ? await this.#outcomes(found) : []
    if (!unsent) return known
    const places = new Map(known.map((row) => [row.subscriptionId, row]))
    const told = new Set(unsent.rows.map(({ subscriptionId }) => subscriptionId))
    const others = known.filter(({ subscriptionId }) => subscriptionId === null || !told.has(subscriptionId))
    const rest = unsent.rows.map((row) => {
      const place = row.subscriptionId === null ? undefined : places.get(row.subscriptionId)
      return { ...row, subscriptionName: place?.subscriptionName ?? null, endpoint: place?.endpoint ?? null }
    })
    return [...others, ...rest]
  }

  async #unsent(messageId: string): Promise<Unsent | null> {
    const { unsent } = this.#options
    return unsent ? findUnsent(unsent, messageId) : null
  }

  async #find(messageId: string): Promise<Lookup> {
    const id = parseMessageId(messageId)
    if (!id) throw new FantailError('not_found', 'no such message')
    const from = String(Math.max(0, publishedAtOf(messageId) - CLOCK_SLACK_MS))
    const own = streamOf(messageId, this.#options.queues)
    const lookup: Lookup = { messageId, id, from: new Map([[own, from]]), dispatch: [], lanes: [] }
    await this.#readOn(lookup)
    if (lookup.dispatch.length > 0) return lookup
    // The message may have been published while FANTAIL_QUEUES had another value.
    for (const number of await existingStreams(this.#redis)) if (number !== own) lookup.from.set(number, from)
    if (lookup.from.size > 1) await this.#readOn(lookup)
    return lookup
  }

  /** Reads on to the ends of the look-up's streams. */
  async #readOn(lookup: Lookup): Promise<void> {
    await Promise.all([...lookup.from.keys()].map((number) => this.#readStream(lookup, number)))
  }

  async #readStream(lookup: Lookup, number: number): Promise<void> {
    const { messageId, id, from } = lookup
    for (;;) {
      const after = from.get(number) ?? '-'
      const key = outcomeLogKey(number)
      const bundles = (await this.#redis.xrangeBuffer(key, after, '+', 'COUNT', BUNDLES_AT_ONCE)) as Bundles
      for (const [bundle, [, , , entries]] of bundles)
        if (entries)
          for (const text of textsIn(entries, id))
            readEntry({ messageId, text, storedAt: storedAtOf(bundle) }, lookup)
      const last = bundles.at(-1)
      if (last) from.set(number, `(${last[0].toString()}`)
      if (bundles.length < BUNDLES_AT_ONCE) break
    }
  }

  async #outcomes(lookup: Lookup): Promise<DeliveryOutcome[]> {
    let rows = await this.#outcomesNow(lookup)
    for (const waitMs of LOOK_AGAIN_MS) {
      if (!rows.some((row) => mayBeTold(row, waitMs))) break
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      await this.#readOn(lookup)
      rows = await this.#outcomesNow(lookup)
    }
    return rows
  }

  async #outcomesNow({ dispatch, lanes: entries, resent = [] }: Found): Promise<DeliveryOutcome[]> {
    const found = { dispatch, lanes: withRemovedLetters(entries) }
    const bySlice = [...Map.groupBy(dispatch, ({ slice }) => slice?.sliceId).values()]
    const lanes = Map.groupBy(found.lanes, ({ subscriptionId }) => subscriptionId)
    const rows = await Promise.all(bySlice.map((entries) => this.#sliceOutcomes(entries, lanes)))
    const ended = [...rows.flat(), ...redrivenRows(found, rows.flat())]
    const slices = bySlice.flatMap(([first]) => first?.slice ?? [])
    return [...(await this.#withResent(ended, resent, slices)), ...wholeRows(found)]
  }

  /** A resent delivery has an entry when it was resent, and one of its end. In between it is read from its lane. */
  async #withResent(
    rows: DeliveryOutcome[],
    resent: ResentEntry[],
    slices: SliceRef[],
  ): Promise<DeliveryOutcome[]> {
    if (resent.length === 0) return rows
    const latest = new Map<string, ResentEntry>()
    for (const entry of resent) {
      if ((latest.get(entry.subscriptionId)?.generation ?? 0) < entry.generation)
        latest.set(entry.subscriptionId, entry)
    }
    const back = await Promise.all(slices.map((slice) => this.#resentIn(slice, latest)))
    const bySubscription = new Map(back.flat().map((row) => [row.subscriptionId, row]))
    const known = rows.map((row) => {
      const again = bySubscription.get(row.subscriptionId)
      bySubscription.delete(row.subscriptionId)
      return again && generationOf(again) > generationOf(row) ? again : row
    })
    return [...known, ...bySubscription.values()]
  }

  /** Rows of the slice's resent deliveries that are in their lanes. */
  async #resentIn(slice: SliceRef, latest: Map<string, ResentEntry>): Promise<DeliveryOutcome[]> {
    const data = await this.#snapshots.slice(slice)
    const asked = (data ? subscribersOf(data) : []).flatMap((subscriber) => {
      const entry = latest.get(subscriber.id)
      return entry ? [{ subscriber, entry }] : []
    })
    if (asked.length === 0) return []
    const states = await this.#lanes.deliveryStates(
      slice.shard,
      asked.map(({ entry }) => ({
        subscriptionId: entry.subscriptionId,
        delivery: deliveryId(entry.messageId, entry.generation),
      })),
    )
    return asked.flatMap(
      ({ subscriber, entry }, i) => resentRow(subscriber, states[i], entry.generation) ?? [],
    )
  }

  /** `entries`: those of one slice. */
  async #sliceOutcomes(entries: DispatchEntry[], lanes: LaneEntries): Promise<DeliveryOutcome[]> {
    const [first] = entries
    if (!first?.slice) return []
    const { slice, messageId } = first
    const all = await this.#bitFacts(slice, entries)
    const byState = Map.groupBy(all, ({ state }) => state)
    const parked = byState.get('parked') ?? []
    const known = parked.flatMap((facts) =>
      facts.subscriber ? [{ facts, subscriber: facts.subscriber }] : [],
    )
    const delivery = deliveryId(messageId)
    const asked = known.map(({ subscriber }) => ({ subscriptionId: subscriber.id, delivery }))
    const states = asked.length > 0 ? await this.#lanes.deliveryStates(slice.shard, asked) : []
    const told = new Set(all.map(({ subscriber }) => subscriber?.id))
    const rows = [
      ...(byState.get('delivered') ?? []).map(deliveredRow),
      ...(byState.get('filtered') ?? []).map(filteredRow),
      ...known.map(({ facts, subscriber }, i) => {
        const ended = firstOf(lanes.get(subscriber.id))
        return parkedRow(subscriber, { where: states[i], ended, facts }, messageId)
      }),
      ...unknownRows(parked.length - known.length, untold(lanes, slice, told)),
    ]
    const present = known.flatMap(({ subscriber }) => (subscriber.former ? [] : [subscriber]))
    return this.#withRedriven(rows, present, slice.shard, lanes)
  }

  async #bitFacts(slice: SliceRef, entries: DispatchEntry[]): Promise<BitFacts[]> {
    const data = await this.#snapshots.slice(slice)
    const present = data ? subscribersOf(data) : []
    const facts = factsBy(present, entries)
    if (facts.every(({ subscriber }) => subscriber)) return facts
    const former = await this.#snapshots.former(slice)
    return factsBy([...present, ...former.map(formerSubscriber)], entries)
  }

  /** A dead delivery may have been redriven and wait again. It has no entry about that yet. */
  async #withRedriven(
    rows: DeliveryOutcome[],
    known: Subscriber[],
    shard: number,
    lanes: LaneEntries,
  ): Promise<DeliveryOutcome[]> {
    const asked = known.flatMap((subscriber) => {
      const dead = latestOf(lanes.get(subscriber.id) ?? [])
      return dead?.outcome === 'deadLettered' ? [{ subscriber, dead }] : []
    })
    if (asked.length === 0) return rows
    const states = await this.#lanes.deliveryStates(
      shard,
      asked.map(({ subscriber, dead }) => ({
        subscriptionId: subscriber.id,
        delivery: deliveryId(dead.messageId, dead.generation + 1),
      })),
    )
    const back = new Map(
      asked.map(({ subscriber, dead }, i) => [subscriber.id, backRow(subscriber, states[i], dead)]),
    )
    return rows.map((row) => back.get(row.subscriptionId ?? '') ?? row)
  }
}

/** The id of a stream's element begins with the ms at which it was added. */
function storedAtOf(bundle: Buffer): number {
  return Number.parseInt(bundle.toString('latin1'), 10)
}

function factsBy(subscribers: Subscriber[], entries: DispatchEntry[]): BitFacts[] {
  const holders = new BitHolders(subscribers)
  return bitFacts(entries, (bit, entry) => holders.at(bit, entry.slice?.departures))
}

/** The entry of the delivery before any redrive or resend. */
function firstOf(entries: LaneEntry[] = []): LaneEntry | undefined {
  return entries.find(({ generation }) => generation === 0)
}

/** First ends at subscriptions of the slice that are not in `told`. */
function untold(
  lanes: LaneEntries,
  { sliceId }: SliceRef,
  told: ReadonlySet<string | undefined>,
): LaneEntry[] {
  return [...lanes].flatMap(([id, entries]) => {
    const isOfSlice = id !== null && !told.has(id) && placeOfSubscription(id)?.sliceId === sliceId
    return isOfSlice ? (firstOf(entries) ?? []) : []
  })
}

/** A deleted entry of the quarantine may be about a message whose topic is unknown. */
function isKnown(found: Found): boolean {
  return found.dispatch.length > 0 || wholeRows(found).length > 0
}

function latestOf(entries: LaneEntry[]): LaneEntry | undefined {
  return entries.reduce<LaneEntry | undefined>(
    (latest, entry) => (latest && latest.generation > entry.generation ? latest : entry),
    undefined,
  )
}

function mayBeTold({ reason }: DeliveryOutcome, waitMs: number): boolean {
  return reason === UNTOLD || (reason === PURGED && waitMs <= PURGED_WAIT_MAX_MS)
}
