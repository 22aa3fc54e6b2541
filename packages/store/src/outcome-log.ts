/**
 * The outcome log: why has this message not been delivered?
 *
 * A bounded stream per dispatch queue (FANTAIL_LOG_MESSAGES entries in all). Dispatch writes an entry per message and
 * slice (bitmaps by subscription slot: delivered, parked, filtered; failures), and one for all slices that filters kept
 * it back from; a lane one per delivery that ended there. What still waits is asked of its lane. Entries are written in
 * the trip that ends the work, not in its script: after a crash between the two the message is delivered and its entry
 * missing.
 *
 * A lookup reads the streams from the message's own time (its id is a UUIDv7) to their ends.
 */
import { FantailError, parseMessageId, publishedAtOf, type SubscriptionRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { outcomeLogKey } from './keys.ts'
import type { LaneStore } from './lane-api.ts'
import { type DeadState, type DeliveryWhere, deliveryId, type RetryState } from './lane-records.ts'
import {
  bits,
  type DispatchEntry,
  dispatchText,
  type Found,
  type LaneEntry,
  type LaneOutcome,
  laneText,
  mergeSlices,
  pack,
  readEntry,
  streamOf,
} from './outcome-entries.ts'
import { type FilteredEntry, filteredTexts } from './outcome-filtered.ts'
import type { Plans } from './plans.ts'
import { readScript, runScript } from './scripts.ts'

const APPEND = readScript('append-outcomes-1')

export type DeliveryState = LaneOutcome | 'waiting' | 'inFlight' | 'filtered'

export interface DeliveryOutcome {
  subscriptionId: string | null
  endpoint: string | null
  state: DeliveryState
  attempts: number
  lastStatusCode: number | null
  lastError: string | null
  nextAttemptAt: number | null
  reason: string | null
}

export interface MessageSummary {
  messageId: string
  topicArn: string
  publishedAt: number
  sizeBytes: number
  counts: {
    delivered: number
    waiting: number
    deadLettered: number
    discarded: number
    expired: number
    filtered: number
  }
}

export interface OutcomeLogOptions {
  /** Streams to read and write: the number of dispatch queues. */
  queues: number
  /** Entries kept in all streams together; 0 writes none. */
  entriesMax: number
}

const PAGE = 1_000
/** Clocks of the publisher and of Redis may differ; entries carry Redis's time. */
const CLOCK_SLACK_MS = 5_000

export class OutcomeLog {
  readonly #redis: Redis
  readonly #plans: Plans
  readonly #lanes: LaneStore
  readonly #options: OutcomeLogOptions

  constructor(redis: Redis, plans: Plans, lanes: LaneStore, options: OutcomeLogOptions) {
    this.#redis = redis
    this.#plans = plans
    this.#lanes = lanes
    this.#options = options
  }

  /** Appends entries; one script per stream. */
  async append(entries: { dispatch: (DispatchEntry | FilteredEntry)[]; lanes: LaneEntry[] }): Promise<void> {
    const { entriesMax, queues } = this.#options
    if (entriesMax === 0) return
    const kept = Math.max(1, Math.floor(entriesMax / queues))
    const streams = Array.from({ length: queues }, (): Buffer[] => [])
    for (const entry of entries.dispatch) {
      const texts = 'slices' in entry ? filteredTexts(entry) : [dispatchText(entry)]
      for (const text of texts) pack(streams, text, entry.messageId, entry.id)
    }
    for (const entry of entries.lanes) pack(streams, laneText(entry), entry.messageId)
    await Promise.all(
      streams.map(async (packed, number) => {
        if (packed.length === 0) return
        await runScript(this.#redis, APPEND, [outcomeLogKey(number)], [kept, Buffer.concat(packed)])
      }),
    )
  }

  /** null where the message has left the log, or never was. */
  async message(messageId: string): Promise<MessageSummary | null> {
    const found = await this.#find(messageId)
    const first = found?.dispatch[0]
    if (!found || !first) return null
    const counts = { delivered: 0, waiting: 0, deadLettered: 0, discarded: 0, expired: 0, filtered: 0 }
    for (const { state } of await this.#outcomes(found)) counts[state === 'inFlight' ? 'waiting' : state]++
    const { topicArn, sizeBytes } = first
    return { messageId, topicArn, publishedAt: publishedAtOf(messageId), sizeBytes, counts }
  }

  /** One row per matching subscription, and per redriven delivery; null where the message has left the log. */
  async deliveries(messageId: string): Promise<DeliveryOutcome[] | null> {
    const found = await this.#find(messageId)
    return found && found.dispatch.length > 0 ? this.#outcomes(found) : null
  }

  async #find(messageId: string): Promise<Found | null> {
    const wanted = parseMessageId(messageId)
    if (!wanted) throw new FantailError('not_found', 'no such message')
    const found: Found = { dispatch: [], lanes: [] }
    const key = outcomeLogKey(streamOf(messageId, this.#options.queues))
    let from = String(Math.max(0, publishedAtOf(messageId) - CLOCK_SLACK_MS))
    for (;;) {
      const page = (await this.#redis.xrangeBuffer(key, from, '+', 'COUNT', PAGE)) as [Buffer, Buffer[]][]
      for (const [, fields] of page)
        if (fields[1]?.equals(wanted)) readEntry(messageId, String(fields[3]), found)
      const last = page.at(-1)
      if (page.length < PAGE || !last) break
      from = `(${last[0].toString()}`
    }
    return found
  }

  async #outcomes(found: Found): Promise<DeliveryOutcome[]> {
    const bySlice = mergeSlices(found.dispatch)
    const rows = await Promise.all(
      [...bySlice.values()].map((entry) => this.#sliceOutcomes(entry, found.lanes)),
    )
    return [...rows.flat(), ...redrivenRows(found, rows.flat())]
  }

  async #sliceOutcomes(entry: DispatchEntry, lanes: LaneEntry[]): Promise<DeliveryOutcome[]> {
    if (!entry.slice) return []
    const data = await this.#plans.slice(entry.slice)
    const publishedAt = publishedAtOf(entry.messageId)
    const bySlot = new Map<number, SubscriptionRecord>()
    // A slot that was given to a later subscription says nothing about this message.
    for (const record of data?.subscriptions ?? []) {
      if (record.createdAt <= publishedAt + CLOCK_SLACK_MS) bySlot.set(record.slot, record)
    }
    const rows = [
      ...bits(entry.delivered).map((slot) => deliveredRow(bySlot.get(slot))),
      ...bits(entry.filtered).map((slot) => ({
        ...deliveredRow(bySlot.get(slot)),
        state: 'filtered' as const,
        attempts: 0,
      })),
    ]
    const parked = bits(entry.parked)
    const known = parked.flatMap((slot) => bySlot.get(slot) ?? [])
    const delivery = deliveryId(entry.messageId)
    const asked = known.map((record) => ({ subscriptionId: record.id, delivery }))
    const states = asked.length > 0 ? await this.#lanes.deliveryStates(entry.slice.shard, asked) : []
    known.forEach((record, i) => {
      const ended = lanes.find((lane) => lane.subscriptionId === record.id && lane.generation === 0)
      rows.push(parkedRow(record, states[i], ended, entry))
    })
    for (const slot of parked) if (!bySlot.has(slot)) rows.push(goneRow())
    return rows
  }
}

/** Deliveries that a redrive brought back have ended entries of their own. */
function redrivenRows({ lanes }: Found, first: DeliveryOutcome[]): DeliveryOutcome[] {
  return lanes
    .filter((entry) => entry.generation > 0)
    .map((entry) => {
      const { subscriptionId } = entry
      const endpoint = first.find((row) => row.subscriptionId === subscriptionId)?.endpoint ?? null
      return endedRow(entry, { subscriptionId, endpoint })
    })
}

function deliveredRow(record: SubscriptionRecord | undefined): DeliveryOutcome {
  return {
    subscriptionId: record?.id ?? null,
    endpoint: record?.endpoint ?? null,
    state: 'delivered',
    attempts: 1,
    lastStatusCode: null,
    lastError: null,
    nextAttemptAt: null,
    reason: null,
  }
}

function goneRow(): DeliveryOutcome {
  return { ...deliveredRow(undefined), state: 'discarded', attempts: 0, reason: 'unsubscribed' }
}

function endedRow(
  entry: LaneEntry,
  who: Pick<DeliveryOutcome, 'subscriptionId' | 'endpoint'>,
): DeliveryOutcome {
  return {
    ...who,
    state: entry.outcome,
    attempts: entry.attempts,
    lastStatusCode: entry.statusCode,
    lastError: entry.error,
    nextAttemptAt: null,
    reason: entry.reason,
  }
}

function parkedRow(
  record: SubscriptionRecord,
  where: DeliveryWhere | undefined,
  ended: LaneEntry | undefined,
  entry: DispatchEntry,
): DeliveryOutcome {
  const who = { subscriptionId: record.id, endpoint: record.endpoint }
  if (where && where.where !== 'absent') {
    const state: RetryState | DeadState | null = where.state
    const failure = entry.failures.find(([slot]) => slot === record.slot)
    return {
      ...who,
      state: where.where,
      attempts: state?.attempts ?? 0,
      lastStatusCode: state?.statusCode ?? failure?.[1] ?? null,
      lastError: state?.error ?? failure?.[2] ?? null,
      nextAttemptAt: where.dueAt,
      reason: state?.kind === 'dead' ? state.reason : null,
    }
  }
  if (ended) return endedRow(ended, who)
  // It left its lane without an entry of its own: purged, or its entry was cut off or lost.
  return { ...deliveredRow(record), ...who, state: 'discarded', attempts: 0, reason: 'unknown' }
}
